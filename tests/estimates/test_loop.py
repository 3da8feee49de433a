"""What stands round the stages: synchronisation, steps, checkpoints, error bands."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import (
    checkpoint_seconds,
    colocated_fixed_s,
    colocated_swap_s,
    disaggregated_fixed_s,
    quantile,
    step_overhead_seconds,
    step_seconds,
    switch_seconds,
    sync_seconds,
)
from rlopt.estimates.transfer import framework_cell
from tests.estimates.parts import calibration, shape

CAL = calibration()


def transport(framework: str, placement: str) -> tuple[float, float]:
    row = CAL.rl["transports"][framework_cell(framework, placement, CAL)]
    return float(row["fixed_s"]), float(row["gb_s"])


def test_weights_cross_by_the_frameworks_transport_or_the_slower_link() -> None:
    (inside, inside_gb_s), (apart, apart_gb_s) = transport("nemo-rl", "colocated"), transport("nemo-rl", "apart")
    assert sync_seconds(90e9, "colocated", CAL) == pytest.approx(inside + 90 / inside_gb_s)
    assert sync_seconds(90e9, "async", CAL) == pytest.approx(apart + 90 / apart_gb_s)
    assert sync_seconds(90e9, "disaggregated", CAL, 2.0) == pytest.approx(apart + 90 / 2)
    assert np.isinf(sync_seconds(90e9, "async", CAL, 0.0))
    assert switch_seconds("colocated", CAL) == framework_cell("nemo-rl", "switch_s", CAL)
    assert switch_seconds("async", CAL) == 0.0


def test_fixed_seconds_of_a_step_by_placement() -> None:
    weights = 2 * shape("Qwen3-8B").params
    switch, driver = switch_seconds("colocated", CAL), step_overhead_seconds(CAL)
    assert colocated_fixed_s(shape("Qwen3-8B"), CAL) == pytest.approx(
        switch + driver + sync_seconds(weights, "colocated", CAL)
    )
    assert disaggregated_fixed_s(shape("Qwen3-8B"), CAL) == pytest.approx(
        driver + sync_seconds(weights, "disaggregated", CAL)
    )
    swap = colocated_swap_s(shape("Qwen3-8B"), np.array([8.0, 16.0]), CAL)
    assert swap == pytest.approx(14 * shape("Qwen3-8B").params / np.array([8, 16]) / 10e9)


def test_synchronous_steps_add_up_and_asynchronous_ones_overlap() -> None:
    assert step_seconds("colocated", 40.0, 60.0, 5.0, CAL) == 105.0
    assert step_seconds("disaggregated", 40.0, 60.0, 5.0, CAL) == 105.0
    assert step_seconds("async", 40.0, 60.0, 5.0, CAL) == pytest.approx(60 + CAL.value("rl", "exposed_share") * 40 + 5)


def test_checkpoints_take_their_bytes_over_the_storage() -> None:
    assert checkpoint_seconds(112e9, 2.0) == pytest.approx(56.0)
    assert np.isinf(checkpoint_seconds(112e9, 0.0))


def test_quantiles_are_log_normal() -> None:
    assert quantile(0.3, 0.5) == pytest.approx(1.0)
    assert quantile(0.3, 0.9) == pytest.approx(np.exp(1.2815515655 * 0.3))
    drawn = np.exp(0.3 * np.random.default_rng(0).standard_normal(200_000))
    assert (drawn <= quantile(0.3, 0.9)).mean() == pytest.approx(0.9, abs=0.005)


