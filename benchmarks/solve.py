"""Time and memory of whole solves and frontiers, start-up included, on the shipped catalog and a larger one.

    python benchmarks/solve.py                 every case, a table
    python benchmarks/solve.py --one 8b --task solve --times 10

Each case runs in a process of its own. Ten times = nine copies of every offer under new providers, with log-normal
prices around the original's. Targets: solve 5 s, frontier of 20 points 15 s, infeasible 15 s, 1 GiB, ten times the
catalog at most three times the time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CASES = {
    "8b": HERE / "requests" / "8b.yaml",
    "8b-share-quotas": HERE / "requests" / "8b-share-quotas.yaml",
    "30b-a3b": HERE / "requests" / "30b-a3b.yaml",
    "671b": HERE / "requests" / "671b.yaml",
    "infeasible-deadline": HERE.parent / "examples" / "requests" / "15-grpo-deepseek-v3-infeasible-deadline.yaml",
    "infeasible-memory": HERE.parent / "examples" / "requests" / "16-grpo-qwen3-235b-infeasible-memory.yaml",
    "infeasible-budget": HERE.parent / "examples" / "requests" / "17-grpo-qwen2.5-32b-k-floor-against-budget.yaml",
}


def larger(times: int) -> Any:
    """The shipped catalog with ``times - 1`` copies of every offer under new providers, prices log-normal."""
    import numpy as np

    from rlopt.facts.files.folder import load_catalog

    catalog, random = load_catalog(), np.random.default_rng(7)
    offers = list(catalog.offers)
    for copy in range(1, times):
        factors = np.exp(random.normal(0.0, 0.25, len(catalog.offers)))
        for offer, factor in zip(catalog.offers, factors, strict=True):
            provider = f"{offer.provider}-{copy}"
            offers.append(
                replace(
                    offer,
                    id=f"{provider}/{offer.id}",
                    provider=provider,
                    shape=replace(offer.shape, provider=provider),
                    price_per_hour=offer.price_per_hour * factor,
                    price_low=offer.price_low * factor,
                    price_high=offer.price_high * factor,
                )
            )
    return replace(catalog, offers=tuple(offers))


def one(name: str, task: str, times: int) -> dict[str, Any]:
    """Run one case in this process and measure it."""
    started = time.perf_counter()
    from rlopt import api

    request = api.load(CASES[name])
    facts = larger(times) if times > 1 else api.catalog()
    ready = time.perf_counter()
    if task == "solve":
        plan = api.solve(request, facts=facts)
        answer = {
            "status": plan.status,
            "usd": plan.cost.total_usd if plan.cost else None,
            "candidates": plan.solver.candidates,
            "columns": plan.solver.columns,
            "solver_s": plan.solver.seconds,
            "root_gap": plan.solver.root_gap,
        }
    else:
        curve = api.frontier(request, points=20, facts=facts)
        answer = {
            "status": "frontier",
            "points": len(curve.points),
            "candidates": curve.points[0].solver.candidates if curve.points else 0,
            "columns": len(curve.points),
            "solver_s": sum(point.solver.seconds for point in curve.points),
        }
    ended = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {
        "case": name,
        "task": task,
        "times": times,
        "work_s": ended - ready,
        "start_s": ready - started,
        "cpu_s": time.process_time(),
        "peak_mib": peak,
        **answer,
    }


def measure(name: str, task: str, times: int) -> dict[str, Any]:
    """Run one case in a fresh process; ``wall_s`` includes the interpreter's start."""
    started = time.perf_counter()
    command = [sys.executable, __file__, "--one", name, "--task", task, "--times", str(times)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {**json.loads(output), "wall_s": time.perf_counter() - started}


def main() -> None:
    """Measure everything, or one case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", choices=CASES)
    parser.add_argument("--task", choices=("solve", "frontier"), default="solve")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one, options.task, options.times)))
        return
    print("| case | task | catalog | wall s | of it start | peak MiB | candidates/s | columns | solver share |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in CASES:
        for task in ("solve",) if name.startswith("infeasible") else ("solve", "frontier"):
            for times in (1,) if name.startswith("infeasible") else (1, 10):
                row = measure(name, task, times)
                rate, share = row["candidates"] / row["work_s"], row["solver_s"] / row["work_s"]
                cells = (
                    name,
                    task,
                    f"{times}x",
                    f"{row['wall_s']:.2f}",
                    f"{row['start_s']:.2f}",
                    f"{row['peak_mib']:.0f}",
                    f"{rate:,.0f}",
                    str(row["columns"]),
                    f"{share:.1%}",
                )
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
