"""Limits that hold in a worse case, on random small problems: the search and both solvers against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.columns.pace import again, slower
from rlopt.costs import column_costs
from rlopt.problem import Pools, Problem, Seconds, Times
from rlopt.search.exhaustive import every_column, exhaustive
from rlopt.studies.cheapest import cheapest
from rlopt.units import Money
from tests.oracle.problems import StubEstimates, random_problem

SEEDS = 36
TIMES = (1.15, 1.4, 2.0)


def _late(pools: Pools, times: float) -> Pools:
    def late(seconds: Seconds) -> Seconds:
        return replace(seconds, confident=seconds.confident * times)

    own = pools.times
    return replace(pools, times=Times(late(own.in_step), late(own.asynchronous), own.growth), once=late(pools.once))


def robust(problem: Problem, times: float) -> Problem:
    """The problem as it would be built with `limits.robust.time`: confident seconds include the factor."""
    assert isinstance(problem.estimates, StubEstimates)
    rollout = _late(problem.rollout, times)
    return replace(
        problem,
        request=problem.request.replaced("limits.robust.time", times),
        training=_late(problem.training, times),
        colocated=_late(problem.colocated, times),
        rollout=rollout,
        scoring=_late(problem.scoring, times),
        estimates=replace(problem.estimates, rollouts=_late(problem.estimates.rollouts, times)),
    )


def _asked(seed: int) -> Problem | None:
    """A random problem whose deadline its cheapest plan just meets, or whose budget its cheapest is just within.

    Every third one asks for the fastest plan within the budget. None where no plan keeps the rest.
    """
    problem = random_problem(seed)
    request = problem.request.replaced("limits.deadline", None)
    problem = replace(problem, request=request.replaced("limits.budget", None))
    own = exhaustive(problem)
    if own is None:
        return None
    if seed % 3 == 0:
        return replace(problem, request=problem.request.replaced("limits.deadline", 1.1 * own.hours * 3600.0))
    request = problem.request.replaced("limits.budget", Money(1.08 * own.usd, "USD"))
    return replace(problem, request=request.replaced("objective", "time" if seed % 3 == 1 else "cost"))


def test_search_and_solvers_find_what_enumeration_finds_in_the_worst_case() -> None:
    """And a worst case never betters the objective; enough problems are decided by it, of each kind."""
    decided, opened = [0, 0, 0], [0, 0, 0]
    for seed in range(SEEDS):
        plain = _asked(seed)
        if plain is None:
            continue
        problem, own = robust(plain, TIMES[seed // 3 % len(TIMES)]), exhaustive(plain)
        by_time, best = plain.request.objective == "time", exhaustive(problem)
        for backend in ("pulp", "ortools") if seed % 2 else ("pulp",):
            plan = cheapest(problem, backend)
            assert (plan.cost is None) is (best is None), (seed, backend)
            if best is None or plan.cost is None or plan.time is None:
                continue
            found, wanted = (plan.time.confident_hours, best.hours) if by_time else (plan.cost.total_usd, best.usd)
            assert found == pytest.approx(wanted, rel=1e-6), (seed, backend, best.column)
            assert plan.worst is not None
            assert plan.worst.total_usd >= plan.cost.total_usd * (1.0 - 1e-12)
        assert own is not None
        value = None if best is None else best.hours / own.hours if by_time else best.usd / own.usd
        assert value is None or value >= 1.0 - 1e-12, seed
        opened[seed % 3] += 1
        decided[seed % 3] += best is None or best.column != own.column
    assert min(opened) >= 4, opened
    assert min(decided) >= 2, decided


def test_a_bill_never_falls_as_steps_take_longer() -> None:
    """What makes bounds on the predicted bill bounds on that of the worst case."""
    for seed in range(0, SEEDS, 6):
        problem = random_problem(seed)
        columns = every_column(problem)
        columns = columns.take(slice(0, None, max(len(columns) // 500, 1)))
        before = columns.usd
        for times in (1.2, 3.0):
            slow = slower(problem, times)
            usd = column_costs(again(slow, columns), slow)
            assert not np.any(usd < before * (1.0 - 1e-12)), seed
            before = usd
