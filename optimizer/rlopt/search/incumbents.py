"""The most promising columns, priced first so that the bounds have something to beat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.columns.side_pools import alone, every_pair
from rlopt.problem import Floats, Ints, Pools, Problem, SidePools
from rlopt.search.bounds import Group
from rlopt.search.could_win import CouldWin
from rlopt.search.prune import pareto_index
from rlopt.table import groups
from rlopt.words import PoolRole

FIRST_LOOK = 24


@dataclass(frozen=True, slots=True)
class Served:
    """Pools that may be put together: row numbers of one zone, variant and group size.

    ``score`` is None where the training pool does the scoring.
    """

    group: Group
    train: Ints
    rollout: Ints
    score: Ints | None


def served_groups(problem: Problem) -> Iterator[Served]:
    """Rows that may be put together: one zone, one variant, one group size."""
    training, rollout, scoring = problem.training, problem.rollout, problem.scoring
    sampled = groups(rollout.zone, rollout.group_size, rollout.variant)
    scored = groups(scoring.zone, scoring.group_size, scoring.variant)
    for (zone, size, variant), train in groups(training.zone, training.group_size, training.variant).items():
        here = sampled.get((zone, size, problem.variants[variant].sampler))
        own = bool(problem.variants[variant].own)
        score = scored.get((zone, size, variant)) if own else None
        if here is not None and (score is not None or not own):
            yield Served(Group(zone, variant, size), train, here, score)


def classes(pools: Pools, rows: Ints) -> list[Ints]:
    """Staircase pools among all rows and among those never reclaimed (a share floor may need them)."""
    found = []
    for part in (rows, rows[~pools.spot[rows]]):
        found.append(part[pareto_index(pools.rate_of(part), pools.times.in_step.median[part])])
    return found if len(found[0]) != len(found[1]) or bool((found[0] != found[1]).any()) else found[:1]


def promising_colocated(could_win: CouldWin, bound: Callable[[Pools], tuple[Floats, Floats]]) -> Ints:
    """Row numbers of colocated pools on the staircases, cheapest bound first."""
    pools, prune = could_win.problem.colocated, could_win.prune
    rows = np.concatenate(classes(pools, np.arange(len(pools))))
    cost, hours = bound(pools.take(rows))
    fine = prune.keep(cost, hours, count=False)
    rows, cost = rows[fine], cost[fine]
    return np.asarray(rows[np.argsort(cost, kind="stable")[: FIRST_LOOK * 8]])


def promising_pairs(
    could_win: CouldWin, groups: Sequence[Served], modes: Sequence[int]
) -> Iterator[tuple[int, Ints, SidePools]]:
    """Per placement the pairs of staircase pools with the lowest bounds."""
    problem = could_win.problem
    everything: list[SidePools] = []
    picks: dict[int, list[tuple[Floats, Ints, Ints]]] = {m: [] for m in modes}
    start = 0
    for served in groups:
        trained = classes(problem.training, served.train)
        for beside in _supports(could_win, served):
            everything.append(beside)
            for u in trained:
                if len(u) and len(beside):
                    for m in modes:
                        bound, row, at = _picked(could_win, m, served.group, u, beside)
                        picks[m].append((bound, row, at + start))
            start += len(beside)
    for m, found in picks.items():
        if found:
            bound, row, at = (np.concatenate([part[n] for part in found]) for n in range(3))
            best = np.lexsort((row, bound))[: 20 * FIRST_LOOK]
            if len(best):
                yield m, row[best], SidePools.join(everything).take(at[best])


def _supports(could_win: CouldWin, served: Served) -> list[SidePools]:
    """Staircases of what stands beside the training pool: of all offers, and of those never reclaimed."""
    problem = could_win.problem
    found = [alone(problem, PoolRole.SAMPLE, rows) for rows in classes(problem.rollout, served.rollout)]
    if served.score is None:
        return found
    scored = [alone(problem, PoolRole.SCORE, rows) for rows in classes(problem.scoring, served.score)]
    return [every_pair(problem, a, b) for a in found for b in scored]


def _picked(
    could_win: CouldWin, placement: int, group: Group, train: Ints, beside: SidePools
) -> tuple[Floats, Ints, Ints]:
    """Bounds, training rows and numbers of the pools beside them, of the best pairs of one group."""
    a = could_win.problem.training.take(train)
    sampling, confident = beside.times.at(placement).both
    rate = a.rate[:, None] + beside.rate[None, :]
    cost = could_win.bounds.cost(placement, group, rate, a.times.in_step.median[:, None], sampling[None, :])
    hours = could_win.bounds.hours(placement, group, a.times.in_step.confident[:, None], confident[None, :])
    score = np.where(could_win.prune.keep(cost, hours, count=False), cost, np.inf)
    if could_win.prune.goal == "time":
        score = np.where(np.isfinite(score), hours, np.inf)
    best = np.argsort(score, axis=None, kind="stable")[:FIRST_LOOK]
    rows, cols = np.unravel_index(best, score.shape)
    fine = np.isfinite(score[rows, cols])
    return score[rows, cols][fine], train[rows[fine]], np.asarray(cols[fine], dtype=np.int64)
