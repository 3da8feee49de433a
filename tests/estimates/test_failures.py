"""Expected time with stops, against Young, Daly and a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import daly_interval, expected_hours, working_hours, young_interval

RATE, RESTART, SAVE = 0.02, 0.4, 0.05


def test_no_failures_cost_nothing_and_saves_their_share() -> None:
    assert working_hours(100.0, 2.0, 0.1) == pytest.approx(105.0)
    assert expected_hours(105.0, 0.0, 2.0, 0.5) == pytest.approx(105.0)
    assert expected_hours(100.0, 0.1, 2.0, 1.0) == pytest.approx(100.0 / 0.8)


def test_youngs_interval_minimises_the_expected_time_to_first_order() -> None:
    grid = np.linspace(0.5, 6.0, 5501)
    total = expected_hours(working_hours(100.0, grid, SAVE), RATE, grid, 0.0)
    best = grid[np.argmin(total)]
    assert young_interval(SAVE, RATE) == pytest.approx(np.sqrt(2 * SAVE / RATE))
    assert best == pytest.approx(float(young_interval(SAVE, RATE)), rel=0.03)


def test_daly_agrees_with_young_when_saving_is_cheap_and_stops_at_the_mean_time() -> None:
    assert daly_interval(1e-4, 1e-3) == pytest.approx(float(young_interval(1e-4, 1e-3)), rel=1e-3)
    assert daly_interval(0.5, 0.1) == pytest.approx(np.sqrt(2 * 0.5 * 10) * (1 + np.sqrt(0.025) / 3 + 0.025 / 9) - 0.5)
    assert daly_interval(30.0, 0.1) == pytest.approx(10.0)


def test_a_run_that_cannot_advance_is_nan() -> None:
    found = expected_hours(np.array([10.0, 10.0]), np.array([0.1, 2.0]), 1.0, 0.5)
    assert np.isfinite(found[0])
    assert np.isnan(found[1])


def test_a_simulation_of_stops_agrees_within_three_percent() -> None:
    draw, interval, useful, runs = np.random.default_rng(1), 3.0, 300.0, 400
    total = 0.0
    for _ in range(runs):
        done, left = 0.0, draw.exponential(1 / RATE)
        while done < useful:
            block = min(interval, useful - done) * (1 + SAVE / interval)
            if left >= block:
                left, done, total = left - block, done + interval, total + block
            else:  # the stop loses what the block has done, and the restart
                total += left + RESTART
                left = draw.exponential(1 / RATE)
    expected = float(expected_hours(working_hours(useful, interval, SAVE), RATE, interval, RESTART))
    assert total / runs == pytest.approx(expected, rel=0.03)
