"""Where nothing but the interval between saves is free, the program finds Young's and Daly's within one grid step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates.loop.failures import daly_interval, young_interval
from rlopt.problem import Checkpoint, Problem
from rlopt.problem.tariff import Tier, TierTable
from rlopt.studies.cheapest import cheapest
from tests.costs.hand import GB, TARIFFS, hand_problem, pools, request

FREE = Tier("free", "object", 0.0, 0.0, 0.0, 0.0, 1e6, 0.0, "hand", "2026-11-01")
"""Costs nothing and reads at once: only the time that a save blocks and the work that a stop loses are left."""
STEP_SECONDS = 60.0
GRID = tuple(range(1, 200)) + tuple(range(200, 2001, 20))


def only_the_interval(save_seconds: float, failures_per_hour: float, grid: tuple[int, ...] = GRID) -> Problem:
    """One pool, one tier, no retention, no other cost of a save."""
    asked = request(
        choices={"group_size": [8], "placements": ["colocated"], "mixed_pools": False},
        floors={},
        costs={"keep_for": {"checkpoints": 0.0, "logs": 0.0, "dataset": 0.0}},
    )
    tariffs = tuple(replace(tariff, tiers=(FREE,)) for tariff in TARIFFS)
    one = pools((0, 8, 2, 0, STEP_SECONDS - 10.0, STEP_SECONDS - 10.0, failures_per_hour))
    problem = hand_problem(asked, colocated=one, tariffs=tariffs, tiers=TierTable.of(tariffs))
    # 2 GPUs copy 1 GB/s each, and the program adds 10 s to every step
    size = save_seconds * 2.0 * GB
    return replace(problem, checkpoint=Checkpoint(size, size), intervals={(0, 8): grid, (0, 16): grid})


def chosen_hours(problem: Problem) -> float:
    plan = cheapest(problem)
    assert plan.decisions is not None
    assert plan.time is not None
    return plan.decisions.checkpoint.interval_steps * plan.time.step_seconds / 3600.0


@pytest.mark.parametrize("save_seconds", [1.0, 5.0, 30.0, 120.0])
@pytest.mark.parametrize("failures_per_hour", [0.0005, 0.005, 0.05, 0.2])
def test_the_interval_is_youngs_and_dalys(save_seconds: float, failures_per_hour: float) -> None:
    problem = only_the_interval(save_seconds, failures_per_hour)
    hours = chosen_hours(problem)
    grid = np.array(GRID) * STEP_SECONDS / 3600.0
    at = int(np.argmin(np.abs(grid - hours)))
    for theory in (young_interval, daly_interval):
        wanted = float(theory(save_seconds / 3600.0, failures_per_hour))
        around = (grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)])
        spread = abs(float(young_interval(save_seconds / 3600.0, failures_per_hour)) - wanted)
        # the two theories differ by about a save; the program's own time is of first order, as Young's
        assert around[0] - spread - save_seconds / 3600.0 <= min(max(wanted, grid[0]), grid[-1])
        assert min(max(wanted, grid[0]), grid[-1]) <= around[1] + spread + save_seconds / 3600.0


def test_more_failures_save_more_often() -> None:
    hours = [chosen_hours(only_the_interval(10.0, rate)) for rate in (0.001, 0.01, 0.1)]
    assert hours == sorted(hours, reverse=True)
    assert hours[0] > hours[-1]


def test_a_run_that_would_not_advance_is_refused_with_the_reason() -> None:
    plan = cheapest(only_the_interval(10.0, 8.0, (1000, 2000)))
    assert plan.status == "infeasible"
    assert any("no progress" in reason for reason in plan.solver.excluded), plan.solver.excluded
