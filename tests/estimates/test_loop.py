"""What stands round the stages: synchronisation, steps, checkpoints, error bands."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import (
    GENERATIONS,
    checkpoint_seconds,
    colocated_fixed_s,
    colocated_swap_s,
    disaggregated_fixed_s,
    loop_factor,
    quantile,
    step_overhead_seconds,
    step_seconds,
    switch_seconds,
    sync_seconds,
)
from tests.estimates.parts import calibration, shape

CAL = calibration()


def test_weights_cross_at_the_measured_rate_or_the_slower_link() -> None:
    assert sync_seconds(90e9, "colocated", CAL) == pytest.approx(90 / 20)
    assert sync_seconds(90e9, "async", CAL) == pytest.approx(1 + 90 / 45)
    assert sync_seconds(90e9, "disaggregated", CAL, 5.0) == pytest.approx(1 + 90 / 5)
    assert np.isinf(sync_seconds(90e9, "async", CAL, 0.0))
    assert switch_seconds("colocated", CAL) == 16.0
    assert switch_seconds("async", CAL) == 0.0


def test_fixed_seconds_of_a_step_by_placement() -> None:
    weights = 2 * shape("Qwen3-8B").params
    assert step_overhead_seconds(CAL) == 5.0
    assert colocated_fixed_s(shape("Qwen3-8B"), CAL) == pytest.approx(21 + weights / 20e9)
    assert disaggregated_fixed_s(shape("Qwen3-8B"), CAL) == pytest.approx(6 + weights / 45e9)
    swap = colocated_swap_s(shape("Qwen3-8B"), np.array([8.0, 16.0]), CAL)
    assert swap == pytest.approx(14 * shape("Qwen3-8B").params / np.array([8, 16]) / 10e9)


def test_synchronous_steps_add_up_and_asynchronous_ones_overlap() -> None:
    assert step_seconds("colocated", 40.0, 60.0, 5.0, CAL) == 105.0
    assert step_seconds("disaggregated", 40.0, 60.0, 5.0, CAL) == 105.0
    assert step_seconds("async", 40.0, 60.0, 5.0, CAL) == pytest.approx(60 + 0.11 * 40 + 5)


def test_checkpoints_take_their_bytes_over_the_storage() -> None:
    assert checkpoint_seconds(112e9, 2.0) == pytest.approx(56.0)
    assert np.isinf(checkpoint_seconds(112e9, 0.0))


def test_quantiles_are_log_normal() -> None:
    assert quantile(0.3, 0.5) == pytest.approx(1.0)
    assert quantile(0.3, 0.9) == pytest.approx(np.exp(1.2815515655 * 0.3))
    drawn = np.exp(0.3 * np.random.default_rng(0).standard_normal(200_000))
    assert (drawn <= quantile(0.3, 0.9)).mean() == pytest.approx(0.9, abs=0.005)


def test_loops_lag_behind_training_records_on_blackwell_only() -> None:
    factors = dict(zip(GENERATIONS, loop_factor(np.arange(len(GENERATIONS)), CAL), strict=True))
    ceilings = CAL.training["gemm_ceiling"]
    assert factors["Blackwell"] == pytest.approx(ceilings["Blackwell"] / ceilings["Hopper"] / 0.70, rel=0.01)
    assert {name for name, factor in factors.items() if factor != 1.0} == {"Blackwell"}
