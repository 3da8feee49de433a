"""Single terms of decoding by hand, with constants pinned here: a fit moves none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlopt.estimates import generation_seconds
from rlopt.estimates.sampling.decode import decode_step, fullest_rank, prefill_seconds
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.responses import Batch
from rlopt.estimates.sampling.serving import Serving
from rlopt.facts.calibration import Calibration
from tests.estimates.parts import calibration, hardware, shape

H100 = hardware()
HBM, PEAK = H100.hbm_gb_s[0] * 1e9, 989e12
ONE = np.array([1])
ENGINE = {
    "device_factor": 0.97, "kv_factor": 1.1, "moe_factor": 1.0, "prefill_factor": 0.95, "flops_factor": 1.2,
    "group_factor": 0.05, "step_s": 3.0e-4, "layer_s": 4.0e-5, "sequence_s": 2.0e-5, "request_s": 4.0e-3,
    "allreduce_factor": 1.0, "dispatch_pause_factor": 1.0, "routing_spread": 1.0, "moe_prefill_factor": 1.0,
}  # fmt: skip
PINNED = {
    ("weight_bandwidth", "Hopper"): 0.66, ("kv_bandwidth", "Hopper"): 0.72, ("flops_16", "Hopper"): 0.45,
    ("moe_bandwidth", "Hopper"): 0.7, ("moe_flops", "Hopper"): 0.3, ("layer_moe",): 0.9, ("layer_mla",): 0.4,
    ("activation_bytes",): 48.0, ("prefill_attention",): 0.5, ("link_share",): 0.8, ("cross_node_share",): 0.2,
    ("dispatch_factor",): 3.7, ("effects", "device", "H100-SXM"): 1.0, ("most_of_nameplate",): 0.92,
    ("effects", "engine_generation", "vllm", "Hopper"): 1.0, ("rl_factor",): 1.0, ("launch_factor", "Hopper"): 1.0,
}  # fmt: skip


def pinned() -> Calibration:
    values: dict[tuple[Any, ...], float] = {("generation", *path): value for path, value in PINNED.items()}
    values |= {("generation", "engines", "vllm", key): value for key, value in ENGINE.items()}
    return calibration().replaced(values)


CAL = pinned()


def test_a_decode_step_reads_layers_and_head_and_launches_its_kernels() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    step = decode_step(Replica.planned(llama, H100, ONE, "bf16", CAL))
    head = 128256 * 4096
    assert step.fixed[0] == pytest.approx(2 * (llama.dense + head) / (HBM * 0.66 / 0.97) + 3.0e-4 + 32 * 4.0e-5)
    compute = 2 * (llama.dense + head) / (PEAK * 0.45 / (0.97 * 1.2))
    assert step.slope[0] == pytest.approx(compute + 48 * 32 * 4096 / (HBM * 0.92) + 2.0e-5)
    shared = 1 + 0.05 * (32 / 8 - 1)  # four query heads read what one key-value head holds
    assert step.cache[0] == pytest.approx(131072 / (HBM * 0.72 / (0.97 * 1.1 * shared)))


def test_an_eight_bit_cache_is_read_in_half_the_time() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    sixteen, eight = (
        decode_step(Replica(llama, H100, ONE, "bf16", Serving.planned(H100, CAL, kv_bytes=size), CAL)).cache[0]
        for size in (2.0, 1.0)
    )
    assert eight == pytest.approx(sixteen / 2)


def test_dispatched_tokens_are_those_of_one_attention_group() -> None:
    deepseek = shape("DeepSeek-V3")
    narrow, wide = (decode_step(Replica.planned(deepseek, H100, ONE, "bf16", CAL, ep)).slope[0] for ep in (8, 16))
    nic = 0.70 * 50e9
    link = min(450e9 * 0.8 * 0.2, 8 * nic)
    inside, across = (58 * 3.7 * 8 * 7168 * 3 / ep / rate for ep, rate in ((8, 450e9 * 0.8), (16, link)))
    assert wide - across == pytest.approx((narrow - inside) / 2)


def test_the_fullest_rank_has_more_experts_than_the_average_and_never_less() -> None:
    touched = np.array([8.0, 64.0, 256.0])
    assert fullest_rank(touched, 1.0, 0.5) == pytest.approx(touched)
    eight = fullest_rank(touched, 8.0, 0.5)
    assert eight == pytest.approx(touched + 0.5 * np.sqrt(2 * touched * 8 * np.log(8)))
    assert np.all(np.diff(eight / touched) < 0)  # large batches spread evenly


def test_samples_of_one_prompt_share_its_reading() -> None:
    qwen = Replica.planned(shape("Qwen3-8B"), H100, ONE, "bf16", CAL)

    def seconds(group: int) -> float:
        batch = Batch((1000.0, 1000.0), (100.0, 100.0), np.array([16.0]), 16.0, group)
        found = generation_seconds(qwen, np.array([60.0]), batch, True)
        return float(found.seconds[0])

    reading = prefill_seconds(qwen, 1000.0)[0]
    assert seconds(1) - seconds(4) == pytest.approx(12 * reading)
    assert seconds(8) == seconds(16)  # sharing ends at eight


def test_reading_a_prompt_attends_causally_at_half_the_rate() -> None:
    qwen = shape("Qwen3-8B")
    found = prefill_seconds(Replica.planned(qwen, H100, ONE, "bf16", CAL), 1000.0)[0]
    attention = 4 * 36 * 1000 / 2 * 32 * 128 * 1000 / 0.5
    traffic = 0.95 * 48 * 36 * 4096 * 1000 / HBM
    assert found == pytest.approx((2 * qwen.dense * 1000 + attention) / (PEAK * 0.45 / 0.95) + traffic)


def test_what_was_measured_of_a_model_scales_its_device_time() -> None:
    effects = {("generation", "effects", "model", "Qwen3-8B"): 1.5}
    effects |= {("generation", "effects", "engine_model", "vllm", "Qwen3-8B"): 1.0}
    known = CAL.replaced(effects)
    plain, slower = (
        decode_step(Replica(shape("Qwen3-8B"), H100, ONE, "bf16", Serving.planned(H100, known, family=family), known))
        for family in ("", "Qwen3-8B")
    )
    launches = 3.0e-4 + 36 * 4.0e-5
    assert slower.fixed[0] - launches == pytest.approx(1.5 * (plain.fixed[0] - launches))
    assert slower.cache[0] == pytest.approx(1.5 * plain.cache[0])


def test_a_model_windowed_in_every_layer_is_served_with_its_whole_cache() -> None:
    mistral = shape("Mistral-7B-v0.1")
    step = decode_step(Replica.planned(mistral, H100, ONE, "bf16", CAL))
    assert step.kept(20_000.0) == pytest.approx(20_000.0)
    interleaved = shape("gpt-oss-20b")
    step = decode_step(Replica.planned(interleaved, H100, ONE, "bf16", CAL))
    assert step.kept(20_000.0) == pytest.approx((20_000 + 128) / 2)
