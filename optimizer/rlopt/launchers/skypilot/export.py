"""SkyPilot 0.14.1: where the machines come from. One task per pool of GPUs; what runs there is another export's.

Names are those of ``catalogs/skypilot.yaml``; a price ceiling is per machine, as SkyPilot compares it.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any, Final

from rlopt.answers.plan import Plan, Pool
from rlopt.exporters.labels import GCP, job_tags
from rlopt.launchers.exports.contract import Blank, Export, Gap
from rlopt.launchers.exports.gaps import common_gaps
from rlopt.launchers.exports.run import Run
from rlopt.launchers.exports.text import MARK, one_line, slug, yaml_text
from rlopt.units import GIB, GIGA
from rlopt.words import AlgorithmName

NAME: Final = "skypilot"
VERSION: Final = "0.14.1"
ALGORITHMS: Final = tuple(AlgorithmName)
MARGIN: Final = 1.10
"""A machine may cost this times the plan's price: lists differ by rounding and by the day."""
LEAST_DISK_GB: Final = 50
NOTES: Final = "README-skypilot.txt"
HEAD: Final = Blank("RAY_HEAD", "the address of the first training machine, its port too")
TRAIN: Final = """\
export NODE_RANK="$SKYPILOT_NODE_RANK"
export MASTER_ADDR="$(echo "$SKYPILOT_NODE_IPS" | head -n 1)"
bash launch.sh
"""
JOIN: Final = 'ray start --address="$RAY_HEAD" --block\n'


def export(run: Run, smoke: bool) -> Export:
    """A task per pool of GPUs, a script that starts them, and what they could not say."""
    title = f"{run.request.job.name} for SkyPilot {VERSION}"
    pools = sorted((pool for pool in run.plan.pools if pool.gpus), key=lambda pool: pool is not run.trainer)
    files, found, spot = dict[str, str](), list[Gap](), dict[str, bool]()
    for pool in pools:
        task, gaps = _task(run, pool)
        name = f"sky-{slug(pool.name)}.yaml"
        if task is not None:
            files[name], spot[name] = yaml_text(f"{title}, pool {pool.name}", gaps, task, NOTES), pool.pricing == "spot"
        found += gaps
    if len(pools) > 1:
        says = f"{len(pools)} pools belong to one run"
        found.append(Gap(says, "each task is machines of one kind: join them into one Ray cluster by their addresses"))
    found += [*_alternatives(run.plan), *common_gaps(run, tagged=True)]
    if files:
        files["sky.sh"] = _start(title, spot, run)
    if smoke:
        found.append(
            Gap("--smoke", "a short trial is the trainer's: export it for the trainer too, and run smoke.sh there")
        )
    blanks = (HEAD,) if len(files) > 2 else ()
    return Export(NAME, VERSION, files, tuple(found), blanks, tuple(_checks()))


def _task(run: Run, pool: Pool) -> tuple[dict[str, Any] | None, list[Gap]]:
    gaps, names = list[Gap](), run.skypilot
    provider, gpu = names.providers.get(pool.provider), names.accelerator(pool.provider, pool.gpu or "")
    place = "/".join(part for part in (pool.provider, pool.region, pool.zone) if part)
    if provider is None:
        says = f"pool {pool.name} is at {place}, which SkyPilot does not know"
        gaps.append(
            Gap(says, f"rent {pool.nodes} x {pool.instance_type} there yourself, or add it as kubernetes or ssh")
        )
        return None, gaps
    if gpu is None:
        says = f"pool {pool.name} has {pool.gpu}, for which no name of SkyPilot is known"
        gaps.append(Gap(says, "look it up with sky show-gpus, and write resources.accelerators yourself"))
    infra = "/".join(part for part in (provider, pool.region, pool.zone) if part)
    resources: dict[str, Any] = {"infra": infra}
    if gpu is not None:
        resources["accelerators"] = f"{gpu}:{pool.gpus_per_node}"
    resources |= {
        "use_spot": pool.pricing == "spot",
        "disk_size": max(LEAST_DISK_GB, math.ceil((pool.disk_gib or 0.0) * GIB / GIGA)),
        "max_hourly_cost": math.ceil(100.0 * MARGIN * pool.usd_per_hour / pool.nodes) / 100.0,
        "labels": GCP.labels(job_tags(run.plan, run.request))[0],
    }
    if pool.nodes > 1:
        resources["network_tier"] = "best"
    if pool.pricing == "spot":
        resources["job_recovery"] = {"strategy": "FAILOVER"}
    task: dict[str, Any] = {
        "name": slug(f"{run.request.job.name}-{pool.name}"),
        "num_nodes": pool.nodes,
        "workdir": ".",
        "resources": resources,
    }
    if pool is run.trainer:
        task["run"] = TRAIN
    else:
        task |= {"envs": {HEAD.variable: ""}, "run": JOIN}
    if pool is run.trainer and pool.nodes > 1:
        says = f"launch.sh runs on each of the {pool.nodes} machines: right for trl and torchrun"
        gaps.append(
            Gap(says, "with a trainer on Ray (verl, openrlhf, nemo-rl) keep it to NODE_RANK 0, and join the others")
        )
    says = f"instance type {pool.instance_type} of pool {pool.name}"
    gaps.append(Gap(says, "SkyPilot picks a machine with these GPUs below max_hourly_cost: see which one it shows"))
    if pool.region is None:
        gaps.append(Gap(f"no region of pool {pool.name}", "SkyPilot takes one; keep checkpoints and data near it"))
    return task, gaps


def _alternatives(plan: Plan) -> list[Gap]:
    found = []
    for other in plan.alternatives:
        money = "" if other.cost is None else f" at {other.cost.total_usd:,.2f} USD"
        kinds = ", ".join(
            f"{pool.nodes} x {pool.instance_type} at {pool.provider}" for pool in other.pools if pool.gpus
        )
        found.append(Gap(f"an alternative that was proven: {kinds}{money}", "not used; export it from its own plan"))
    return found


def _start(title: str, spot: Mapping[str, bool], run: Run) -> str:
    lines = [
        "#!/usr/bin/env bash",
        f"# {MARK}: {one_line(title)}, starts every pool. {NOTES} says more.",
        "set -euo pipefail",
        'here=$(CDPATH=\'\' cd -- "$(dirname -- "$0")" && pwd -P)',
        'cd "$here"',
    ]
    for number, (name, reclaimed) in enumerate(spot.items()):
        cluster = shlex.quote(slug(f"{run.request.job.name}-{name[4:-5]}"))
        how = "sky jobs launch --name" if reclaimed else "sky launch --cluster"
        joins = "" if number == 0 else '--env RAY_HEAD="${RAY_HEAD:?the first training machine, its port too}" '
        lines.append(f'{how} {cluster} {joins}{shlex.quote(name)} "$@"')
    return "\n".join(lines) + "\n"


def _checks() -> list[str]:
    return [
        f"install: pip install skypilot=={VERSION} with the extra of your provider; sky check",
        "launch.sh of a trainer's export stands in the same folder, and setup: installs that trainer",
        "sky show-gpus lists the GPU at the place and price: names and prices are checked by nothing before the start",
        "idle machines are billed: sky autostop or sky down when the run is done",
    ]
