"""Plain enumeration against the search and both solvers, where pools slow down over the run, each in its own way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from rlopt.estimates.loop.run_average import PARTS, SHARES
from rlopt.pools.run_points import growing
from rlopt.problem import Growth, Mix, Pools, Problem, Seconds, Times
from rlopt.request import Request
from rlopt.search import dominance, mixed_search
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.cheapest import cheapest
from rlopt.table import each
from tests.oracle.problems import StubEstimates, random_problem


@dataclass(frozen=True)
class GrowingStubs(StubEstimates):
    """Mixes at each point of the run, averaged."""

    points: tuple[StubEstimates, ...] = ()

    def mixed(self, first: np.ndarray, second: np.ndarray) -> Mix:
        return growing([stub.mixed(first, second) for stub in self.points])

    def mixed_bound(self, first: np.ndarray, second: np.ndarray) -> Mix:
        return growing([stub.mixed_bound(first, second) for stub in self.points])

    def mixed_least(self, estimate: np.ndarray) -> Mix:
        return growing([stub.mixed_least(estimate) for stub in self.points])


def _grown(rng: np.random.Generator, pools: Pools, asynchronous: Seconds) -> Pools:
    """The pools with seconds that rise by up to nine tenths over the run, at a pace of each pool's own."""
    pace, bend = rng.uniform(0.0, 1.8, (len(pools), 1)), rng.uniform(0.3, 4.0, (len(pools), 1))
    shape = 1.0 + pace * SHARES**bend
    shape /= shape.mean(axis=1, keepdims=True) if len(pools) else 1.0
    rising = each(replace(pools.times, asynchronous=asynchronous), lambda seconds: seconds[:, None] * shape)
    growth = Growth(rising.in_step.median, rising.asynchronous)
    return replace(pools, times=replace(pools.times, growth=growth))


def _at(pools: Pools, point: int) -> Pools:
    assert pools.times.growth is not None
    growth, own = each(pools.times.growth, lambda seconds: seconds[:, point]), pools.times.in_step
    in_step = Seconds(growth.in_step, growth.in_step * own.confident / own.median)
    return replace(pools, times=Times(in_step, growth.asynchronous))


def growing_problem(seed: int, mixes: bool = False) -> Problem:
    """A random problem whose pools change over the run; training and scoring take as long in step as out of it."""
    problem, rng = random_problem(seed, mixes=mixes), np.random.default_rng(seed)
    scoring = replace(problem.scoring, times=Times.same(problem.scoring.times.in_step))
    rollout, stub = _grown(rng, problem.rollout, problem.rollout.times.asynchronous), problem.estimates
    assert isinstance(stub, StubEstimates)
    points = tuple(StubEstimates(stub.precision, _at(rollout, point)) for point in range(PARTS))
    return replace(
        problem,
        training=_grown(rng, problem.training, problem.training.times.in_step),
        rollout=rollout,
        scoring=_grown(rng, scoring, scoring.times.in_step),
        estimates=GrowingStubs(stub.precision, rollout, points),
    )


def _open(request: Request) -> Request:
    """Out of step alone, where the slower pool counts and which that is changes, and with fewer limits in the way."""
    request = request.replaced("choices.placements", ("async",)).replaced("limits.quotas", ())
    for key in ("limits.hourly_budget", "limits.budget", "limits.deadline", "limits.max_gpus", "floors.max_staleness"):
        request = request.replaced(key, None)
    for key in ("group_size", "samples_per_update", "informative_groups", "update_precision"):
        request = request.replaced(f"floors.{key}", None)
    return request


@pytest.mark.parametrize("mixes", [False, True])
def test_search_and_solvers_find_what_enumeration_finds(mixes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "FEW", 0)  # few pools: compare them all the same
    monkeypatch.setattr(mixed_search, "MANY", 0)
    solved = 0
    for seed in range(3000, 3014 if mixes else 3024):
        problem = growing_problem(seed, mixes)
        problem = replace(problem, request=_open(problem.request))
        best = exhaustive(problem)
        for backend in ("pulp", "ortools") if seed % 4 == 0 else ("pulp",):
            plan = cheapest(problem, backend)
            assert (plan.cost is None) == (best is None), (seed, backend)
            if best is not None and plan.cost is not None:
                assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), (seed, backend, best.column)
                solved += 1
    assert solved >= 14
