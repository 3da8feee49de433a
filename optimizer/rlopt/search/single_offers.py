"""Columns whose pools are of one offer each: every training pool with every side pool that the bounds leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rlopt.columns.side_pools import alone, every_pair, every_side_pools, with_scoring
from rlopt.problem import SidePools
from rlopt.search.could_win import CouldWin
from rlopt.search.group_bounds import open_groups
from rlopt.search.groups import Served
from rlopt.search.pricing import Pricing
from rlopt.search.staircase import Stairs
from rlopt.words import COLOCATED, Placement, PoolRole

POOLS = 512
"""Colocated pools priced at once."""
PAIRS = 200_000
"""Rollout pools with scoring pools put together at once."""


def colocated_pools(pricing: Pricing) -> None:
    """Price every pool that does it all, the cheapest bound first: each part sharpens the bound for the next."""
    pools, prune = pricing.problem.colocated, pricing.prune
    if Placement.COLOCATED not in pricing.problem.request.placements or not len(pools):
        return
    cost, hours = pricing.bounds.of_colocated(pools)
    rows = np.flatnonzero(prune.keep(cost, hours))
    rows = rows[np.argsort(cost[rows], kind="stable")]
    for start in range(0, len(rows), POOLS):
        part = rows[start : start + POOLS]
        cost, hours = pricing.bounds.of_colocated(pools.take(part))
        pricing.price(COLOCATED, part[prune.keep(cost, hours, count=start > 0)])


def single_offers(pricing: Pricing, placements: Sequence[int], groups: Sequence[Served]) -> None:
    """Price the pairs of every group that could win, the most promising group first."""
    for placement in placements:
        for served in open_groups(pricing.bounds, pricing.prune, placement, groups):
            _group(pricing, placement, served)


def _group(pricing: Pricing, placement: int, served: Served) -> None:
    """Training pools against the staircase of the others, then these against that of the training pools left."""
    problem = pricing.problem
    if pricing.time.over():
        return
    beside = alone(problem, PoolRole.SAMPLE, served.rollout)
    scored = None if served.score is None else alone(problem, PoolRole.SCORE, served.score)
    others = pricing.could_win(placement, served.group, Stairs.of_pools(beside, placement)).beside(scored)
    train = served.train[others.stay(problem.training.take(served.train))]
    if not len(train):
        return
    trained = pricing.could_win(placement, served.group, Stairs.of_pools(problem.training.take(train), placement))
    if scored is not None:
        beside = scored_rollout(trained, beside, scored)
    beside = beside.take(trained.stay(beside))
    pricing.pairs(placement, served.group, train, pricing.undominated(placement, train, beside))


def scored_rollout(
    trained: CouldWin, rollout: SidePools, score: SidePools, over: Callable[[], bool] = lambda: False
) -> SidePools:
    """Rollout pools with scoring pools beside them, less those that could win with no training pool.

    ``over`` says whether time is up.
    """
    problem = trained.problem
    found = [with_scoring(problem, rollout.take(slice(0)), score.take(slice(0)))]
    if not len(rollout) or not len(score):
        return found[0]
    rollout = rollout.take(trained.beside(score).which(rollout))
    score = score.take(trained.beside(rollout).which(score))
    if not len(rollout) or not len(score):
        return found[0]
    step = max(1, PAIRS // len(score))
    for start in range(0, len(rollout), step):
        if over():
            break
        pairs = every_pair(problem, rollout.take(slice(start, start + step)), score)
        pairs = pairs.take(pairs.gpus < problem.gpu_limit)
        found.append(pairs.take(trained.which(pairs)))
    return SidePools.join(found)


def everything(pricing: Pricing, placements: Sequence[int], groups: Sequence[Served]) -> None:
    """Price every column there is, mixed pools too: nothing is left out by a bound."""
    problem = pricing.problem
    if Placement.COLOCATED in problem.request.placements:
        pricing.price(COLOCATED, np.arange(len(problem.colocated)))
    for placement in placements:
        for served in groups:
            if not pricing.time.over():
                beside = every_side_pools(problem, served.rollout, served.score)
                pricing.pairs(placement, served.group, served.train, beside)
