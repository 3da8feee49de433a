"""From a configuration to the problem that has it alone: stated things are held, all others stay free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.configuration import Configuration, LayoutGiven, PoolGiven
from rlopt.assembly import decisions as decided
from rlopt.errors import NotSupportedError
from rlopt.problem import Pools, Problem
from rlopt.problem.fixed import Fixed, FixedSizes, StatedLayout
from rlopt.rules import Rule
from rlopt.search.exhaustive import opened
from rlopt.studies.configuration.user_machines import UserMachines
from rlopt.words import PoolRole, Recompute, Sharding
from rlopt.workloads.variants import Variant

DEGREES = ("tp", "pp", "vp", "dp", "cp", "ep", "etp", "micro_batch")


def gpus_of(pool: PoolGiven, catalog_gpus: Mapping[str, int], ids: frozenset[str]) -> tuple[int, ...]:
    """GPUs that a pool may have; () where neither they nor its machines are counted."""
    if pool.gpus is not None:
        return (pool.gpus,)
    if pool.nodes is None:
        return ()
    return tuple(sorted({pool.nodes * catalog_gpus[name] for name in ids}))


def held(config: Configuration, machines: UserMachines) -> Fixed:
    """What alone is estimated of the configuration."""
    each = {one.id: one.gpus for one in (*machines.catalog.offers, *machines.catalog.zone_offers)}
    sizes: dict[str, tuple[int, ...]] = {}
    for pool, ids in zip(config.pools, machines.ids, strict=True):
        found = gpus_of(pool, each, ids)
        before = sizes.get(str(pool.role))
        sizes[str(pool.role)] = () if not found or before == () else tuple(sorted({*found, *(before or ())}))
    trained, scored = config.pool(PoolRole.TRAIN), config.pool(PoolRole.SCORE)
    layout = trained[0].layout if trained else LayoutGiven()
    engines = [(pool.layout.tp, pool.layout.ep) for pool in config.pool(PoolRole.SAMPLE)]
    if not engines:
        engines = [(layout.rollout_tp, layout.rollout_ep)]
    loose = any(engine == (None, None) for engine in engines)
    only = FixedSizes(
        training_gpus=sizes.get("train", ()),
        sampling_gpus=sizes.get("rollout", ()),
        scoring_gpus=sizes.get("score", ()),
        layouts=layouts(layout),
        scorers=layouts(scored[0].layout, "sharding") if len(scored) == 1 else None,
        recompute=None if layout.recompute is None else Recompute(layout.recompute).code,
        engines=() if loose else tuple(engines),
    )
    return Fixed(only)


def layouts(given: LayoutGiven, without: str = "") -> StatedLayout | None:
    """What is stated of a layout, one key left out of the comparison; None where nothing is."""
    stated = {name: getattr(given, name) for name in DEGREES if name != without and getattr(given, name) is not None}
    sharding = None if without == "sharding" else given.sharding
    if not stated and sharding is None:
        return None
    return StatedLayout(stated, None if sharding is None else Sharding(sharding).code)


def narrowed(problem: Problem, config: Configuration, machines: UserMachines) -> Problem:
    """The problem with the pools of the configuration alone, and what was decided beside them."""
    if config.decisions.load is not None:  # a way to load that another beats may be the stated one
        problem = opened(problem)
    ways = _variants(problem, config)

    def kept(pools: Pools, role: str) -> Pools:
        return _pools(pools, problem, config, machines, role, ways)

    return replace(
        problem,
        training=kept(problem.training, PoolRole.TRAIN),
        colocated=kept(problem.colocated, PoolRole.TRAIN),
        rollout=kept(problem.rollout, PoolRole.SAMPLE),
        scoring=kept(problem.scoring, PoolRole.SCORE),
        bare=None,
        intervals=_intervals(problem, config),
        recovery_options=_recovery_options(problem, config),
    )


def _variants(problem: Problem, config: Configuration) -> tuple[int, ...]:
    """Numbers of the ways to run the job that are the stated one."""
    stated = config.decisions.ways

    def told(variant: Variant) -> dict[str, Any]:
        return {
            "models": variant.models,
            "kernels": decided.kernels(variant, problem.request.job),
            "data": decided.data(variant, problem.request.job),
            "scoring": variant.scored_on,
            "action_head": variant.action_head,
        }

    own = bool(config.pool(PoolRole.SCORE))
    fine = [n for n, one in enumerate(problem.variants) if bool(one.own) == own or not config.pool(PoolRole.SAMPLE)]
    found = [n for n in fine if all(told(problem.variants[n])[key] == value for key, value in stated.items())]
    if found:
        return tuple(found)
    for key, value in stated.items():
        known = [told(problem.variants[n])[key] for n in fine]
        if value not in known:
            some = ", ".join(dict.fromkeys(str(one) for one in known))
            raise config.wrong(None, key, f"{value} is no way to run this job", some, f"delete {key}")
    what = "no model of this job may score on a pool of its own" if own else "these decisions do not go together"
    raise config.wrong(
        None, "scoring", what, "the choices of the request", "delete the pool, or correct choices.scoring"
    )


def _pools(
    pools: Pools, problem: Problem, config: Configuration, machines: UserMachines, role: str, ways: tuple[int, ...]
) -> Pools:
    """The rows of a table that are a pool of the configuration."""
    offers, kept = problem.market.offers, np.zeros(len(pools), dtype=np.bool_)
    for pool, ids in zip(config.pools, machines.ids, strict=True):
        if pool.role != role:
            continue
        fine = np.array([one.id in ids and pool.zone in (None, one.zone) for one in offers], dtype=np.bool_)
        mine = fine[pools.offer] if len(offers) else kept
        if pool.gpus is not None:
            mine = mine & (pools.gpus == pool.gpus)
        if pool.nodes is not None:
            mine = mine & (pools.nodes == pool.nodes)
        kept |= mine
    if role == PoolRole.SAMPLE:
        kept &= np.isin(pools.variant, sorted({problem.variants[n].sampler for n in ways}))
        kept &= _of_instances(pools, problem, config)
    else:
        kept &= np.isin(pools.variant, ways)
    if role == PoolRole.TRAIN:
        kept &= _of_load(pools, problem, config)
        if pools is problem.colocated and problem.workload.generates:
            kept &= _of_instances(pools, problem, config)
    return pools.take(kept)


def _of_instances(pools: Pools, problem: Problem, config: Configuration) -> NDArray[np.bool_]:
    stated, known = config.decisions.instances, problem.workload.instances
    if stated is None or not known:
        return np.ones(len(pools), dtype=np.bool_)
    if stated not in known:
        some = ", ".join(map(str, known))
        raise config.wrong(None, "environment", f"{stated} copies are not among those to choose from", some, "name one")
    return np.asarray(pools.environment == known.index(stated))


def _of_load(pools: Pools, problem: Problem, config: Configuration) -> NDArray[np.bool_]:
    """Rows that read their samples as stated."""
    stated, table = config.decisions.load, problem.loading
    if stated is None or table is None:
        return np.ones(len(pools), dtype=np.bool_)
    fine = np.zeros(len(table), dtype=np.bool_)
    for option in range(len(table)):
        read, prepared = table.split(option)
        fine[option] = stated.get("store") in (None, table.reads[read].store)
        fine[option] &= stated.get("vcpus") in (None, table.vcpus[prepared])
        speed = stated.get("mb_s")
        fine[option] &= (
            not speed or abs(table.reads[read].mb_s - speed) < 1e-6 * speed or table.reads[read].mb_s <= speed
        )
    return np.asarray(fine[pools.load])


def _intervals(problem: Problem, config: Configuration) -> Mapping[tuple[int, int], tuple[int, ...]]:
    stated = config.decisions.interval_steps
    if stated is None:
        return problem.intervals
    every = problem.request.floors.checkpoints.history_every
    most = max(grid[-1] for grid in problem.intervals.values())
    if every is not None and every % stated and every <= most:
        fine = ", ".join(str(d) for d in range(1, every + 1) if every % d == 0)
        message = (
            f"a copy is kept every {every} steps (floors.checkpoints.history_every), which {stated} does not divide"
        )
        raise config.wrong(None, "interval", message, fine, "name one of these")
    return {key: (min(stated, grid[-1]),) for key, grid in problem.intervals.items()}


def _recovery_options(problem: Problem, config: Configuration) -> tuple[Any, ...]:
    given = config.decisions
    stated = {
        name: getattr(given, name)
        for name in ("spare_nodes", "rollouts_every", "compressed")
        if getattr(given, name) is not None
    }
    found = tuple(
        recovery
        for recovery in problem.recovery_options
        if all(getattr(recovery, name) == value for name, value in stated.items())
    )
    if found:
        return found
    for name, value in stated.items():
        known = sorted({getattr(recovery, name) for recovery in problem.recovery_options})
        if value not in known:
            some = ", ".join(map(str, known))
            raise config.wrong(None, name, f"{value} is not among what the request leaves to choose", some, "name one")
    raise NotSupportedError("decisions", "these ways to keep a run alive do not go together")


def stated_rules(problem: Problem, config: Configuration) -> list[Rule]:
    """What is stated of a column beside its pools: the tier of its checkpoints, and that both offers of a mix run."""
    found, tier = list[Rule](), config.decisions.tier
    if tier is not None:
        names = [[one.name for one in tariff.tiers] for tariff in problem.tariffs]
        if not any(tier in known for known in names):
            some = ", ".join(sorted({name for known in names for name in known}))
            raise config.wrong(None, "tier", f"{tier!r} is no storage tier there", some, "name one of these")
        same = np.zeros((len(names), max(map(len, names))))
        for zone, known in enumerate(names):
            same[zone, : len(known)] = [name == tier for name in known]
        found.append(_one("tier", lambda columns, _: same[columns.zone, columns.tier]))
    for role, second in (("rollout", "rollout2"), ("score", "score2")):
        if len([pool for pool in config.pools if pool.role == role]) > 1:
            found.append(_one(role, _both(second)))
    return found


def _both(second: str) -> Callable[[Any, Problem], NDArray[np.float64]]:
    """Whether a column has a second offer of a mixed pool."""
    return lambda columns, _: np.asarray(getattr(columns, second) >= 0, dtype=np.float64)


def _one(name: str, amount: Callable[[Any, Problem], NDArray[np.float64]]) -> Rule:
    return Rule(f"stated {name}", f"configuration.{name}", "", "==", 1.0, amount, lambda plan, _: 1.0, relaxable=False)
