"""Write docs/savings.md: each example's plan beside the configurations that were published for its job.

``python -m lab savings`` plans every example, prices each published configuration under the same model and prices,
writes what was found to measurements/published_runs.csv, and then the page. ``--page`` writes the page alone,
``--check`` compares it with what the file says and writes nothing.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from lab import MEASUREMENTS, ROOT, pages
from lab.savings import page as savings_page
from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.errors import NotSupportedError
from rlopt.measured.names import find_machine
from rlopt.measured.rows import MeasuredRow, read_table
from rlopt.problem import Problem
from rlopt.studies.cheapest import cheapest
from rlopt.studies.configuration.published import Published, PublishedComparison, PublishedMachine, compare

BASELINES = ROOT / "tests" / "data" / "baselines.csv"
EXAMPLES = ROOT / "examples" / "requests"
FOUND = MEASUREMENTS / "published_runs.csv"
PAGE = ROOT / "docs" / "savings.md"
PLAN_COLUMNS = ("usd", "hours", "gpu_usd", "what")
COLUMNS = (
    "id",
    "row",
    "match",
    "run",
    "price",
    "published_hours",
    "hours_are",
    "gpu_hours",
    "real_usd",
    "printed_usd",
    "trials",
    "reason",
    "lifted",
    "freed",
    "assumed",
    "differs",
    *(f"{who}_{column}" for who in ("plan", "configuration", "unlimited") for column in PLAN_COLUMNS),
    "inputs",
)
BACKENDS = {"fsdp": 3, "megatron": 1}
"""ZeRO stage that a training engine implies."""


def rows() -> list[MeasuredRow]:
    """The published configurations."""
    return list(read_table(BASELINES).rows)


def inputs(name: str) -> str:
    """Fingerprint of what a row's numbers rest on and does not change with the code: its request and its runs."""
    digest = hashlib.sha256((EXAMPLES / f"{name}.yaml").read_bytes())
    for row in rows():
        if row.id == name:
            digest.update(repr(sorted(row.cells.items())).encode())
    return digest.hexdigest()[:12]


def published(row: MeasuredRow) -> list[Published] | str:
    """The configuration of a row, once for each GPU type that it may have been, or what the row lacks."""
    catalog = api.catalog()
    if not row.has("gpu"):
        return "the GPU type is not stated"
    if row.number("gpus") is None:
        return "the number of GPUs is not stated"
    gpus = int(row.number("gpus") or 0)
    placement = row.text("placement") or None
    apart = placement == "disaggregated"
    if apart and row.number("gpus_train"):
        pools = int(row.number("gpus_train") or 0) + int(row.number("gpus_gen") or 0)
        if pools != gpus:
            return "its GPUs are divided in a way that no plan here is"
    engine = row.text("train_backend").lower()
    run = Published(
        device="",
        gpus=gpus,
        placement="async" if apart and row.text("mode") == "async" else placement,
        training_gpus=_whole(row, "gpus_train") if apart else None,
        degrees={name: degree for name in ("tp", "pp", "cp", "ep") if (degree := _whole(row, f"train_{name}"))},
        sharding=next((stage for name, stage in BACKENDS.items() if engine.startswith(name)), None),
        offload=next((name for name in ("parameters", "optimizer") if name in row.text("offload")), None),
        rollout_tp=_whole(row, "gen_tp"),
        update_precision=row.text("train_precision") or None,
        rollout_precision=row.text("rollout_precision") or None,
        group_size=_whole(row, "k"),
        provider=row.text("price_provider") or None,
    )
    runs = []
    for spelled in row.text("gpu").split(" or "):
        found = find_machine(MeasuredRow(row.line, {"gpu": spelled}), catalog)
        if isinstance(found, str):
            return found
        machine = PublishedMachine(found.gpus_per_node, found.intra, found.node_gbps)
        runs.append(replace(run, device=found.device.name, machine=machine))
    return runs


def _whole(row: MeasuredRow, column: str) -> int | None:
    number = row.number(column)
    return None if number is None else int(number)


@lru_cache(maxsize=32)
def planned(name: str) -> tuple[Problem, Plan] | str:
    """An example's problem and plan, or why it has none in this release."""
    try:
        problem = api.problem_of(api.load(EXAMPLES / f"{name}.yaml"))
        return problem, cheapest(problem)
    except NotSupportedError as error:
        return str(error)


def compared(row: MeasuredRow) -> dict[str, str]:
    """One line of the file: a published run beside the plan."""
    cells = printed(row)
    found = planned(row.id)
    if isinstance(found, str):
        return cells | {"reason": found}
    problem, plan = found
    cells |= _numbers("plan", plan) | _real(row, problem)
    runs = published(row)
    if isinstance(runs, str):
        return cells | {"reason": runs}
    problem, rate = with_rate(problem, row.text("currency"))
    cells |= _real(row, problem)
    result = min((compare(problem, run, plan) for run in runs), key=_usd)
    if rate:
        result = replace(result, assumed=(*result.assumed, rate))
    return cells | _compared(result) | {"differs": _differs(runs[0], problem)}


def _usd(result: PublishedComparison) -> float:
    plan = result.configuration
    return plan.cost.total_usd if plan is not None and plan.cost is not None else math.inf


def with_rate(problem: Problem, currency: str) -> tuple[Problem, str]:
    """The problem with a rate for a price's currency where its own request gives none: another example's, named."""
    if not currency or problem.request.costs.usd_per_unit(currency) is not None:
        return problem, ""
    for path in sorted(EXAMPLES.glob("*.yaml")):
        rates = api.load(path).costs.exchange_rates
        if currency in rates:
            request = problem.request.replaced("costs.exchange_rates", rates)
            return api.problem_of(
                request
            ), f"{currency} at {rates[currency]}, the rate that example {path.stem[:2]} states"
    return problem, ""


def printed(row: MeasuredRow) -> dict[str, str]:
    """What a row says of its run, in the file's columns."""
    gpus = row.text("gpus")
    parts = [f"{gpus} × {row.text('gpu') or 'GPU not stated'}" if gpus else "machines not stated"]
    placement, framework = row.text("placement"), row.text("framework")
    split = f" {row.text('gpus_train')} + {row.text('gpus_gen')}" if placement == "disaggregated" else ""
    parts += [f"{'async' if row.text('mode') == 'async' else placement}{split}"] if placement else []
    parts += [row.text("train_precision")] if row.text("train_precision") == "fp8" else []
    hours, step = row.text("published_hours"), row.text("derived_hours_for_scenario")
    kind = "printed" if hours else "step time × steps" if step else ""
    if "upper bound" in row.text("notes"):
        kind = "upper bound"
    price = row.text("price_per_gpu_hour")
    return dict.fromkeys(COLUMNS, "") | {
        "id": row.id,
        "row": row.text("source_row"),
        "match": row.text("match"),
        "run": ", ".join([*parts, framework]),
        "price": f"{price} {row.text('currency')} ({row.text('price_provider')})" if price else "",
        "published_hours": hours or step,
        "hours_are": kind,
        "gpu_hours": row.text("published_gpu_hours") or row.text("derived_gpu_hours_for_scenario"),
        "printed_usd": row.text("published_cost"),
        "inputs": inputs(row.id),
    }


def _real(row: MeasuredRow, problem: Problem) -> dict[str, str]:
    """What the run's GPU-hours cost at the row's price, all trials of the request."""
    costs, trials = problem.request.costs, problem.request.job.trials
    hours = row.number("published_gpu_hours") or row.number("derived_gpu_hours_for_scenario")
    price, rate = row.number("price_per_gpu_hour"), costs.usd_per_unit(row.text("currency") or "USD")
    known = hours is not None and price is not None and rate is not None
    real = f"{hours * price * rate * trials:.2f}" if known and hours and price and rate else ""
    return {"real_usd": real, "trials": f"{trials:g}"}


def _numbers(who: str, plan: Plan | None) -> dict[str, str]:
    if plan is None:
        return {}
    if plan.cost is None or plan.time is None:
        return {f"{who}_what": "no plan"}
    gpu_pools = {f"pool {pool.name}" for pool in plan.pools if pool.gpus}
    gpu_pools |= {f"commitment {pool.name}" for pool in plan.pools if pool.gpus}
    rent = sum(line.usd for line in plan.cost.lines if line.dimension == "compute" and line.item in gpu_pools)
    what = " + ".join(f"{pool.gpus} × {pool.gpu} {pool.pricing} ({pool.provider})" for pool in plan.pools if pool.gpus)
    placement = f", {plan.decisions.placement}" if plan.decisions and len(plan.pools) > 1 else ""
    return {
        f"{who}_usd": f"{plan.cost.total_usd:.2f}",
        f"{who}_hours": f"{plan.time.expected_hours:.3f}",
        f"{who}_gpu_usd": f"{rent:.2f}",
        f"{who}_what": what.replace("on_demand", "on demand") + placement,
    }


def _compared(result: PublishedComparison) -> dict[str, str]:
    return {
        "reason": result.reason,
        "lifted": "; ".join(result.lifted),
        "freed": "; ".join(result.freed),
        "assumed": "; ".join(result.assumed),
        **_numbers("configuration", result.configuration),
        **_numbers("unlimited", result.unlimited),
    }


def _differs(run: Published, problem: Problem) -> str:
    sizes = problem.request.group_sizes
    if run.group_size is None or not problem.request.job.generates or run.group_size in sizes:
        return ""
    return f"K {run.group_size} was run, the example's {' or '.join(map(str, sizes))} is priced"


def found_csv(chosen: Iterable[MeasuredRow] | None = None) -> str:
    """Every row compared, as CSV."""
    return pages.as_csv(COLUMNS, map(compared, rows() if chosen is None else chosen))


def found_rows() -> list[Mapping[str, str]]:
    """The lines of the checked-in file."""
    return pages.read(FOUND)


def page() -> str:
    """Build the page from the checked-in file."""
    return savings_page.page(found_rows())


def main(arguments: list[str]) -> int:
    """Write both, the page, or nothing, as asked."""
    return pages.Page("savings", FOUND, PAGE, found_csv, page).run(arguments)
