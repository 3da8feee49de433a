"""Decoding and its tail: bounds of the hardware, brute-force integration, limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.estimates import (
    CutLognormal,
    GenerationTime,
    ModelShape,
    generation_seconds,
    kv_gib_per_token,
    kv_room_gib,
    rollout_other_gib,
    rollout_weights_gib,
)
from rlopt.estimates.sampling.decode import decode_step, prefill_seconds, touched_experts
from rlopt.estimates.sampling.rates import Rates
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch, running_sequences, tail_nodes
from rlopt.estimates.sampling.serving import Serving, engine_rows
from rlopt.units import GIB
from tests.estimates.parts import calibration, hardware, shape

CAL = calibration()
H100 = hardware()
ONE = np.array([1])


def sampled(
    name: str = "Qwen3-8B",
    tp: int = 1,
    room: float = 40.0,
    prompt: tuple[float, float] = (160.0, 512.0),
    response: tuple[float, float] = (900.0, 3584.0),
    each: float = 128.0,
    total: float = 2048.0,
    tail: bool = True,
    precision: str = "bf16",
    device: str = "H100-SXM",
    in_flight: float = 1.0,
    engine: str | None = None,
    p99: tuple[float | None, float | None] = (None, None),
) -> GenerationTime:
    machine = hardware(device)
    replica = Replica(shape(name), machine, np.array([tp]), precision, Serving.planned(machine, CAL, engine), CAL)
    batch = Batch(prompt, response, np.array([each]), total, 32, p99)
    return generation_seconds(replica, np.array([room]), batch, tail, in_flight)


@pytest.mark.parametrize("engine", sorted(CAL.generation["engines"]))
@pytest.mark.parametrize("device", ["H100-SXM", "B200", "A100-80GB", "L40S", "MI300X"])
def test_decode_never_beats_weights_and_cache_over_the_nameplate_bandwidth(engine: str, device: str) -> None:
    llama, machine = shape("Meta-Llama-3.1-8B"), hardware(device)
    step = decode_step(Replica(llama, machine, ONE, "bf16", Serving.planned(machine, CAL, engine), CAL))
    for batch in (1.0, 64.0, 1024.0):
        read = 2 * (llama.dense + llama.head) + batch * 4096 * 131072
        assert step.seconds(np.array([batch]), 4096.0)[0] > read / (machine.hbm_gb_s[0] * 1e9)
        assert step.seconds(np.array([batch]), 4096.0)[0] > 2 * llama.active * batch / machine.peak("bf16")[0]


@pytest.mark.parametrize("precision", ["bf16", "fp8", "int4", "int8"])
def test_prefill_stays_below_the_nameplate_flops(precision: str) -> None:
    deepseek = shape("DeepSeek-V3")
    found = prefill_seconds(Replica.planned(deepseek, H100, np.array([8]), precision, CAL), 2048.0)[0]
    assert found > 2 * (deepseek.dense_active + deepseek.experts_active) * 2048 / (8 * H100.peak(precision)[0])


def test_small_batches_read_few_experts_and_large_ones_all() -> None:
    deepseek = shape("DeepSeek-V3")  # 8 of 256
    found = touched_experts(deepseek, np.array([1.0, 2.0, 1e6]))
    assert found == pytest.approx([8.0, 8.0 + 8.0 * (1 - 8 / 256), 256.0])


def test_halving_the_weights_saves_their_reading() -> None:
    def fixed(precision: str) -> float:
        return float(decode_step(Replica.planned(llama, H100, np.array([4]), precision, CAL)).fixed[0])

    llama = shape("Meta-Llama-3.1-70B")
    seconds = Rates.of(Replica.planned(llama, H100, np.array([4]), "bf16", CAL)).weight[0]  # per byte
    assert fixed("bf16") - fixed("fp8") == pytest.approx(llama.dense / 4 * seconds, rel=1e-6)
    assert 1.0 / seconds < H100.hbm_gb_s[0] * 1e9
    assert fixed("int4") < fixed("fp8")


def test_an_unknown_peak_is_nan_even_where_it_would_fit() -> None:
    assert np.isnan(sampled(precision="fp8", device="A100-80GB").seconds[0])
    assert np.isnan(sampled(precision="fp8", device="H20").seconds[0])
    assert np.isfinite(sampled(precision="fp4", device="A100-80GB").seconds[0])  # weight-only kernels
    assert np.isfinite(sampled(precision="int8", device="V100-32GB").seconds[0])


def test_tensor_parallel_beyond_the_node_takes_the_cross_node_share() -> None:
    deepseek = shape("DeepSeek-V3")

    def slope(tp: int, gbps: float | None) -> float:
        return float(decode_step(Replica.planned(deepseek, hardware(gbps=gbps), np.array([tp]), "bf16", CAL)).slope[0])

    assert slope(16, 3200.0) > slope(8, 3200.0) / 2  # more ranks, a fifth of the rate
    assert np.isinf(slope(16, None))
    assert np.isfinite(slope(8, None))
    rack = decode_step(Replica.planned(deepseek, hardware("GB200", 4, "nvl72", None), np.array([16]), "bf16", CAL))
    assert np.isfinite(rack.slope[0])  # sixteen GPUs of one rack share its fast link


def test_wide_experts_dispatch_tokens() -> None:
    narrow, wide = (decode_step(Replica.planned(shape("DeepSeek-V3"), H100, ONE, "fp8", CAL, ep)) for ep in (8, 32))
    assert wide.expert_read[0] == pytest.approx(narrow.expert_read[0] / 4)
    assert wide.cache[0] == pytest.approx(narrow.cache[0] / 4)  # attention runs data-parallel


def test_the_tail_matches_brute_force_within_its_stated_error() -> None:
    response, total, running = (900.0, 3584.0), 2048.0, 96.0
    step = decode_step(Replica.planned(shape("Qwen3-8B"), H100, ONE, "bf16", CAL))
    lengths = CutLognormal.of(*response)
    last = lengths.expected_longest(total)
    grid = (np.arange(20_000) + 0.5) * last / 20_000
    alive = np.array([lengths.survival(float(x)) for x in grid])
    exact = sum(
        float(step.seconds(np.array([max(running * s, 1.0)]), 160.0 + x)[0]) for x, s in zip(grid, alive, strict=True)
    ) * last / 20_000  # fmt: skip
    nodes = tail_nodes(response[0], response[1], total, 0.8)
    found = sum(w * float(step.seconds(np.array([max(running * s, 1.0)]), 160.0 + x)[0]) for x, s, w in nodes)
    assert found == pytest.approx(exact, rel=0.033)
    assert sum(w for *_, w in nodes) == pytest.approx(last)
    assert sum(s * w for _, s, w in nodes) == pytest.approx(response[0], rel=0.033)  # the survival's integral


def test_one_length_for_all_has_no_tail() -> None:
    same = {"response": (900.0, 900.0), "prompt": (160.0, 160.0)}
    waits, steady = sampled(**same), sampled(**same, tail=False)
    assert waits.seconds[0] == pytest.approx(steady.seconds[0], rel=1e-3)
    assert waits.utilization[0] == pytest.approx(1.0, rel=1e-3)


def test_waiting_for_the_longest_costs_less_than_all_being_longest() -> None:
    mean, tail = sampled(tail=False).seconds[0], sampled().seconds[0]
    longest = sampled(response=(3584.0, 3584.0)).seconds[0]
    assert mean < tail < longest
    assert sampled().utilization[0] < 0.8


def test_more_samples_lengths_and_less_room_take_longer() -> None:
    base = sampled().seconds[0]
    assert sampled(each=256.0).seconds[0] > base
    assert sampled(response=(1200.0, 3584.0)).seconds[0] > base
    assert sampled(room=4.0).seconds[0] > base
    assert sampled(tp=2).seconds[0] < base
    assert sampled("Meta-Llama-3.1-70B", tp=8).seconds[0] > sampled("Qwen3-8B", tp=8).seconds[0]


def test_a_longest_sequence_that_does_not_fit_is_infinite() -> None:
    per_token = shape("Qwen3-8B").kv_values_per_token * 2 / GIB
    assert np.isinf(sampled(room=0.99 * 4096 * per_token).seconds[0])
    assert np.isfinite(sampled(room=1.01 * 4096 * per_token).seconds[0])
    assert np.isinf(sampled(room=-1.0).seconds[0])


def test_sequences_run_at_once_within_room_cap_and_what_is_asked() -> None:
    def running(room: float, asked: float, device: str = "H100-SXM", name: str = "Qwen3-8B") -> float:
        batch = Batch((160.0, 512.0), (900.0, 3584.0), np.array([asked]), asked, 32)
        replica = Replica.planned(shape(name), hardware(device), ONE, "bf16", CAL)
        found = running_sequences(replica, np.array([room]), batch, np.array([asked]))
        return float(found[0][0])

    per_token = shape("Qwen3-8B").kv_values_per_token * 2 / GIB
    reserve = 160 / 8 + CAL.value("generation", "kv_reserve") * 900  # eight samples share a prompt's blocks
    assert running(40.0, 1e6) == np.floor(40.0 / (per_token * reserve))
    assert running(40.0, 7.0) == 7.0
    assert running(1e5, 1e6) == 1024.0
    assert running(1e5, 1e6, "A100-80GB") == running(1e5, 1e6, "L40S") == 256.0


def test_deeper_batches_of_asynchronous_engines_are_not_slower_per_sample() -> None:
    one, two = (sampled(tail=False, each=16.0, in_flight=n) for n in (1.0, 2.0))
    assert two.running[0] == 2 * one.running[0]
    assert two.seconds[0] < one.seconds[0]


def test_engines_are_chosen_by_generation_or_by_name() -> None:
    names = list(CAL.generation["engines"])
    assert names[engine_rows(H100, None, CAL)[0]] == "vllm"
    assert names[engine_rows(hardware("MI300X"), None, CAL)[0]] == "vllm-rocm"
    assert names[engine_rows(H100, "sglang", CAL)[0]] == "sglang"
    assert sampled(engine="deepspeed").seconds[0] > sampled().seconds[0]


def test_cache_room_is_what_the_engine_is_given_less_what_it_holds() -> None:
    alone = kv_room_gib(np.array([80.0]), np.array([15.0]), 0.0, False, CAL)[0]
    beside = kv_room_gib(np.array([80.0]), np.array([15.0]), 0.0, True, CAL)[0]
    assert alone == pytest.approx(0.9 * 80 - 15 - rollout_other_gib(CAL))
    assert beside == pytest.approx(0.7 * 80 - 15 - rollout_other_gib(CAL))
    crowded = kv_room_gib(np.array([80.0]), np.array([15.0]), 50.0, True, CAL)[0]
    assert crowded == pytest.approx(80 - 1.06 * 50 - 15 - rollout_other_gib(CAL))


MODELS = ("Qwen3-8B", "Meta-Llama-3.1-70B", "DeepSeek-V3", "gpt-oss-120b", "Qwen3-30B-A3B")


@given(
    name=st.sampled_from(MODELS),
    tp=st.sampled_from([1, 2, 4, 8]),
    each=st.floats(1.0, 1000.0),
    precision=st.sampled_from(["bf16", "fp8", "int4"]),
    faster=st.floats(1.0, 3.0),
)
def test_more_bandwidth_is_never_slower(name: str, tp: int, each: float, precision: str, faster: float) -> None:
    base = hardware()
    better = replace(base, hbm_gb_s=base.hbm_gb_s * faster, link_gb_s=base.link_gb_s * faster)
    batch = Batch((160.0, 512.0), (900.0, 3584.0), np.array([each]), 2048.0, 8)
    slow, fast = (
        generation_seconds(
            Replica.planned(shape(name), machine, np.array([tp]), precision, CAL), np.array([40.0]), batch, True
        ).seconds[0]
        for machine in (base, better)
    )
    assert 0.0 < fast <= slow * (1.0 + 1e-12)


@given(name=st.sampled_from(MODELS), precision=st.sampled_from(["bf16", "fp8", "fp4", "int4"]))
def test_more_ranks_never_hold_more_each(name: str, precision: str) -> None:
    ways = np.array([1, 2, 4, 8, 16])
    assert np.all(np.diff(rollout_weights_gib(shape(name), precision, ways, 1, CAL)) < 0.0)
    assert np.all(np.diff(kv_gib_per_token(shape(name), ways)) <= 0.0)
    assert np.all(np.diff(rollout_weights_gib(shape(name), precision, np.ones(5), ways, CAL)) <= 0.0)


def test_steady_sampling_is_linear_in_the_samples() -> None:
    four, eight = (sampled(tail=False, each=n, room=4.0).seconds[0] for n in (400.0, 800.0))
    assert eight == pytest.approx(2 * four)


def test_many_models_in_one_call_are_those_of_many_calls() -> None:
    shapes = [shape(name) for name in MODELS]
    stacked, rows = ModelShape.stack(shapes, range(len(MODELS))), len(MODELS)
    precisions = np.array(["bf16", "fp8", "fp8", "fp4", "int4"])
    tp, room, each = np.array([1, 4, 8, 2, 1]), np.full(rows, 60.0), np.full(rows, 64.0)
    lengths = (160.0, 512.0), (900.0, 3584.0)
    many = Replica.planned(stacked, hardware(rows=rows), tp, precisions, CAL)
    together = generation_seconds(many, room, Batch(*lengths, each, 2048.0, 8), True).seconds
    for row, one in enumerate(shapes):
        single = Replica.planned(one, H100, tp[row : row + 1], str(precisions[row]), CAL)
        alone = generation_seconds(single, room[:1], Batch(*lengths, each[:1], 2048.0, 8), True).seconds
        assert together[row] == pytest.approx(alone[0])


def test_a_99th_percentile_shapes_the_tail() -> None:
    short, longer, default = (sampled(p99=(None, p99)).seconds[0] for p99 in (1200.0, 2000.0, None))
    assert short < longer < default  # whose 99th percentile is the cut itself
