"""The most promising columns, priced first so that the bounds have something to beat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rlopt.columns.side_pools import alone, every_pair
from rlopt.problem import Floats, Ints, Pools, Problem, SidePools
from rlopt.search.bounds import Bounds
from rlopt.search.group_bounds import nearest_groups
from rlopt.search.groups import Group, Served
from rlopt.search.pricing import Pricing
from rlopt.search.prune import Prune
from rlopt.search.staircase import pareto_index
from rlopt.words import COLOCATED, Placement, PoolRole

FIRST_LOOK = 24


def incumbents(pricing: Pricing, placements: Sequence[int], groups: Sequence[Served]) -> None:
    """Price the most promising columns of every placement."""
    if Placement.COLOCATED in pricing.problem.request.placements and len(pricing.problem.colocated):
        pricing.price(COLOCATED, _promising_colocated(pricing.bounds, pricing.prune))
    nearest = nearest_groups(pricing.bounds, pricing.prune, placements, groups)
    for placement, train, beside in _promising_pairs(pricing.bounds, pricing.prune, placements, nearest):
        pricing.price(placement, train, beside)


def _promising_colocated(bounds: Bounds, prune: Prune) -> Ints:
    """Row numbers of colocated pools on the staircases, cheapest bound first."""
    pools = bounds.problem.colocated
    rows = np.concatenate(_staircases(pools, np.arange(len(pools))))
    cost, hours = bounds.of_colocated(pools.take(rows))
    fine = prune.keep(cost, hours, count=False)
    rows, cost = rows[fine], cost[fine]
    return np.asarray(rows[np.argsort(cost, kind="stable")[: FIRST_LOOK * 8]])


def _promising_pairs(
    bounds: Bounds, prune: Prune, placements: Sequence[int], groups: Sequence[Served]
) -> Iterator[tuple[int, Ints, SidePools]]:
    """Per placement the pairs of staircase pools with the lowest bounds: training rows, and what stands beside them."""
    problem = bounds.problem
    everything: list[SidePools] = []
    picks: dict[int, list[tuple[Floats, Ints, Ints]]] = {placement: [] for placement in placements}
    start = 0
    for served in groups:
        trained = _staircases(problem.training, served.train)
        for beside in _side_pools(problem, served):
            everything.append(beside)
            for rows in trained:
                if len(rows) and len(beside):
                    for placement in placements:
                        bound, row, at = _best_pairs(bounds, prune, placement, served.group, rows, beside)
                        picks[placement].append((bound, row, at + start))
            start += len(beside)
    for placement, found in picks.items():
        if found:
            bound, row, at = (np.concatenate([part[n] for part in found]) for n in range(3))
            best = np.lexsort((row, bound))[: 20 * FIRST_LOOK]
            if len(best):
                yield placement, row[best], SidePools.join(everything).take(at[best])


def _staircases(pools: Pools, rows: Ints) -> list[Ints]:
    """Staircase pools among all rows and among those never reclaimed (a share floor may need them)."""
    found = []
    for part in (rows, rows[~pools.spot[rows]]):
        found.append(part[pareto_index(pools.rate_of(part), pools.times.in_step.median[part])])
    return found if len(found[0]) != len(found[1]) or bool((found[0] != found[1]).any()) else found[:1]


def _side_pools(problem: Problem, served: Served) -> list[SidePools]:
    """Staircases of what stands beside the training pool: of all offers, and of those never reclaimed."""
    found = [alone(problem, PoolRole.SAMPLE, rows) for rows in _staircases(problem.rollout, served.rollout)]
    if served.score is None:
        return found
    scored = [alone(problem, PoolRole.SCORE, rows) for rows in _staircases(problem.scoring, served.score)]
    return [every_pair(problem, a, b) for a in found for b in scored]


def _best_pairs(
    bounds: Bounds, prune: Prune, placement: int, group: Group, train: Ints, beside: SidePools
) -> tuple[Floats, Ints, Ints]:
    """Bounds, training rows and numbers of the pools beside them, of the best pairs of one group."""
    cost, hours = bounds.of_pairs(placement, group, bounds.problem.training.take(train), beside)
    score = np.where(prune.keep(cost, hours, count=False), cost, np.inf)
    if prune.goal == "time":
        score = np.where(np.isfinite(score), hours, np.inf)
    best = np.argsort(score, axis=None, kind="stable")[:FIRST_LOOK]
    rows, cols = np.unravel_index(best, score.shape)
    fine = np.isfinite(score[rows, cols])
    return score[rows, cols][fine], train[rows[fine]], np.asarray(cols[fine], dtype=np.int64)
