"""Activations, logits and peaks."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import ModelShape, Training, forward_parts, memory_margin, update_parts
from rlopt.estimates.activations import (
    activation_gib,
    in_flight_layers,
    layer_gib,
    logits_gib,
    micro_batch_tokens,
)
from rlopt.units import GIB
from tests.estimates.parts import FULL, calibration, catalog, gpt3, layout, shape, tokens

CAL = calibration()
MEGATRON = np.zeros(1, dtype=np.int64)


def test_a_gpt_layer_keeps_34_bytes_per_token_and_width() -> None:
    """Korthikanti et al. (2022), equation 2 without its s² part, split by sequence parallelism: 34 s b h / t."""
    model = ModelShape.of(gpt3())
    found = layer_gib(model, layout(tp=8), np.array([2048.0]), MEGATRON, CAL)[0] * GIB
    assert found == pytest.approx(34 * 2048 * 12288 / 8, rel=0.05)  # 32 values' bytes times the fitted 1.05


def test_a_routed_token_keeps_what_its_experts_need() -> None:
    moe = shape("Qwen3-30B-A3B")
    model = catalog().models["Qwen3-30B-A3B"]
    attention = 4 * model.hidden + (model.heads + 2 * model.kv_heads) * model.head_dim + model.heads * model.head_dim
    routed = model.active_experts * (3 * model.expert_ffn + 3.7 * model.hidden)
    found = layer_gib(moe, layout(), np.array([1.0]), MEGATRON, CAL)[0] * GIB
    assert found == pytest.approx(1.05 * 2 * (attention + routed))


def test_stages_hold_micro_batches_in_flight() -> None:
    """Narayanan et al. (2021), section 2.2: pp in the first stage, more of them when interleaved."""
    first, last = in_flight_layers(32, layout(pp=[1, 4, 4], vp=[1, 1, 2]))
    assert first == pytest.approx([32, 32, 4 * (2 * 3 + 4 + 1)])
    assert last == pytest.approx([32, 8, 4 * (4 + 1)])


def test_recomputation_keeps_less_in_order() -> None:
    rows = layout(dp=64, sharding=1, recompute=[0, 1, 2])
    found = update_parts(shape("Qwen3-8B"), FULL, None, rows, tokens(), "bf16", CAL)
    assert found.activations[0] > found.activations[1] > found.activations[2] > 0
    full = activation_gib(shape("Qwen3-8B"), FULL, layout(recompute=2), tokens(), MEGATRON, CAL, False)[0][0]
    one = layer_gib(shape("Qwen3-8B"), layout(), np.array([2048.0]), MEGATRON, CAL)[0]
    assert full == pytest.approx(36 * 2048 * 2 * 4096 / GIB + 0.69 * one)


def test_tensor_parallel_ranks_divide_all_that_is_not_overhead() -> None:
    args = (shape("Meta-Llama-3.1-70B"), FULL, None)
    found = update_parts(*args, layout(tp=[2, 4, 8]), tokens(), "bf16", CAL)
    for part in ("weights", "gradients", "optimizer", "activations", "logits"):
        values = getattr(found, part)
        assert values * np.array([2, 4, 8]) == pytest.approx([values[0] * 2] * 3), part
    fixed = CAL.value("memory", "runtime_gib") + CAL.value("memory", "nccl_gib")
    assert (found.total() - fixed) * np.array([2, 4, 8]) == pytest.approx([(found.total()[0] - fixed) * 2] * 3)


def test_context_parallel_ranks_and_micro_batches_scale_tokens() -> None:
    assert micro_batch_tokens(layout(micro_batch=4, cp=2), tokens(1000.0))[0] == 2000.0


def test_chunked_losses_never_hold_the_logits_whole() -> None:
    fsdp = np.ones(1, dtype=np.int64)
    whole, chunked = (logits_gib(shape("Qwen3-8B"), layout(), np.array([1e4]), fsdp, CAL, c)[0] for c in (False, True))
    assert whole * GIB == pytest.approx(8.9 * 1e4 * 151936)
    assert chunked < whole / 5


def test_the_optimizer_step_can_be_the_peak() -> None:
    short = update_parts(shape("Qwen3-8B"), FULL, None, layout(), tokens(16.0), "bf16", CAL)
    assert short.activations[0] == 0.0
    assert short.buffers[0] * GIB > 4 * shape("Qwen3-8B").params
    away = update_parts(shape("Qwen3-8B"), FULL, None, layout(offload=1), tokens(16.0), "bf16", CAL)
    assert away.activations[0] > 0.0
    assert away.optimizer[0] == 0.0


def test_adapters_add_their_inputs_and_full_sharding_its_gathers() -> None:
    plain = activation_gib(shape("Qwen3-8B"), FULL, layout(), tokens(), MEGATRON, CAL, False)[0][0]
    lora = activation_gib(shape("Qwen3-8B"), Training("lora", 8), layout(), tokens(), MEGATRON, CAL, False)[0][0]
    assert lora - plain == pytest.approx(36 * 2048 * 2.8 * (5 * 4096 + 12288) / GIB)
    one, many = (
        update_parts(shape("Qwen3-8B"), FULL, None, layout(dp=n, sharding=3), tokens(), "bf16", CAL) for n in (1, 8)
    )
    assert many.buffers[0] > 2 * 2 * (shape("Qwen3-8B").largest_body + shape("Qwen3-8B").head) / GIB
    assert many.weights[0] == pytest.approx(one.weights[0] / 8)


def test_scoring_needs_weights_at_its_precision_and_no_training_state() -> None:
    found = forward_parts(shape("Qwen3-8B"), None, layout(), tokens(), "bf16", CAL)
    assert found.weights[0] * GIB == pytest.approx(2 * shape("Qwen3-8B").params)
    assert found.gradients[0] == found.optimizer[0] == found.kv_cache[0] == 0.0
    assert found.logits[0] * GIB == pytest.approx(4 * 2048 * 151936)
    assert found.total()[0] < update_parts(shape("Qwen3-8B"), FULL, None, layout(), tokens(), "bf16", CAL).total()[0]


def test_fp32_values_take_twice_the_room_and_fp8_keeps_copies() -> None:
    args = (shape("Qwen3-8B"), FULL, None, layout(dp=64, sharding=1), tokens(4096.0))
    assert update_parts(*args, "fp32", CAL).activations[0] == 2 * update_parts(*args, "bf16", CAL).activations[0]
    assert update_parts(*args, "fp8", CAL).weights[0] == 2 * update_parts(*args, "bf16", CAL).weights[0]


def test_the_margin_is_the_widest_of_the_engines() -> None:
    assert memory_margin(CAL) == max(CAL.memory["margin"].values())
    assert memory_margin(CAL, np.array([0])) == CAL.memory["margin"][CAL.engines[0]]
