"""Seconds of updates and scoring: closed forms and orders that must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates import Stack, Tokens, Training
from rlopt.estimates.training.compute import gemm_ceiling, gemm_rate
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.update import micro_batches
from tests.estimates.flat import (
    forward_seconds,
    micro_batch_seconds,
    optimizer_seconds,
    stage_compute_s,
    update_seconds,
)
from tests.estimates.parts import FULL, hardware, layout, shape, tokens
from tests.estimates.training_constants import constants

CAL = constants()
H100 = hardware()
MEGATRON = np.zeros(1, dtype=np.int64)


def seconds(name: str = "Qwen3-8B", sequences: float = 512.0, **degrees: int) -> float:
    return float(update_seconds(shape(name), FULL, H100, layout(**degrees), tokens(), "bf16", sequences, 1, 1, CAL)[0])


def test_time_is_linear_in_samples_epochs_and_updates() -> None:
    plain = layout(micro_batch=1)
    args = (shape("Qwen3-8B"), FULL, H100, plain, tokens(), "bf16")
    once = optimizer_seconds(shape("Qwen3-8B"), FULL, H100, plain, CAL)[0]
    one, two = (update_seconds(*args, n, 1, 1, CAL)[0] - once for n in (256.0, 512.0))
    assert two == pytest.approx(2 * one)
    assert update_seconds(*args, 256.0, 1, 3, CAL)[0] == pytest.approx(3 * (one + once))
    assert update_seconds(*args, 256.0, 4, 1, CAL)[0] == pytest.approx(one + 4 * once)


def test_no_update_is_faster_than_its_flops_at_nameplate() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    flops = 6 * llama.active * 512 * 2048
    assert seconds("Meta-Llama-3.1-8B") > flops / 989e12
    assert seconds("Meta-Llama-3.1-8B") < 3 * flops / 989e12  # and a well-filled GPU reaches a third of it


def test_full_recomputation_is_one_more_forward() -> None:
    """Forward 1, backward 2, recomputed 1; attention 1 and 2.5 backward (Dao, 2023)."""
    none, full = Passes.of(FULL, layout()), Passes.of(FULL, layout(recompute=2))
    assert (none.gemm, full.gemm - none.gemm) == (3.0, 1.0)
    assert (none.attention, full.attention - none.attention) == (3.5, 1.0)
    assert Passes.of(FULL, layout(recompute=1)).attention - none.attention == 1.0
    assert Passes.of(Training("lora", 8), layout()).gemm == 2.0  # no gradients of frozen weights
    args = (H100, layout(), tokens(), np.array([2048.0]), "bf16", Stack(MEGATRON), CAL)
    forward = stage_compute_s(shape("Qwen3-8B"), None, *args)
    kept = stage_compute_s(shape("Qwen3-8B"), FULL, *args)
    again = stage_compute_s(shape("Qwen3-8B"), FULL, H100, layout(recompute=2), *args[2:])
    assert kept / forward == pytest.approx(3.0, rel=0.05)
    assert 0.85 * forward < again - kept < forward  # the output matrix is not run again


def test_the_pipeline_bubble_is_pp_minus_1_stages() -> None:
    """(m + (pp - 1) / vp) stages per update (Narayanan et al., 2021, section 2.2)."""
    plain, split = (layout(pp=4, vp=v) for v in (1, 2))
    for rows, bubble in ((plain, 3.0), (split, 1.5)):
        count, held = micro_batches(tokens(), 16.0, 1, rows)
        stage = micro_batch_seconds(shape("Qwen3-8B"), FULL, H100, rows, tokens(), held, "bf16", CAL)
        once = optimizer_seconds(shape("Qwen3-8B"), FULL, H100, rows, CAL)
        found = update_seconds(shape("Qwen3-8B"), FULL, H100, rows, tokens(), "bf16", 16.0, 1, 1, CAL)
        assert count[0] == 16.0
        assert found[0] == pytest.approx((16.0 + bubble) * stage[0] + once[0])


def test_padding_costs_the_longest_and_packing_the_mean() -> None:
    lengths = Tokens.of(100.0, 100.0, 900.0, 3900.0, True)
    packed = micro_batches(lengths, 256.0, 1, layout(micro_batch=2))
    padded = micro_batches(replace(lengths, packed=False), 256.0, 1, layout(micro_batch=2))
    assert packed[0][0] * packed[1][0] == pytest.approx(256 * 1000)
    assert padded[0][0] * padded[1][0] == pytest.approx(256 * 4000)
    assert packed[0][0] == np.ceil(256 * 1000 / 8000)


def test_the_slowest_rank_counts() -> None:
    lengths = Tokens.of(100.0, 100.0, 900.0, 3900.0, True)
    count, held = micro_batches(lengths, 64.0, 1, layout(dp=64))
    assert count[0] * held[0] == lengths.expected_longest(64.0) > 2 * lengths.mean
    padded = micro_batches(replace(lengths, packed=False), 10.0, 1, layout(dp=8))
    assert padded[0][0] == 2.0
    assert padded[1][0] == 4000.0


def test_gemms_saturate_with_width_and_tokens() -> None:
    width, count = np.array([512.0, 4096.0, 4096.0]), np.array([8192.0, 8192.0, 256.0])
    rate = gemm_rate(gemm_ceiling(hardware(rows=3), "bf16", CAL), width, 1, count, CAL)
    assert rate[1] > rate[0]
    assert rate[1] > rate[2]
    assert rate[1] < 989e12
    limit = gemm_rate(gemm_ceiling(H100, "bf16", CAL), np.array([64e9]), 1, np.array([1e9]), CAL)[0]
    assert limit == pytest.approx(CAL.training["gemm_ceiling"]["Hopper"] * 989e12, rel=1e-4)


@pytest.mark.parametrize("device", ["A100-80GB", "H20"])
def test_an_unknown_peak_is_nan_and_never_another_rate(device: str) -> None:
    machine = hardware(device)
    args = (shape("Qwen3-8B"), FULL, machine, layout(), tokens())
    assert np.isnan(update_seconds(*args, "fp8", 8.0, 1, 1, CAL)[0])
    assert np.isnan(update_seconds(*args, "fp4", 8.0, 1, 1, CAL)[0])
    assert np.isnan(forward_seconds(shape("Qwen3-8B"), machine, layout(), tokens(), "fp8", 8.0, CAL)[0])
    assert np.isfinite(update_seconds(*args, "bf16", 8.0, 1, 1, CAL)[0])


def test_weight_only_precisions_compute_in_16_bits() -> None:
    for machine in (hardware("A100-80GB"), H100, hardware("V100-32GB")):
        sixteen = machine.peak("bf16")
        assert machine.peak("int8") == sixteen
        assert machine.peak("int4") == sixteen
        assert machine.peak("fp16") == sixteen
    assert hardware("V100-32GB").peak("bf16")[0] == 125e12  # no bf16 tensor cores: fp16's
    assert H100.peak("fp8")[0] == pytest.approx(1979e12)


def test_lower_precision_is_faster_where_the_device_has_it() -> None:
    args = (shape("Meta-Llama-3.1-70B"), FULL, H100, layout(tp=8, micro_batch=8), tokens(8192.0))
    assert update_seconds(*args, "fp8", 64.0, 1, 1, CAL)[0] < update_seconds(*args, "bf16", 64.0, 1, 1, CAL)[0]


def test_a_pool_across_nodes_needs_a_network() -> None:
    alone = hardware(gbps=None)
    assert np.isinf(update_seconds(shape("Qwen3-8B"), FULL, alone, layout(dp=16), tokens(), "bf16", 64.0, 1, 1, CAL)[0])
    assert np.isfinite(
        update_seconds(shape("Qwen3-8B"), FULL, alone, layout(dp=8), tokens(), "bf16", 64.0, 1, 1, CAL)[0]
    )


def test_more_work_takes_longer() -> None:
    assert seconds(recompute=2) > seconds(recompute=1) > seconds()
    assert seconds(sequences=1024.0) > seconds()
    assert seconds(dp=8, sharding=3) > seconds(dp=8, sharding=1)  # gathers
    assert seconds(dp=8) < seconds(dp=4) < seconds(dp=1)
    assert seconds("Meta-Llama-3.1-70B", tp=8) > seconds("Qwen3-8B", tp=8)
    lora = update_seconds(
        shape("Qwen3-8B"), Training("lora", 8), H100, layout(tp=2), tokens(), "bf16", 512.0, 1, 1, CAL
    )
    assert lora[0] < seconds(tp=2)


def test_k_bit_bases_are_unpacked_in_every_pass() -> None:
    args = (H100, layout(), tokens(), "bf16", 32.0, 1, 1, CAL)
    two, four = (update_seconds(shape("Qwen3-8B"), Training("lora", 8, base_bytes=b), *args)[0] for b in (2.0, 0.55))
    unpacked = 13.5 * shape("Qwen3-8B").dense * 2 / (0.8 * H100.hbm_gb_s[0] * 1e9) * 32
    assert four - two == pytest.approx(unpacked, rel=0.02)


def test_the_host_runs_the_optimizer_it_was_given() -> None:
    """Ren et al. (2021), table 4: 10 B parameters in 2.57 s on one node, beside the transfers over the slot."""
    params = shape("Qwen3-8B").params
    found = optimizer_seconds(shape("Qwen3-8B"), FULL, H100, layout(offload=[0, 1]), CAL)
    assert found[0] == pytest.approx(30 * params / (0.8 * H100.hbm_gb_s[0] * 1e9))
    assert found[1] == pytest.approx(params / 3.9e9 + 6 * params / (0.8 * 63e9))


def test_scoring_is_about_a_third_of_an_update() -> None:
    forward = forward_seconds(shape("Qwen3-8B"), H100, layout(), tokens(), "bf16", 512.0, CAL)[0]
    assert 0.25 < forward / seconds() < 0.4
