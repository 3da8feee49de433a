"""The oracle: every joint column there is, one after the other, without bounds, staircases or a solver.

Far too slow for a real catalog. It shares the formulas of hours and money with the search and nothing else, so on a
small problem it says whether the search and the solvers lose anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.hours import Checkpointing
from rlopt.columns.interruptions import spares_stand
from rlopt.columns.joint import join, pool_rows
from rlopt.columns.side_pools import every_side_pools
from rlopt.costs import column_costs
from rlopt.pools.loading.pools import with_loading
from rlopt.problem import Columns, Problem, SidePools
from rlopt.rules import Rule, rules_of
from rlopt.table import groups, put_back
from rlopt.words import COLOCATED, Objective, Placement

CHUNK = 4096


class Best(NamedTuple):
    """The best column that keeps every rule."""

    usd: float
    column: str
    hours: float
    """Confident hours."""


Key = tuple[int, int, int]
"""Zone, variant and group size."""


def _choices(problem: Problem, placement: int, beside: Mapping[Key, SidePools]) -> Iterator[tuple[int, ...]]:
    """Training row, row of its side pools (-1 when colocated), interval, tier and recovery option of every column."""
    first = problem.colocated if placement == COLOCATED else problem.training
    for train in range(len(first)):
        zone, variant, size = key = (int(first.zone[train]), int(first.variant[train]), int(first.group_size[train]))
        others = [-1] if placement == COLOCATED else range(len(beside[key]))
        for other in others:
            for interval in problem.intervals[variant, size]:
                for tier in range(len(problem.tariffs[zone].tiers)):
                    for recovery in range(len(problem.recovery_options)):
                        yield train, other, interval, tier, recovery


def _beside(problem: Problem) -> dict[Key, SidePools]:
    """Everything that may stand beside the training pools, by zone, variant and group size."""
    training, rollout, scoring = problem.training, problem.rollout, problem.scoring
    found: dict[Key, SidePools] = {}
    for zone, variant, size in groups(training.zone, training.variant, training.group_size):
        alike = rollout.variant == problem.variants[variant].sampler
        sampled = np.flatnonzero((rollout.zone == zone) & (rollout.group_size == size) & alike)
        scored = None
        if problem.variants[variant].own:
            fine = (scoring.zone == zone) & (scoring.group_size == size) & (scoring.variant == variant)
            scored = np.flatnonzero(fine)
        found[zone, variant, size] = every_side_pools(problem, sampled, scored)
    return found


def _side_pools(
    problem: Problem, beside: Mapping[Key, SidePools], train: NDArray[np.int64], other: NDArray[np.int64]
) -> SidePools:
    """Rows of the groups' side pools, one for each training row."""
    first = problem.training.take(train)
    keys = groups(first.zone, first.variant, first.group_size).items()
    return put_back([(here, beside[zone, variant, size].take(other[here])) for (zone, variant, size), here in keys])


def opened(problem: Problem) -> Problem:
    """The problem with every way to load samples that can be had beside every pool, none dropped for another."""
    if problem.loading is None or problem.bare is None:
        return problem
    training, colocated = (
        with_loading(problem.loading, pools, problem.market, Counter(), prune=False) for pools in problem.bare
    )
    return replace(problem, training=training, colocated=colocated)


def every_column(problem: Problem) -> Columns:
    """All joint columns with their cost, those left out that make no progress or take more GPUs than are searched."""
    nothing, beside = np.zeros(0, dtype=np.int64), _beside(problem)
    parts = [join(problem, COLOCATED, nothing, None, Checkpointing.first(nothing))]
    for placement, name in enumerate(Placement):
        if name not in problem.request.placements:
            continue
        rows = _choices(problem, placement, beside)
        while chunk := list(islice(rows, CHUNK)):
            train, other, interval, tier, recovery = np.array(chunk, dtype=np.int64).T
            others = None if placement == COLOCATED else _side_pools(problem, beside, train, other)
            columns = join(problem, placement, train, others, Checkpointing(interval, tier, recovery))
            advances = np.isfinite(columns.expected_hours) & np.isfinite(columns.confident_hours)
            stands = spares_stand(columns, problem) & (columns.gpus <= problem.gpu_limit)
            parts.append(columns.take(advances & stands))
    return Columns.join([part.with_cost(column_costs(part, problem)) for part in parts])


def keeps(columns: Columns, problem: Problem, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """Which columns keep which rule, shape (rules, columns)."""
    fine = np.ones((len(rules), len(columns)), dtype=np.bool_)
    for number, rule in enumerate(rules):
        if rule.amount is not None:
            fine[number] = rule.admits(rule.amount(columns, problem))
    return fine


def _keeps_all(columns: Columns, problem: Problem, rules: Sequence[Rule] | None) -> NDArray[np.bool_]:
    return np.asarray(keeps(columns, problem, rules_of(problem) if rules is None else rules).all(axis=0))


def describe(columns: Columns, j: int, problem: Problem) -> str:
    """One column in a line."""
    offers, placement = problem.market.offers, int(columns.placement[j])
    machines = " + ".join(
        f"{int(table.nodes[row])} x {offers[int(table.offer[row])].id}" for table, row in pool_rows(columns, j, problem)
    )
    tier = problem.tariffs[int(columns.zone[j])].tiers[int(columns.tier[j])].name
    return (
        f"{Placement.at(placement)}: {machines}, group size {int(columns.group_size[j])}, "
        f"a save every {int(columns.interval_steps[j])} steps to {tier}"
    )


def best_of(columns: Columns, fine: NDArray[np.bool_], problem: Problem, objective: Objective = "cost") -> Best | None:
    """The cheapest (or fastest, then cheapest) of the columns marked ``fine``; None where there is none."""
    best: tuple[float, float] = (math.inf, math.inf)
    chosen = -1
    for j in np.flatnonzero(fine):
        usd, hours = float(columns.usd[j]), float(columns.confident_hours[j])
        value = (usd, hours) if objective == "cost" else (hours, usd)
        if value < best:
            best, chosen = value, int(j)
    if chosen < 0:
        return None
    return Best(float(columns.usd[chosen]), describe(columns, chosen, problem), float(columns.confident_hours[chosen]))


def exhaustive(
    problem: Problem, rules: Sequence[Rule] | None = None, objective: Objective | None = None
) -> Best | None:
    """The best column under ``rules`` (the request's own by default); None where no column keeps them all.

    ``objective`` is the request's own by default: least USD, or least confident hours.
    """
    problem = opened(problem)
    columns = every_column(problem)
    fine = _keeps_all(columns, problem, rules)
    return best_of(columns, fine, problem, objective or problem.request.objective)


def pareto(problem: Problem, rules: Sequence[Rule] | None = None) -> list[tuple[float, float]]:
    """(confident hours, USD) of the columns that no other beats in both, by hours; equal points once."""
    problem = opened(problem)
    columns = every_column(problem)
    fine = _keeps_all(columns, problem, rules)
    points = {(float(columns.confident_hours[j]), float(columns.usd[j])) for j in np.flatnonzero(fine)}
    return sorted(p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points))
