"""Bounds on whole groups: never above what any of their columns costs or takes, and what they exclude is no loss."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rlopt.columns.joint import options
from rlopt.columns.side_pools import every_side_pools
from rlopt.costs import column_costs
from rlopt.problem import Problem
from rlopt.search import group_bounds, mix_bounds
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import exhaustive
from rlopt.search.group_bounds import GroupBounds, nearest_groups, open_groups
from rlopt.search.groups import Served, served_groups
from rlopt.search.prune import Prune
from rlopt.studies.cheapest import cheapest
from rlopt.words import ASYNC, DISAGGREGATED, Placement
from tests.oracle.problems import random_problem


def _placements(problem: Problem) -> list[int]:
    return [m for m in (DISAGGREGATED, ASYNC) if Placement.at(m) in problem.request.placements]


def _true_least(problem: Problem, placement: int, served: Served, mixed: bool) -> tuple[float, float]:
    beside = every_side_pools(problem, served.rollout, served.score)
    two = (beside.rollout2 >= 0) | (beside.score2 >= 0)
    beside = beside.take(np.flatnonzero(two == mixed))
    i, j = np.repeat(served.train, len(beside)), np.tile(np.arange(len(beside)), len(served.train))
    columns = options(problem, placement, i, beside.take(j))
    if not len(columns):
        return math.inf, math.inf
    return float(column_costs(columns, problem).min()), float(columns.confident_hours.min())


@pytest.mark.parametrize("mixed", [False, True])
def test_no_column_of_a_group_is_below_its_bound(mixed: bool) -> None:
    looked_at, tight = 0, []
    for seed in range(3000, 3015):
        problem = random_problem(seed, mixes=True)
        groups = list(served_groups(problem)) if len(problem.rollout) else []
        bounds = Bounds.of(problem)
        for placement in _placements(problem):
            if not groups:
                continue
            usd, hours = GroupBounds(bounds, groups).least(placement, Prune("cost"), mixed)
            for n, served in enumerate(groups):
                cost, late = _true_least(problem, placement, served, mixed)
                assert usd[n] <= cost * (1.0 + 1e-9), seed
                assert hours[n] <= late * (1.0 + 1e-9), seed
                looked_at += 1
                tight += [usd[n] / cost] if math.isfinite(cost) else []
    assert looked_at > 25
    assert np.median(tight) > 0.5, "a bound far below everything would exclude nothing"


@pytest.mark.parametrize("goal", ["cost", "time"])
def test_incumbents_from_few_groups_and_pairs_by_blocks_lose_nothing(
    goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_bounds, "FIRST_GROUPS", 1)
    monkeypatch.setattr(mix_bounds, "BLOCK", 2)
    for seed in range(3100, 3125):
        problem = random_problem(seed, mixes=True, objective=goal)
        plan, best = cheapest(problem), exhaustive(problem)
        assert (plan.cost is None) == (best is None), seed
        if best is not None and plan.cost is not None:
            value = plan.cost.total_usd if goal == "cost" else plan.time.confident_hours  # type: ignore[union-attr]
            assert value == pytest.approx(best.usd if goal == "cost" else best.hours, rel=1e-9), seed


def test_a_known_plan_closes_groups_and_they_are_counted() -> None:
    problem = next(p for p in map(random_problem, range(3200, 3300)) if len(p.rollout) and _placements(p))
    groups, placement = list(served_groups(problem)), _placements(problem)[0]
    bounds = Bounds.of(problem)
    everything = list(open_groups(bounds, Prune("cost"), placement, groups))
    assert len(everything) == len(groups)
    closed = Prune("cost", best=1e-9)
    assert not list(open_groups(bounds, closed, placement, groups))
    assert sum(closed.excluded.values()) == sum(len(served.train) for served in groups)
    assert nearest_groups(bounds, Prune("cost"), [placement], groups)
