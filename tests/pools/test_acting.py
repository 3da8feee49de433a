"""Policies that act, evaluations and steps that fall back to 16 bits, as candidates take them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import colocated_fixed_s, kv_gib_per_token, sample_factor
from rlopt.estimates.lengths import CutLognormal
from rlopt.estimates.sampling.acting import Actor, Trajectories, acting_seconds, planned_serving
from rlopt.estimates.sampling.replica import Replica
from rlopt.pools.context import Context
from rlopt.pools.rows import SamplingRow
from rlopt.pools.sampling.detail import engine_detail
from rlopt.pools.sampling.engine import cache_gib, room_gib, weights_gib, worlds_gib
from rlopt.pools.sampling.mixing import as_table, mixed_bound, mixed_times
from rlopt.pools.sampling.seconds import Demand, sample, sampled, with_tools
from rlopt.pools.sampling.table import sampling_table
from rlopt.pools.training.memory import training_memory
from rlopt.pools.training.seconds import stage_seconds
from rlopt.pools.training.table import training_table
from rlopt.units import GIB
from tests.estimates.parts import layout
from tests.pools.parts import context, engine
from tests.workloads.asked import VLA

FROZEN = {"trainable": {"frozen": ["vision", "backbone"]}}
BINS = {"floors": {"value_bins": 201}}


def vla(**job: Any) -> Context:
    return context("vla", job, **BINS)


def world(**changes: Any) -> dict[str, Any]:
    return {"environment": {**VLA["environment"], **changes}}


def test_an_engine_holds_backbone_and_expert_and_the_cache_has_the_rest() -> None:
    found = vla()
    one = engine(found)
    assert weights_gib(found, one) == pytest.approx([2 * 4.74e9 / GIB])
    halved = engine(found, tp=2)
    assert weights_gib(found, halved) == pytest.approx([4.74e9 / GIB])
    parts = engine_detail(found, one, 1, 0).parts
    held = sample(found, one, Demand(1, asynchronous=False, instances=64)).running
    tokens = 128 + 3 * 256
    assert held == pytest.approx([8.0])
    assert parts["kv_cache"] == pytest.approx(float(8 * tokens * kv_gib_per_token(found.shapes["policy"], 1)))
    assert parts["kv_cache"] == pytest.approx(float(cache_gib(found, one, held)[0]))
    assert sum(parts.values()) <= 80.0


def test_inferences_are_slower_in_the_loop_and_the_world_is_not() -> None:
    found, quick = vla(), vla(**world(steps_per_second=200.0))
    acting = found.workload.acting
    assert acting is not None
    one = engine(found)
    slow, fast = (sample(c, one, Demand(1, asynchronous=False, instances=64)) for c in (found, quick))
    # 64 trajectories at once: 600 inferences of the longest, each waits 0.5 s or 0.25 s for 50 steps
    assert slow.seconds - fast.seconds == pytest.approx([600 * 0.25])
    assert slow.world_seconds == pytest.approx([600 * 0.5])
    factor = sample_factor(found.framework, one.hardware.generation, found.calibration)
    serving = planned_serving(one.hardware, found.calibration)
    backbone = Replica(found.shapes["policy"], one.hardware, one.tp, "bf16", serving, found.calibration)
    room = room_gib(found, one)
    alone = acting_seconds(
        Actor(backbone, found.shapes["action"], acting, room), Trajectories(64.0, 64.0, one.gpus), False
    ).seconds
    assert slow.seconds - 300.0 == pytest.approx(factor * (alone - 300.0))


def test_the_environment_stage_lies_within_sampling() -> None:
    found = vla()
    for asynchronous in (False, True):
        stages = {stage.stage: stage for stage in engine_detail(found, engine(found), 1, 0, asynchronous).stages}
        assert set(stages) == {"generate", "environment"}
        assert 0.0 < stages["environment"].seconds < stages["generate"].seconds


def test_the_number_of_instances_is_open_and_more_are_never_slower() -> None:
    found = vla(**world(instances=None))
    assert found.instances == (1, 2, 4, 8, 16, 32, 64)
    seconds = [float(time[0]) for _, time in sampled(found, engine(found), 1, asynchronous=False)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > 30 * seconds[-1]


def test_simulators_on_the_gpus_take_memory_of_the_pool() -> None:
    found = vla(**world(runs_on="gpu"))
    one = engine(found)
    assert worlds_gib(found, one, 64) == pytest.approx([64.0])
    parts = engine_detail(found, one, 1, 0).parts
    assert parts["buffers"] > 64.0
    assert worlds_gib(vla(), one, 64) == 0.0
    crowded = vla(**world(runs_on="gpu", memory_per_instance=9.0 * GIB))
    assert np.isinf(sample(crowded, one, Demand(1, asynchronous=False, instances=64)).seconds)


@pytest.mark.parametrize("runs_on", ["cpu", "gpu"])
def test_mixed_pools_that_act_are_never_below_their_bound(runs_on: str) -> None:
    found = context("vla", world(runs_on=runs_on, memory_per_instance=2.0 * GIB), nodes=4, **BINS)
    table = sampling_table(found)
    assert table is not None
    assert len(table) > 4
    rows = as_table([SamplingRow(row, 1, 0) for row in range(len(table))])
    first, second = (part.ravel() for part in np.meshgrid(np.arange(len(rows)), np.arange(len(rows))))
    least = mixed_bound(found, table, rows, first, second, {})
    exact = mixed_times(found, table, rows, first, second, {})
    for low, high in ((least.times.in_step, exact.times.in_step), (least.times.asynchronous, exact.times.asynchronous)):
        assert (low.median <= high.median * (1 + 1e-9)).all()
        assert (low.confident <= high.confident * (1 + 1e-9)).all()


def test_only_what_is_trained_travels_to_the_engine() -> None:
    whole, frozen = vla(), vla(**FROZEN)
    assert whole.moved.params == pytest.approx(4.74e9)
    assert frozen.moved.params == pytest.approx(0.86e9)
    head = frozen.workload.role("value").outputs
    assert head == 201
    assert frozen.state.params == pytest.approx(0.86e9 + 0.67e9 + 201 * 640)
    assert colocated_fixed_s(frozen.moved, frozen.calibration) < colocated_fixed_s(whole.moved, whole.calibration)
    text, adapters = context("grpo"), context("grpo", {"trainable": {"lora_rank": 16}})
    assert text.moved.params == adapters.moved.params == text.shapes["policy"].params  # adapters are merged


def test_frozen_parts_carry_no_optimizer_state_and_both_parts_are_there() -> None:
    at = layout()
    found = {}
    for name, job in (("frozen", FROZEN), ("full", {})):
        here = vla(**job)
        memory = training_memory(here, at, "bf16", "bf16")
        assert [stage.stage for stage in memory.stages] == ["update policy", "update value", "forward value"]
        found[name] = {stage.stage: stage for stage in memory.stages}
    frozen, full = found["frozen"], found["full"]
    value = 0.67e9 + 201 * 640
    for stage in frozen.values():
        assert stage.parts["optimizer"] == pytest.approx([12 * (0.86e9 + value) / GIB], rel=1e-6)
    for stage in full.values():
        assert stage.parts["optimizer"] == pytest.approx([12 * (4.74e9 + value) / GIB], rel=1e-6)
    for name, stage in frozen.items():
        assert stage.total() < full[name].total()
    # a frozen backbone keeps one sequence's keys and values for the expert
    shape = vla(**FROZEN).shapes["policy"]
    kept = float(kv_gib_per_token(shape, 1)) * (128 + 3 * 256)
    assert frozen["update policy"].parts["activations"] > kept
    assert frozen["update policy"].parts["weights"] > 2 * 3.88e9 / GIB


def test_degrees_of_a_pool_divide_the_heads_of_all_its_models() -> None:
    table = training_table(context("vla", FROZEN, **BINS), (0,), "bf16")
    assert table is not None
    assert set(table.layout.tp.tolist()) == {1, 2, 4}  # eight heads of the policy, four of the value model


def test_an_evaluation_is_a_batch_of_its_own_every_so_often() -> None:
    plain, asked = context("grpo"), context("grpo", {"evaluation": {"samples": 500, "every": 10}})
    one = engine(plain)
    found, alone = (sample(c, one, Demand(8, asynchronous=False)) for c in (asked, plain))
    assert found.seconds == pytest.approx(alone.seconds)
    batch = replace(plain, workload=replace(plain.workload, prompts_per_step=500, group_sizes=(1,)))
    assert found.evaluation_seconds == pytest.approx(sample(batch, one, Demand(1, asynchronous=False)).seconds / 10)
    assert found.total == pytest.approx(found.seconds + found.evaluation_seconds)
    stages = {stage.stage: stage.seconds for stage in engine_detail(asked, one, 8, 0).stages}
    assert stages == pytest.approx(
        {"generate": float(found.seconds[0]), "evaluation": float(found.evaluation_seconds[0])}
    )
    # out of step the batch waits for its longest response all the same
    assert sample(asked, one, Demand(8, asynchronous=True)).evaluation_seconds == pytest.approx(
        found.evaluation_seconds
    )


def with_calls(calls: int, seconds: float, **job: Any) -> Context:
    """Two calls of 3 s a sample on average, and at most what is said; four copies of the environment."""
    environment = {
        "kind": "tools",
        "calls_per_sample": {"mean": 2, "max": calls},
        "seconds_per_call": {"mean": 3, "max": seconds},
        "instances": 4,
    }
    return context("grpo", {"environment": environment, **job})


def test_tools_answer_evaluations_too() -> None:
    plain, asked = with_calls(2, 3), with_calls(2, 3, evaluation={"samples": 128, "every": 2})
    nothing = np.zeros(1)
    # 128 samples a step at 2 calls of 3 s by 4 machines, and half as many evaluated; every sample waits alike
    for asynchronous in (False, True):
        assert with_tools(plain, nothing, 8, 4, asynchronous) == pytest.approx([128 * 6 / 4 + 6])
        assert with_tools(asked, nothing, 8, 4, asynchronous) == pytest.approx([192 * 6 / 4 + 9])


def test_a_step_waits_for_the_sample_with_the_longest_calls() -> None:
    nothing, worked = np.zeros(1), 128 * 6 / 4
    even, uneven, wild = with_calls(2, 3), with_calls(4, 9), with_calls(16, 30)
    assert with_tools(even, nothing, 8, 4, False) == pytest.approx([worked + 6])
    # waits of 6 s on average, none longer than four calls of 9 s
    longest = CutLognormal.of(6.0, 36.0).expected_longest(128)
    assert 6.0 < longest < 36.0
    assert with_tools(uneven, nothing, 8, 4, False) == pytest.approx([worked + longest])
    later = with_tools(wild, nothing, 8, 4, False)
    assert later > with_tools(with_calls(3, 4), nothing, 8, 4, False)
    # out of step a sample delays no other
    assert with_tools(wild, nothing, 8, 4, True) == pytest.approx([worked + 6])
    stages = {
        asynchronous: engine_detail(wild, engine(wild), 8, 0, asynchronous).stages[0].seconds
        for asynchronous in (False, True)
    }
    wait = float(later[0]) - worked
    assert stages[False] == pytest.approx(
        max(float(sample(wild, engine(wild), Demand(8, False)).seconds[0]), worked) + wait
    )
    assert stages[True] == pytest.approx(max(float(sample(wild, engine(wild), Demand(8, True)).seconds[0]), worked) + 6)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(0, 40), st.floats(3.0, 60.0), st.floats(0.0, 60.0))
def test_the_longest_wait_is_between_the_mean_and_the_most(
    calls: int, more: int, seconds: float, longer: float
) -> None:
    nothing, worked = np.zeros(1), 128 * 6 / 4
    low, high = with_calls(calls, seconds), with_calls(calls + more, seconds + longer)
    waits = [float(with_tools(found, nothing, 8, 4, False)[0]) - worked for found in (low, high)]
    assert 6.0 - 1e-6 <= waits[0] <= calls * seconds + 1e-6
    # a cut farther out keeps the mean by drawing the rest together, which takes a hair off the longest
    assert waits[1] >= waits[0] * 0.99
    assert with_tools(high, nothing, 8, 4, True) == with_tools(low, nothing, 8, 4, True)


def test_a_forward_evaluation_is_a_pass_every_so_often() -> None:
    asked, twice = (context("sft", {"evaluation": {"samples": 500, "every": every}}) for every in (10, 20))
    at = layout(dp=8)
    hardware = asked.hardware
    one, half = (
        {kind: float(s[0]) for kind, _, s in stage_seconds(c, hardware, at, 1, "bf16", "bf16")} for c in (asked, twice)
    )
    assert set(one) == {"update", "evaluation"}
    assert one["evaluation"] == pytest.approx(2 * half["evaluation"])
    assert 0.0 < one["evaluation"] < one["update"]
    assert "forward policy" in {s.stage for s in training_memory(asked, at, "bf16", "bf16").stages}


@settings(max_examples=20)
@given(share=st.floats(0.01, 1.0))
def test_a_step_that_falls_back_takes_the_seconds_of_sixteen_bits(share: float) -> None:
    plain = context("grpo")
    asked = replace(plain, workload=replace(plain.workload, fallback_share=share))
    low, high = (
        sample(plain, engine(plain, precision=name), Demand(8, asynchronous=False)).seconds for name in ("fp8", "bf16")
    )
    found = sample(asked, engine(asked, precision="fp8"), Demand(8, asynchronous=False)).seconds
    assert found == pytest.approx((1 - share) * low + share * high)
    assert sample(asked, engine(asked), Demand(8, asynchronous=False)).seconds == pytest.approx(high)


def test_a_pool_that_falls_back_must_fit_in_sixteen_bits() -> None:
    model = {"policy": replace(context("opd").workload.role("teacher").model, params=14e9, active_params=14e9)}
    plain = context("grpo", models=model, device="RTX-4090", gpus_per_node=1)
    asked = replace(plain, workload=replace(plain.workload, fallback_share=0.02))
    one = engine(plain, gpus=1, precision="fp8")
    assert np.isfinite(sample(plain, one, Demand(8, asynchronous=False)).total)  # 14 of 24 GB
    assert np.isinf(sample(asked, one, Demand(8, asynchronous=False)).total)  # 28 GB do not fit


def test_memory_of_a_pool_that_falls_back_is_that_of_sixteen_bits() -> None:
    plain = context("grpo")
    asked = replace(plain, workload=replace(plain.workload, fallback_share=0.02))
    needed = [engine_detail(c, engine(c, precision="fp8"), 8, 0).parts["weights"] for c in (plain, asked)]
    sixteen = engine_detail(plain, engine(plain), 8, 0).parts["weights"]
    assert needed[0] < needed[1]
    assert needed[1] == pytest.approx(sixteen)
