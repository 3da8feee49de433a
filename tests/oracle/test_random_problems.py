"""Plain enumeration against the search and both solvers, on random small problems.

The sample itself is checked: enough of it is infeasible, every rule decides the optimum often enough, and enough
programs are more than a handful of columns.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rlopt.problem import Problem
from rlopt.rules import rules_of
from rlopt.search.exhaustive import every_column, exhaustive, pareto
from rlopt.studies.cheapest import cheapest
from rlopt.studies.frontier import frontier_columns
from tests.oracle.problems import random_problem

PROBLEMS = 360
SHARDS = 6
MOST_COLUMNS_UNREDUCED = 9_000
RULES = {
    "deadline", "budget", "hourly_budget", "gpus", "quota", "share", "group_size", "samples_per_update",
    "informative_groups", "update_precision", "staleness", "recovery_time",
}  # fmt: skip


def _seeds(shard: int) -> range:
    return range(shard, PROBLEMS, SHARDS)


def _usd(problem: Problem, backend: str, reductions: bool) -> float | None:
    plan = cheapest(problem, backend, reductions=reductions)
    return plan.cost.total_usd if plan.cost else None


@pytest.mark.parametrize("shard", range(SHARDS))
def test_search_and_solvers_find_what_enumeration_finds(shard: int) -> None:
    for seed in _seeds(shard):
        problem = random_problem(seed)
        best = exhaustive(problem)
        reductions = [True]
        if len(every_column(problem)) <= MOST_COLUMNS_UNREDUCED:
            reductions.append(False)
        for backend in ("pulp", "ortools"):
            for reduced in reductions:
                found = _usd(problem, backend, reduced)
                if best is None:
                    assert found is None, (seed, backend, reduced)
                else:
                    assert found == pytest.approx(best.usd, rel=1e-6), (seed, backend, reduced, best.column)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_frontier_is_the_pareto_set(shard: int) -> None:
    for seed in _seeds(shard):
        problem = random_problem(seed, mixes=seed % 12 < 2)
        columns = frontier_columns(problem).columns
        found = list(zip(columns.confident_hours, columns.usd, strict=True))
        assert np.array(found).reshape(-1, 2) == pytest.approx(np.array(pareto(problem)).reshape(-1, 2), rel=1e-9), seed


@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_fastest_plan_is_the_fastest_column(shard: int) -> None:
    for seed in _seeds(shard):
        problem = random_problem(seed, objective="time")
        best, plan = exhaustive(problem), cheapest(problem)
        assert (plan.time is None) == (best is None), seed
        if best is not None and plan.time is not None:
            assert plan.time.confident_hours == pytest.approx(best.hours, rel=1e-6), (seed, best.column)


@pytest.mark.parametrize("shard", range(4))
def test_mixed_pools_are_found_as_enumeration_finds_them(shard: int) -> None:
    chosen = 0
    for seed in range(1000 + shard, 1200, 4):
        problem = random_problem(seed, mixes=True)
        best = exhaustive(problem)
        for backend in ("pulp", "ortools"):
            plan = cheapest(problem, backend)
            if best is None or plan.cost is None:
                assert (best is None) == (plan.cost is None), (seed, backend, best)
            else:
                assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), (seed, backend, best.column)
                chosen += any(pool.share is not None for pool in plan.pools)
    assert chosen >= 4


def test_the_sample_is_worth_something() -> None:
    infeasible, large, binding = 0, 0, Counter[str]()
    for seed in range(PROBLEMS):
        problem = random_problem(seed)
        columns, rules = every_column(problem), rules_of(problem)
        rows = [rule for rule in rules if rule.amount is not None]
        fine = np.array([rule.admits(rule.amount(columns, problem)) for rule in rows if rule.amount])
        best = columns.usd[fine.all(axis=0)].min(initial=np.inf)
        infeasible += not np.isfinite(best)
        large += len(columns) >= 50
        for number, rule in enumerate(rows):
            without = columns.usd[np.delete(fine, number, axis=0).all(axis=0)].min(initial=np.inf)
            binding[rule.name] += bool(rule.relaxable and without < best * (1 - 1e-9))
    assert infeasible >= PROBLEMS / 4
    assert large >= 100
    assert {name: count for name, count in binding.items() if name in RULES and count < 20} == {}
    assert set(binding) >= RULES
