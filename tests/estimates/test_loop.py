"""What stands round the stages: synchronisation, steps, checkpoints, error bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlopt.estimates import (
    GENERATIONS,
    Loop,
    Stages,
    colocated_fixed_s,
    colocated_swap_s,
    disaggregated_fixed_s,
    framework_names,
    lagging_sample,
    loop_factors,
    loop_seconds,
    quantile,
    sample_factor,
    step_overhead_seconds,
    step_seconds,
    switch_seconds,
    sync_seconds,
)
from rlopt.estimates.loop.step import pressure_factor
from rlopt.estimates.loop.transfer import framework_cell
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
    share = CAL.value("rl", "exposed_share")
    assert step_seconds(40.0, 60.0, 5.0, False, share) == 105.0
    both = step_seconds(np.array([40.0, 40.0]), 60.0, 5.0, np.array([False, True]), share)
    assert both == pytest.approx([105.0, 60 + share * 40 + 5])
    assert step_seconds(40.0, 60.0, 5.0, True, share) == pytest.approx(60 + share * 40 + 5)


def test_quantiles_are_log_normal() -> None:
    assert quantile(0.3, 0.5) == pytest.approx(1.0)
    assert quantile(0.3, 0.9) == pytest.approx(np.exp(1.2815515655 * 0.3))
    drawn = np.exp(0.3 * np.random.default_rng(0).standard_normal(200_000))
    assert (drawn <= quantile(0.3, 0.9)).mean() == pytest.approx(0.9, abs=0.005)


HOPPER = GENERATIONS.index("Hopper")


def loop(placement: str = "colocated", framework: str = "nemo-rl", **fields: Any) -> Loop:
    one = {
        "framework": framework_names(CAL).index(framework),
        "placement": placement,
        "generation": np.array([HOPPER]),
        "moe": False,
        "images": False,
        "gpus": np.array([16.0]),
        "memory_gib": np.array([80.0]),
        "params": 8e9,
    }
    return Loop(**(one | fields))


STAGES = Stages(np.array([30.0]), np.array([20.0]), np.array([60.0]), np.array([40.0]))


def test_a_synchronous_step_is_the_sum_of_its_parts() -> None:
    time = loop_seconds(STAGES, loop(), CAL)
    parts = (time.update, time.score, time.sample, time.sync, time.switch, time.overhead)
    assert time.step == pytest.approx(sum(parts))
    assert all((part >= 0.0).all() for part in parts)
    train, score = loop_factors(framework_names(CAL).index("nemo-rl"), np.array([HOPPER]), False, CAL)
    assert time.update == pytest.approx(30.0 * train)
    assert time.score == pytest.approx(20.0 * score)
    apart = loop_seconds(STAGES, loop("disaggregated"), CAL)
    assert apart.switch == 0.0
    assert apart.step == pytest.approx(apart.update + apart.score + apart.sample + apart.sync + apart.overhead)


def test_an_asynchronous_step_is_its_longer_side() -> None:
    time = loop_seconds(STAGES, loop("async", lag=1.0), CAL)
    sides = time.update + time.score, time.sample
    exposed = CAL.value("rl", "exposed_share") * np.minimum(*sides)
    assert time.step == pytest.approx(np.maximum(*sides) + exposed + time.sync + time.overhead)


def test_a_lag_hides_the_longest_responses() -> None:
    def sampled(lag: float) -> float:
        return float(loop_seconds(STAGES, loop("async", lag=lag), CAL).sample[0])

    everything = float(loop_seconds(STAGES, loop(), CAL).sample[0])
    assert sampled(0.0) == pytest.approx(everything)
    assert sampled(50.0) == pytest.approx(everything * 40.0 / 60.0)
    assert everything > sampled(0.5) > sampled(1.0) > sampled(4.0)


def test_what_does_not_fit_stays_infinite_in_a_lag() -> None:
    never = lagging_sample(np.array([np.inf, np.inf]), np.array([np.inf, 5.0]), 1.0, 0, CAL)
    assert list(never) == [np.inf, 5.0]


def test_narrow_slices_of_experts_sample_slower() -> None:
    code, generation = framework_names(CAL).index("nemo-rl"), np.array([HOPPER])
    dense = sample_factor(code, generation, CAL)
    width = CAL.value("rl", "narrow_expert")
    assert sample_factor(code, generation, CAL, np.array([width])) == pytest.approx(2.0 * dense)
    assert sample_factor(code, generation, CAL, np.array([1e12])) == pytest.approx(dense)


def test_little_room_beside_the_training_state_costs_only_where_measured() -> None:
    full = {"params": 40e9, "gpus": np.array([8.0])}
    assert pressure_factor(loop(**full), CAL) == 1.0
    share = framework_cell("deepspeed-chat-2023", "pressure", CAL)
    state = CAL.value("rl", "state_bytes") * 40e9 / (8 * 80 * 2**30)
    found = pressure_factor(loop(framework="deepspeed-chat-2023", **full), CAL)
    assert found == pytest.approx(1.0 + share * state)


def test_room_is_a_matter_of_sampling_alone() -> None:
    roomy, tight = (loop(framework="deepspeed-chat-2023", params=8e9, gpus=np.array([g])) for g in (64.0, 8.0))
    first, second = loop_seconds(STAGES, roomy, CAL), loop_seconds(STAGES, tight, CAL)
    assert second.sample > first.sample
    assert second.update == first.update


def test_images_cost_their_own_seconds() -> None:
    seen = loop_seconds(STAGES, loop(framework="easyr1", images=True), CAL).step
    blind = loop_seconds(STAGES, loop(framework="easyr1"), CAL).step
    assert seen - blind == pytest.approx(framework_cell("easyr1", "images_s", CAL))


def test_a_framework_lacks_nothing() -> None:
    for name in framework_names(CAL):
        for key in ("train", "sample", "pressure", "tail", "step_s", "images_s", "switch_s", "swap", "match"):
            assert framework_cell(name, key, CAL) is not None, (name, key)
        for key in ("colocated", "apart"):
            assert framework_cell(name, key, CAL) in CAL.rl["transports"], (name, key)
        assert framework_cell(name, "serves", CAL) in (None, *CAL.generation["engines"]), name


def test_one_call_meets_many_loops() -> None:
    names = framework_names(CAL)
    many = Loop(
        framework=np.arange(len(names)),
        placement=np.array(["colocated", "disaggregated", "async"] * len(names))[: len(names)],
        generation=np.full(len(names), HOPPER),
        moe=np.arange(len(names)) % 2 == 0,
        images=np.zeros(len(names), dtype=bool),
        gpus=np.full(len(names), 16.0),
        memory_gib=np.full(len(names), 80.0),
        params=np.full(len(names), 8e9),
    )
    one = np.ones(len(names))
    time = loop_seconds(Stages(30.0 * one, 20.0 * one, 60.0 * one, 40.0 * one), many, CAL)
    for place, name in enumerate(names):
        alone = loop(str(many.placement[place]), name, moe=bool(many.moe[place]))
        assert time.step[place] == pytest.approx(float(loop_seconds(STAGES, alone, CAL).step[0]))
    assert (time.step > 0.0).all()
    assert np.isfinite(time.step).all()
