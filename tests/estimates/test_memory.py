"""Activations, logits and peaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import Layout, ModelShape, Stack, Tokens, Training, memory_margin
from rlopt.estimates.sampling.colocated_memory import colocated_peaks
from rlopt.estimates.training.activations import (
    in_flight_layers,
    layer_gib,
    logits_gib,
    micro_batch_tokens,
    routed_values,
    scores_gib,
)
from rlopt.estimates.training.memory import observed_gib
from rlopt.units import GIB
from tests.estimates.flat import activation_gib, forward_parts, update_parts, update_tensors
from tests.estimates.parts import FULL, calibration, catalog, gpt3, layout, shape, tokens

CAL = calibration()
MEGATRON, FSDP = Stack(np.zeros(1, dtype=np.int64)), Stack(np.ones(1, dtype=np.int64))


def constant(key: str, engine: str = "megatron") -> float:
    return CAL.at(("memory", key, engine))


def test_a_gpt_layer_keeps_34_bytes_per_token_and_width() -> None:
    """Korthikanti et al. (2022), equation 2 without its s² part, split by sequence parallelism: 34 s b h / t."""
    model = ModelShape.of(gpt3())
    found = layer_gib(model, layout(tp=8), np.array([2048.0]), MEGATRON, CAL)[0] * GIB
    assert found == pytest.approx(34 * 2048 * 12288 / 8, rel=0.1)  # 32 values' bytes times the fitted factor


def test_without_sequence_parallelism_norms_and_block_inputs_stay_whole() -> None:
    """Korthikanti et al. (2022), equation 3: the part of a layer's values that tensor parallelism does not split."""
    model, factor = ModelShape.of(gpt3()), constant("activation_factor")
    plain = replace(MEGATRON, sequence_parallel=False)
    found = layer_gib(model, layout(tp=8), np.array([2048.0]), plain, CAL)[0] * GIB
    assert found == pytest.approx(factor * 2 * 2048 * 12288 * (4 + 12 / 8))
    assert layer_gib(model, layout(), np.array([2048.0]), plain, CAL) == layer_gib(
        model, layout(), np.array([2048.0]), MEGATRON, CAL
    )


def test_unfused_attention_keeps_heads_times_the_square_of_the_length() -> None:
    """Korthikanti et al. (2022), equation 1: 5 a s² b / t."""
    plain = replace(MEGATRON, fused_attention=False)
    found = scores_gib(ModelShape.of(gpt3()), layout(tp=8, micro_batch=2), tokens(), plain, CAL)
    assert found * GIB == pytest.approx(CAL.value("memory", "score_bytes") * 96 * 2048**2 * 2 / 8)
    assert scores_gib(shape("Qwen3-8B"), layout(), tokens(), MEGATRON, CAL) == 0.0


def test_a_routed_token_keeps_what_its_experts_need() -> None:
    moe, model = shape("Qwen3-30B-A3B"), catalog().models["Qwen3-30B-A3B"]
    copies = CAL.value("memory", "routed_copies")
    attention = 4 * model.hidden + (model.heads + 2 * model.kv_heads) * model.head_dim + model.heads * model.head_dim
    routed = model.active_experts * (3 * model.expert_ffn + copies * model.hidden)
    found = layer_gib(moe, layout(), np.array([1.0]), MEGATRON, CAL)[0] * GIB
    assert found == pytest.approx(constant("activation_factor") * 2 * (attention + routed))


def test_stages_hold_micro_batches_in_flight() -> None:
    """Narayanan et al. (2021), section 2.2: pp in the first stage, more of them when interleaved."""
    first, last = in_flight_layers(32, layout(pp=[1, 4, 4], vp=[1, 1, 2]))
    assert first == pytest.approx([32, 32, 4 * (2 * 3 + 4 + 1)])
    assert last == pytest.approx([32, 8, 4 * (4 + 1)])


def test_recomputation_keeps_less_in_order() -> None:
    rows = layout(dp=64, sharding=1, recompute=[0, 1, 2])
    found = update_parts(shape("Qwen3-8B"), FULL, None, rows, tokens(), "bf16", CAL)
    assert found.activations[0] > found.activations[1] > found.activations[2] > 0


def test_recomputing_a_layer_and_the_loss_do_not_meet() -> None:
    """Kept are the layers' inputs; on top of them come the logits, or one layer where that is more."""
    kept = 36 * 2048 * 2 * 4096 / GIB
    held, logits = activation_gib(shape("Qwen3-8B"), FULL, layout(recompute=2), tokens(), MEGATRON, CAL)
    assert held[0] == pytest.approx(kept)
    assert logits[0] == pytest.approx(constant("logits_bytes") * 2048 * 151936 / GIB)
    few = replace(FSDP, chunked_loss=True)
    held, logits = activation_gib(shape("Meta-Llama-3.1-70B"), FULL, layout(recompute=2), tokens(), few, CAL)
    one = (
        CAL.value("memory", "full_workspace")
        * layer_gib(shape("Meta-Llama-3.1-70B"), layout(), np.array([2048.0]), few, CAL)[0]
    )
    loss = constant("logits_bytes_chunked", "fsdp") * 2048 * 128256 / GIB
    assert held[0] + logits[0] == pytest.approx(80 * 2048 * 2 * 8192 / GIB + max(one, loss))


def test_the_last_stage_is_all_that_its_rank_can_log() -> None:
    rows = layout(pp=4)
    first = activation_gib(shape("Qwen3-8B"), FULL, rows, tokens(), MEGATRON, CAL)
    last = activation_gib(shape("Qwen3-8B"), FULL, rows, tokens(), MEGATRON, CAL, last_stage=True)
    layer = layer_gib(shape("Qwen3-8B"), layout(), np.array([2048.0]), MEGATRON, CAL)[0]
    assert first[0][0] == pytest.approx(9 * 4 * layer)  # four micro-batches of nine layers
    assert last[0][0] == pytest.approx(9 * layer)
    assert last[1][0] > first[1][0] == 0.0


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
    whole, chunked = (
        logits_gib(shape("Qwen3-8B"), layout(), np.array([1e4]), replace(FSDP, chunked_loss=c), CAL)[0]
        for c in (False, True)
    )
    assert whole * GIB == pytest.approx(constant("logits_bytes", "fsdp") * 1e4 * 151936)
    assert chunked < whole / 5


def test_the_optimizer_step_can_be_the_peak() -> None:
    rows = layout(dp=2, sharding=3)
    short = update_parts(shape("Qwen3-8B"), FULL, None, rows, tokens(16.0), "bf16", CAL)
    assert short.activations[0] == 0.0
    assert short.buffers[0] * GIB > constant("optimizer_step_bytes", "fsdp") * shape("Qwen3-8B").params / 2
    away = update_parts(shape("Qwen3-8B"), FULL, None, layout(dp=2, sharding=3, offload=1), tokens(16.0), "bf16", CAL)
    assert away.activations[0] > 0.0
    assert away.optimizer[0] == 0.0


def test_adapters_add_their_inputs_and_full_sharding_its_gathers() -> None:
    plain = activation_gib(shape("Qwen3-8B"), FULL, layout(), tokens(), MEGATRON, CAL)[0][0]
    lora = activation_gib(shape("Qwen3-8B"), Training("lora", 8), layout(), tokens(), MEGATRON, CAL)[0][0]
    part = activation_gib(shape("Qwen3-8B"), Training("lora", 8, lora_targets=0.5), layout(), tokens(), MEGATRON, CAL)[
        0
    ][0]
    per_value = constant("lora_activation_bytes")
    assert lora - plain == pytest.approx(36 * 2048 * per_value * (5 * 4096 + 12288) / GIB)
    assert part - plain == pytest.approx((lora - plain) / 2)
    one, many = (
        update_parts(shape("Qwen3-8B"), FULL, None, layout(dp=n, sharding=3), tokens(), "bf16", CAL) for n in (1, 8)
    )
    assert many.buffers[0] > 2 * 2 * (shape("Qwen3-8B").largest_body + shape("Qwen3-8B").head) / GIB
    assert many.weights[0] == pytest.approx(one.weights[0] / 8)


def test_litgpt_gathers_a_whole_model_and_a_pipeline_its_stage() -> None:
    """Weights of 2 bytes and unsharded gradients of 2, over those that stay sharded."""
    qwen = shape("Qwen3-8B")
    found = update_tensors(
        qwen, FULL, layout(dp=8, sharding=3), tokens(), "bf16", CAL, Stack(np.array([CAL.engine("litgpt")]))
    )
    assert found.buffers[0] * GIB == pytest.approx(2 * 2 * qwen.params)
    stages = layout(dp=8, pp=2, sharding=3)
    half = update_tensors(qwen, FULL, stages, tokens(), "bf16", CAL, FSDP)
    assert half.buffers[0] * GIB == pytest.approx(2 * 2 * (qwen.dense / 2 + qwen.embedding))


def test_scoring_needs_weights_at_its_precision_and_no_training_state() -> None:
    found = forward_parts(shape("Qwen3-8B"), None, layout(), tokens(), "bf16", CAL)
    assert found.weights[0] * GIB == pytest.approx(2 * shape("Qwen3-8B").params)
    assert found.gradients[0] == found.optimizer[0] == found.kv_cache[0] == 0.0
    assert found.logits[0] * GIB == pytest.approx(4 * 2048 * 151936)
    assert found.total()[0] < update_parts(shape("Qwen3-8B"), FULL, None, layout(), tokens(), "bf16", CAL).total()[0]


def test_fp32_values_take_twice_the_room_and_fp8_keeps_copies() -> None:
    args = (shape("Qwen3-8B"), FULL, None, layout(dp=64, sharding=1), tokens(4096.0))
    fp32, bf16, fp8 = (update_parts(*args, name, CAL) for name in ("fp32", "bf16", "fp8"))
    assert fp32.activations[0] == 2 * bf16.activations[0]
    copies = constant("low_precision_copy_bytes") * shape("Qwen3-8B").params / GIB
    assert fp8.weights[0] == pytest.approx(bf16.weights[0] + copies)


def test_the_margin_is_the_widest_of_the_engines() -> None:
    margin = CAL.memory["margin"]
    assert memory_margin(CAL) == max(margin["megatron"], margin["fsdp"])
    assert memory_margin(CAL, np.array([0])) == margin["megatron"]


def test_a_device_holds_no_less_than_its_engines_publish() -> None:
    deepspeed = Stack(np.array([CAL.engine("megatron-deepspeed")]))
    args = (shape("Qwen3-8B"), FULL, layout(tp=2), tokens(), "bf16", CAL, deepspeed)
    tensors = update_tensors(*args).total()
    assert observed_gib(tensors, deepspeed, CAL)[0] == pytest.approx(
        constant("reading_share", "megatron-deepspeed") * tensors[0] + constant("reading_gib", "megatron-deepspeed")
    )
    planned = update_parts(shape("Qwen3-8B"), FULL, None, layout(tp=2), tokens(), "bf16", CAL, stack=deepspeed)
    assert planned.total()[0] >= observed_gib(tensors, deepspeed, CAL)[0]


ENGINES = st.sampled_from(CAL.engines)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["Qwen3-8B", "Qwen3-30B-A3B", "DeepSeek-V3", "Gemma-3-27b-it"]), ENGINES, st.booleans(),
    st.booleans(), st.booleans(), st.sampled_from(["full", "lora"]), st.integers(0, 3), st.integers(0, 2),
    st.sampled_from(["bf16", "fp8", "fp32"]), st.integers(0, 3), st.integers(0, 3),
)  # fmt: skip
def test_more_tokens_never_take_less_and_nothing_is_negative(
    name: str, engine: str, chunked: bool, fused: bool, sequence: bool, kind: str, sharding: int, recompute: int,
    precision: str, tp: int, pp: int,
) -> None:  # fmt: skip
    stack = Stack(np.array([CAL.engine(engine)]), chunked, fused, sequence)
    training = Training(kind, lora_rank=8 * (kind == "lora"))

    def total(micro_batch: int, length: float) -> float:
        rows = layout(tp=2**tp, pp=2**pp, dp=4, sharding=sharding, recompute=recompute, micro_batch=micro_batch)
        parts = update_parts(shape(name), training, None, rows, tokens(length), precision, CAL, stack=stack)
        values = [getattr(parts, part)[0] for part in parts.__slots__]
        assert all(np.isfinite(value) and value >= 0.0 for value in values), values
        return float(parts.total()[0])

    assert total(1, 1024.0) <= total(2, 1024.0) + 1e-9
    assert total(1, 1024.0) <= total(1, 2048.0) + 1e-9


def test_many_models_in_one_call_are_the_same_as_one_by_one() -> None:
    names = ["Qwen3-8B", "Qwen3-30B-A3B", "DeepSeek-V3"]
    rows = layout(tp=[1, 2, 4], pp=[1, 1, 2], dp=8, ep=[1, 4, 8], sharding=[3, 1, 1], recompute=[0, 1, 2])
    stacked = ModelShape.stack([shape(name) for name in names], [0, 1, 2])
    training = Training(np.array(["full", "lora", "full"]), np.array([0, 8, 0]), optimizer=np.array(["adamw"] * 3))
    lengths = np.array([1024.0, 2048.0, 4096.0])
    stack = Stack(np.array([1, 0, 0]), np.array([True, False, False]), np.array([True, True, False]))
    sequences = Tokens(lengths, lengths, lengths**2, True)  # type: ignore[arg-type]
    together = update_parts(
        stacked, training, None, rows, sequences, np.array(["bf16", "fp8", "bf16"]), CAL, stack=stack
    ).total()
    for i, name in enumerate(names):
        row = Layout(*(getattr(rows, field)[i : i + 1] for field in rows.__slots__))
        one = Stack(stack.engine[i : i + 1], i == 0, i != 2)
        kind = Training("lora", 8) if i == 1 else Training("full")
        precision = "fp8" if i == 1 else "bf16"
        alone = update_parts(shape(name), kind, None, row, tokens(lengths[i]), precision, CAL, stack=one).total()
        assert alone[0] == pytest.approx(together[i]), name


def test_a_colocated_pool_holds_both_halves() -> None:
    """Asleep, the engine leaves its share; awake it stands beside the update, and its share must hold a sequence."""
    eighty, share = np.array([80.0]), 0.5
    update, resident, weights, sequence = (np.array([x]) for x in (60.0, 20.0, 15.0, 2.0))
    asleep = colocated_peaks(update, resident, weights, sequence, share, eighty, CAL)
    awake = colocated_peaks(update, resident, weights, sequence, share, eighty, CAL, sleeps=False)
    assert asleep.update[0] == pytest.approx(60.0 + CAL.value("memory", "engine_asleep_gib"))
    assert awake.update[0] == pytest.approx(100.0)
    assert asleep.sampling[0] == pytest.approx(20.0 + 40.0)
    assert asleep.spare[0] == pytest.approx(40.0 - 17.0)
    assert asleep.fits(eighty)[0]
    assert not awake.fits(eighty)[0]
    assert not colocated_peaks(update, resident, weights, sequence, 0.2, eighty, CAL).fits(eighty)[0]


def test_recomputing_a_layer_of_experts_holds_their_copies() -> None:
    moe, few = shape("Qwen3-30B-A3B"), replace(FSDP, chunked_loss=True)
    held, logits = activation_gib(moe, FULL, layout(recompute=2), tokens(), few, CAL)
    kept = 48 * 2048 * 2 * 2048 / GIB
    layer = layer_gib(moe, layout(), np.array([2048.0]), few, CAL)[0]
    routed = constant("activation_factor", "fsdp") * 2048 * 2 * routed_values(moe, CAL) / GIB
    full, own = (CAL.value("memory", key) for key in ("full_workspace", "routed_workspace"))
    assert logits[0] == 0.0
    assert held[0] == pytest.approx(kept + full * (layer - routed) + own * routed)
