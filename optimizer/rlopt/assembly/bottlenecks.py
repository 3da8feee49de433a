"""How busy each pool is, which of them a step waits for, and how large the next smaller pool of its kind is.

busy = seconds of the pool's own stages / seconds of a step

What passes beside other stages does not count: samples that load during the step before, tools and worlds that answer
while others generate, weights on their way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import PlannedRun, Pool
from rlopt.answers.usage import PoolUse
from rlopt.problem import Pools, Problem
from rlopt.words import Placement, StageKind

IDLE = 0.5
"""Share of a step below which a pool counts as too large for its work."""
BESIDE = ("environment", "transfer")
FORWARD = [StageKind.SCORE]


def pool_uses(plan: PlannedRun) -> list[PoolUse]:
    """Every pool of GPUs that works, the busiest first."""
    found = []
    for pool in working(plan):
        own = [one for one in plan.time.stages if one.pool == pool.name and one.stage not in BESIDE]
        spent = [(one.seconds - one.hidden_seconds, one) for one in own]
        if not spent:
            continue
        longest = max(spent, key=lambda one: one[0])[1]
        found.append(
            PoolUse(
                pool=pool.name,
                busy_seconds=sum(seconds for seconds, _ in spent),
                busy=min(sum(seconds for seconds, _ in spent) / plan.time.step_seconds, 1.0),
                stage=longest.stage,
                model=longest.model,
                limited_by=longest.limited_by,
            )
        )
    return sorted(found, key=lambda one: -one.busy_seconds)


def working(plan: PlannedRun) -> list[Pool]:
    """Pools of GPUs, spare nodes left out."""
    return [pool for pool in plan.pools if pool.gpus and pool.roles != ["spare"]]


def idle_pools(plan: PlannedRun) -> list[Pool]:
    """Pools that work less than half of a step."""
    idle = {one.pool for one in pool_uses(plan) if one.busy < IDLE}
    return [pool for pool in working(plan) if pool.name in idle]


def idle_notes(plan: PlannedRun, problem: Problem) -> list[str]:
    """A warning for each idle pool: for whom it waits, and whether there could be less of it."""
    uses, found = pool_uses(plan), []
    busy = {one.pool: one.busy for one in uses}
    for pool in idle_pools(plan):
        waits = _waits(plan, uses[0], pool)
        fewer = smaller_gpus(plan, pool, problem)
        told = "no smaller one of these machines can do its work"
        if pool.share is not None:
            told = "two offers share its work"
        elif fewer is not None:
            told = f"rlopt explain says what {fewer} instead of {pool.gpus} GPUs would cost"
        found.append(f"pool {pool.name} works {busy[pool.name]:.0%} of a step{waits}; {told}")
    return found


def _waits(plan: PlannedRun, longest: PoolUse, pool: Pool) -> str:
    """For what a step waits longest, where it is not the pool itself."""
    if max((one.seconds for one in plan.time.stages if one.stage == "transfer"), default=0.0) > longest.busy_seconds:
        return ", which waits longest for weights to be handed over and for the loop around it"
    return "" if longest.pool == pool.name else f", which waits longest for pool {longest.pool}"


def smaller_gpus(plan: PlannedRun, pool: Pool, problem: Problem) -> int | None:
    """GPUs of the next smaller pool of the same kind that can do the work; None where there is none."""
    pools = _table(plan, pool, problem)
    gpus = pools.gpus[_alike(pool, problem)[pools.offer] & (pools.gpus < pool.gpus)]
    return int(gpus.max()) if len(gpus) else None


def with_smaller(plan: PlannedRun, pool: Pool, gpus: int, problem: Problem) -> Problem:
    """The same problem where this pool of the plan is of ``gpus`` GPUs of its kind, all else being open.

    Whether one pool does everything or several stand apart is as in the plan.
    """
    pools = _table(plan, pool, problem)
    kept = pools.take(_alike(pool, problem)[pools.offer] & (pools.gpus == gpus))
    if pools is problem.colocated:
        return replace(problem, colocated=kept, training=_none(problem.training))
    apart = replace(problem, colocated=_none(problem.colocated))
    if pools is problem.training:
        return replace(apart, training=kept)
    return replace(apart, rollout=kept) if pools is problem.rollout else replace(apart, scoring=kept)


def _table(plan: PlannedRun, pool: Pool, problem: Problem) -> Pools:
    if plan.decisions.placement == Placement.COLOCATED:
        return problem.colocated
    if StageKind.TRAIN in pool.roles:
        return problem.training
    return problem.scoring if pool.roles == FORWARD else problem.rollout


def _none(pools: Pools) -> Pools:
    return pools.take(slice(0, 0))


def _alike(pool: Pool, problem: Problem) -> NDArray[np.bool_]:
    """Which offers are of the pool's kind: GPU type, provider, region and way of paying; shape (offers,)."""
    kind = (pool.gpu, pool.provider, pool.region, pool.pricing)
    offers = problem.market.offers
    return np.array([(one.shape.device, one.provider, one.region, one.pricing) == kind for one in offers], dtype=bool)
