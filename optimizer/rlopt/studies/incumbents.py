"""The most promising columns, priced first so that the bounds have something to beat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.candidates.support import alone, every_pair
from rlopt.problem import Floats, Ints, Pools, Problem, Support
from rlopt.studies.bounds import Group
from rlopt.studies.matter import Matter
from rlopt.studies.prune import pareto_index

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
    for zone in np.unique(training.zone):
        trained, sampled, scored = (np.flatnonzero(pools.zone == zone) for pools in (training, rollout, scoring))
        for size in np.unique(training.group_size[trained]):
            fitting = sampled[rollout.group_size[sampled] == size]
            rows = trained[training.group_size[trained] == size]
            for variant in np.unique(training.variant[rows]):
                score = None
                if problem.variants[variant].own:
                    fine = (scoring.variant[scored] == variant) & (scoring.group_size[scored] == size)
                    score = scored[fine]
                train = rows[training.variant[rows] == variant]
                here = fitting[rollout.variant[fitting] == problem.variants[variant].sampler]
                if len(here) and (score is None or len(score)):
                    yield Served(Group(int(zone), int(variant), int(size)), train, here, score)


def classes(pools: Pools, rows: Ints) -> list[Ints]:
    """Staircase pools among all rows and among those never reclaimed (a share floor may need them)."""
    found = []
    for part in (rows, rows[~pools.spot[rows]]):
        rate = pools.usd_per_hour[part] + pools.environment_usd_per_hour[part]
        found.append(part[pareto_index(rate, pools.seconds[part])])
    return found if len(found[0]) != len(found[1]) or bool((found[0] != found[1]).any()) else found[:1]


def promising_colocated(matter: Matter, bound: Callable[[Pools], tuple[Floats, Floats]]) -> Ints:
    """Row numbers of colocated pools on the staircases, cheapest bound first."""
    pools, prune = matter.problem.colocated, matter.prune
    rows = np.concatenate(classes(pools, np.arange(len(pools))))
    cost, hours = bound(pools.take(rows))
    fine = prune.keep(cost, hours, count=False)
    rows, cost = rows[fine], cost[fine]
    return np.asarray(rows[np.argsort(cost, kind="stable")[: FIRST_LOOK * 8]])


def promising_pairs(
    matter: Matter, groups: Sequence[Served], modes: Sequence[int]
) -> Iterator[tuple[int, Ints, Support]]:
    """Per placement the pairs of staircase pools with the lowest bounds."""
    problem = matter.problem
    picks: dict[int, list[tuple[float, int, Support]]] = {m: [] for m in modes}
    for served in groups:
        trained = classes(problem.training, served.train)
        for beside in _supports(matter, served):
            for u in trained:
                if len(u) and len(beside):
                    for m in modes:
                        picks[m] += _picked(matter, m, served.group, u, beside)
    for m, found in picks.items():
        chosen = sorted(found, key=lambda pick: pick[:2])[: 20 * FIRST_LOOK]
        if chosen:
            yield m, np.array([u for _, u, _ in chosen]), Support.join([beside for _, _, beside in chosen])


def _supports(matter: Matter, served: Served) -> list[Support]:
    """Staircases of what stands beside the training pool: of all offers, and of those never reclaimed."""
    problem = matter.problem
    found = [alone(problem, "rollout", rows) for rows in classes(problem.rollout, served.rollout)]
    if served.score is None:
        return found
    scored = [alone(problem, "score", rows) for rows in classes(problem.scoring, served.score)]
    return [every_pair(problem, a, b) for a in found for b in scored]


def _picked(
    matter: Matter, placement: int, group: Group, train: Ints, beside: Support
) -> list[tuple[float, int, Support]]:
    """(bound, training row, pools beside it) of the best pairs of one group."""
    a = matter.problem.training.take(train)
    sampling, confident = beside.times(placement)
    rate = a.rate[:, None] + beside.rate[None, :]
    cost = matter.bounds.cost(placement, group, rate, a.seconds[:, None], sampling[None, :])
    hours = matter.bounds.hours(placement, group, a.confident_seconds[:, None], confident[None, :])
    score = np.where(matter.prune.keep(cost, hours, count=False), cost, np.inf)
    if matter.prune.goal == "time":
        score = np.where(np.isfinite(score), hours, np.inf)
    best = np.argsort(score, axis=None, kind="stable")[:FIRST_LOOK]
    rows, cols = np.unravel_index(best, score.shape)
    return [
        (float(score[i, j]), int(train[i]), beside.take(slice(int(j), int(j) + 1)))
        for i, j in zip(rows, cols, strict=True)
        if np.isfinite(score[i, j])
    ]
