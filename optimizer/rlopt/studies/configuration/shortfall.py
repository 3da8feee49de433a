"""Why a configuration cannot run: which stage of which pool lacks how much of what, and what would mend it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlopt.answers.configuration import Configuration
from rlopt.answers.evaluation import Misfit, StageNeed
from rlopt.errors import InputError
from rlopt.pools.context import margin
from rlopt.pools.node.host import node_memory_gib
from rlopt.pools.sampling.engine import Engine, cache_gib, room_gib, weights_gib
from rlopt.pools.sampling.table import engines
from rlopt.pools.training.candidates import known_layouts
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Ints, Problem
from rlopt.reports import words
from rlopt.studies.configuration.fixed_problem import DEGREES, layouts
from rlopt.studies.configuration.user_machines import UserMachines
from rlopt.studies.explain.unfit import why_empty
from rlopt.words import Placement, PoolRole, StageKind

MOST_ROWS = 64
"""Training layouts beside which an engine is tried."""


def misfit(problem: Problem, config: Configuration, machines: UserMachines) -> tuple[Misfit, list[StageNeed]]:
    """Say why nothing is left of a problem that holds one configuration. Raises InputError for an unknown layout."""
    tables = [(context, table) for context, table in problem.estimates.training]  # type: ignore[attr-defined]
    if not tables:
        raise _no_layout(problem, config)
    found, memory = _training(problem, tables)
    if found is None:
        found, memory = _sampling(problem, config, machines, tables)
    if found is None:
        found = Misfit(pool="train", reason=why_empty(problem))
    return found, memory


def _no_layout(problem: Problem, config: Configuration) -> InputError:
    """The stated layout is none that is modelled: name the key, and what it may be beside the others."""
    pool = config.pool(PoolRole.TRAIN)[0] if config.pool(PoolRole.TRAIN) else config.pools[0]
    context = problem.estimates.context  # type: ignore[attr-defined]
    every, given = known_layouts(context), pool.layout
    fix = "correct it, or leave it out: the cheapest is then taken"
    if every is None:
        message = "no offer has as many machines, linked as training needs it"
        return config.wrong(pool, "gpus" if pool.gpus else "nodes", message, "fewer machines", fix)
    gpus = np.asarray(every.gpus, dtype=np.int64)
    if not len(gpus):
        message = f"{pool.gpus or pool.nodes} are more than the job has sequences to share out in a step"
        return config.wrong(pool, "gpus" if pool.gpus else "nodes", message, "fewer", "write fewer")
    for key in ("sharding", *DEGREES):
        value = getattr(given, key)
        meant = layouts(given, key)
        if value is None:
            continue
        left = every if meant is None else every.take(meant.meant(every, gpus))
        if len(left.tp):
            names = _names(left, key)
            allowed = f"with the rest as stated: {', '.join(names)}"
            return config.wrong(pool, key, f"{key} {value} is no layout of {int(gpus[0])} GPUs here", allowed, fix)
    stated = {key: getattr(given, key) for key in ("sharding", *DEGREES) if getattr(given, key) is not None}
    text = ", ".join(f"{key} {value}" for key, value in stated.items())
    message = f"{text}: no layout of {int(gpus[0])} GPUs has all of these"
    return config.wrong(pool, next(iter(stated), "gpus"), message, "degrees whose product is the GPUs", fix)


def _names(every: Any, key: str) -> list[str]:
    if key != "sharding":
        return [str(value) for value in np.unique(getattr(every, key))]
    shared = every.dp * every.cp > 1
    return [
        *(["ddp"] if not shared.all() else []),
        *(f"zero{code}" for code in np.unique(every.sharding[shared])),
    ]


def _training(problem: Problem, tables: list[tuple[Any, TrainingTable]]) -> tuple[Misfit | None, list[StageNeed]]:
    """Training alone lacks memory of the GPU, or of the host."""
    nearest, generates = problem.nearest, problem.workload.generates
    name = "train" if not generates or Placement.COLOCATED not in problem.request.placements else "main"
    if nearest is not None:
        stage, _, model = nearest.stage.partition(" ")
        reason = (
            f"{words.doing(stage, model, ())} takes {nearest.needed_gib:.1f} GiB on each {nearest.device}, of which "
            f"{nearest.capacity_gib:.1f} GiB can be used: {nearest.missing_gib:.1f} GiB are missing. The largest part "
            f"is {words.spelled(nearest.part)} with {nearest.part_gib:.1f} GiB"
        )
        memory = StageNeed(
            pool=name,
            stage=nearest.stage,
            needed_gib=nearest.needed_gib,
            capacity_gib=nearest.capacity_gib,
            parts={nearest.part: nearest.part_gib},
        )
        found = Misfit(
            pool=name,
            reason=reason,
            stage=nearest.stage,
            part=nearest.part,
            part_gib=nearest.part_gib,
            needed_gib=nearest.needed_gib,
            capacity_gib=nearest.capacity_gib,
            missing_gib=nearest.missing_gib,
        )
        return found, [memory]
    if len(problem.training) or len(problem.colocated):
        return None, []
    needs = [float(table.host_gib.min()) for _, table in tables if len(table)]
    have = float(np.nanmax(node_memory_gib(problem.market), initial=0.0))
    if needs and min(needs) > have:
        reason = f"what is offloaded takes {min(needs):,.0f} GiB of each machine's host memory, and " + (
            f"{have:,.0f} GiB are there" if have else "how much there is is not known"
        )
        return Misfit(pool=name, reason=reason, needed_gib=min(needs), capacity_gib=have, part="host memory"), []
    return None, []


def _kinds(problem: Problem, config: Configuration, machines: UserMachines) -> Ints:
    """Kinds of machines that the rollout pools may stand on."""
    pairs = zip(config.pools, machines.ids, strict=True)
    meant = frozenset[str]().union(*(ids for pool, ids in pairs if pool.role == PoolRole.SAMPLE))
    market = problem.market
    return np.unique([market.topology[n] for n, offer in enumerate(market.offers) if offer.id in meant])


def _sampling(
    problem: Problem, config: Configuration, machines: UserMachines, tables: list[tuple[Any, TrainingTable]]
) -> tuple[Misfit | None, list[StageNeed]]:
    """The engine has no room for its weights and one sequence, alone or beside what training keeps."""
    if not problem.workload.generates or len(problem.rollout) or len(problem.colocated):
        return None, []
    beside, best = not config.pool(PoolRole.SAMPLE), None
    for context, table in tables:
        rows = range(min(len(table), MOST_ROWS)) if beside else _kinds(problem, config, machines)
        for row in rows:
            kind = int(table.topology[row]) if beside else row
            topology = context.market.topologies[kind]
            gpus = topology.gpus_per_node * (int(table.nodes[row]) if beside else 1)
            resident = table.resident_gib[row : row + 1] if beside else 0.0
            for tp, ep in engines(context, topology.gpus_per_node, topology.cluster, gpus):
                for precision in context.request.choices.precision.rollout:
                    hardware = context.hardware.take(np.array([kind]))
                    engine = Engine(
                        hardware, np.array([tp]), np.array([ep]), np.array([gpus]), precision, resident, beside
                    )
                    short = float((cache_gib(context, engine, np.ones(1)) - room_gib(context, engine))[0])
                    parts = {
                        "weights": float(weights_gib(context, engine)[0]),
                        "optimizer": float(np.sum(resident)),
                        "kv_cache": float(cache_gib(context, engine, np.ones(1))[0]),
                    }
                    if best is None or short < best[0]:
                        usable = float(hardware.memory_gib[0]) * (1.0 - margin(context))
                        best = (short, topology.device, parts, usable)
    if best is None or best[0] <= 0.0:
        return None, []
    short, device, parts, memory = best
    kept = f" and {parts['optimizer']:.1f} GiB of training state that stays" if beside else ""
    reason = (
        f"generating takes {parts['weights']:.1f} GiB of weights{kept} on each {device}, which leaves {short:.1f} GiB "
        f"too little for the cache of one sequence ({parts['kv_cache']:.1f} GiB)"
    )
    part = max(parts, key=parts.__getitem__)
    pool = "main" if beside else "rollout"
    shown = StageNeed(pool=pool, stage=StageKind.SAMPLE, needed_gib=memory + short, capacity_gib=memory, parts=parts)
    found = Misfit(
        pool=pool,
        reason=reason,
        stage=StageKind.SAMPLE,
        part=part,
        part_gib=parts[part],
        missing_gib=short,
        needed_gib=memory + short,
        capacity_gib=memory,
    )
    return found, [shown]
