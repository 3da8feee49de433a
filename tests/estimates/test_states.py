"""Weights, gradients, optimizer states: closed forms of Rajbhandari et al. (2020) and how they split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates import ModelShape, Training, host_gib, resident_gib, training_engine
from rlopt.estimates.training.states import adapter_shards, frozen_host_gib, shards, stage_layers, training_states
from rlopt.units import GIB
from tests.estimates.parts import FULL, calibration, gpt3, hardware, layout, shape

CAL = calibration()


def test_gpt3_optimizer_states_take_12_bytes_per_parameter() -> None:
    model = ModelShape.of(gpt3())
    found = training_states(model, FULL, layout(), CAL)
    assert found.optimizer[0] == pytest.approx(12 * 174.6e9 / GIB)  # 1.95 TiB
    sharded = training_states(model, FULL, layout(tp=8, dp=16, sharding=1), CAL)
    assert sharded.optimizer[0] == pytest.approx(12 * 174.6e9 / GIB / 128)


def test_mixed_precision_adam_takes_16_bytes_per_parameter_in_all() -> None:
    """7.5 B parameters take 120 GB (Rajbhandari et al., 2020, figure 1), with 16-bit gradients."""
    model = ModelShape.of(
        replace(gpt3(), params=7.5e9, active_params=7.5e9, layers=36, hidden=4096, ffn=16384, heads=32)
    )
    found = training_states(model, Training("full", in_loop=True), layout(), CAL)
    assert (found.weights + found.gradients + found.optimizer)[0] * GIB == pytest.approx(120e9)


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_zero_3_divides_every_state_by_the_data_parallel_ranks(ranks: int) -> None:
    one, many = (training_states(shape("Qwen3-8B"), FULL, layout(dp=n, sharding=3), CAL) for n in (1, ranks))
    for part in ("weights", "gradients", "optimizer", "trained"):
        assert getattr(many, part)[0] == pytest.approx(getattr(one, part)[0] / ranks), part


def test_each_zero_stage_shards_one_part_more() -> None:
    found = training_states(
        shape("Qwen3-8B"), FULL, layout(dp=8, sharding=[0, 1, 2]), CAL, engine=np.zeros(3, np.int64)
    )
    whole = training_states(shape("Qwen3-8B"), FULL, layout(), CAL)
    assert found.optimizer == pytest.approx(whole.optimizer[0] / np.array([1, 8, 8]))
    assert found.gradients == pytest.approx(whole.gradients[0] / np.array([1, 1, 8]))
    assert found.weights == pytest.approx(whole.weights[0] / np.array([1, 1, 1]))


def test_tensor_parallel_ranks_divide_a_dense_model() -> None:
    found = training_states(shape("Meta-Llama-3.1-70B"), FULL, layout(tp=[1, 2, 8]), CAL)
    assert found.weights[0] / found.weights == pytest.approx([1, 2, 8])


def test_experts_are_divided_by_ep_and_sharded_over_what_ep_leaves() -> None:
    deepseek = shape("DeepSeek-V3")
    found = shards(deepseek, layout(tp=2, dp=16, ep=8))
    assert found.experts[0] == pytest.approx(deepseek.experts_total / 8)
    assert found.ranks[0] == 16
    assert found.expert_ranks[0] == 4
    assert found.dense[0] == pytest.approx((deepseek.dense + deepseek.tables) / 2)
    tensor = shards(deepseek, layout(tp=8, dp=16, ep=8, etp=8))
    assert tensor.experts[0] == pytest.approx(deepseek.experts_total / 64)
    assert tensor.expert_ranks[0] == 2


def test_the_fullest_stage_holds_whole_layers_and_one_table() -> None:
    deepseek = shape("DeepSeek-V3")  # 61 layers, 3 of them dense
    assert stage_layers(deepseek, layout(pp=[1, 8, 16], vp=[1, 1, 1])) == pytest.approx([61, 8, 4])
    found = shards(deepseek, layout(pp=16))
    assert found.experts[0] == pytest.approx(deepseek.experts_total * 4 / 58)
    assert found.dense[0] == pytest.approx(deepseek.dense * 4 / 61 + deepseek.embedding)
    tied = shape("Qwen2.5-0.5B")  # each end holds its own copy of the one table
    assert shards(tied, layout(pp=2)).tables[0] == pytest.approx(tied.embedding)


def test_adapters_train_beside_a_frozen_base() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    found = training_states(llama, Training("lora", lora_rank=8), layout(), CAL)
    adapters = llama.lora_params(8)
    assert found.weights[0] * GIB == pytest.approx(2 * llama.params + 2 * adapters)
    assert found.optimizer[0] * GIB == pytest.approx(12 * adapters)
    assert found.gradients[0] * GIB == pytest.approx(2 * adapters)
    k_bit = training_states(llama, Training("lora", lora_rank=8, base_bytes=0.55), layout(), CAL)
    table = CAL.at(("memory", "quantised_table_bytes", "fsdp"))
    assert k_bit.weights[0] * GIB == pytest.approx(0.55 * llama.dense + table * llama.tables + 2 * adapters)
    split = adapter_shards(llama, Training("lora", lora_rank=8), layout(tp=2))
    assert split.dense[0] == pytest.approx(adapters / 2)


def test_a_trained_share_carries_states_and_the_rest_weights_only() -> None:
    whole = training_states(shape("Qwen3-8B"), FULL, layout(), CAL)
    half = training_states(shape("Qwen3-8B"), Training("frozen-part", trainable_share=0.25), layout(), CAL)
    assert half.optimizer[0] == pytest.approx(whole.optimizer[0] / 4)
    assert half.weights[0] == whole.weights[0]


@pytest.mark.parametrize(
    ("optimizer", "weight", "gradient", "state"),
    [
        ("adamw", 2, 4, 12),  # Rajbhandari et al. (2020), with fp32 accumulation
        ("adamw_bf16", 2, 2, 4),
        ("adamw_8bit", 2, 4, 6),  # Dettmers et al. (2022)
        ("in_backward", 2, 0.1, 4),
        ("muon", 2, 4, 8),
    ],
)
def test_optimizers_take_their_bytes(optimizer: str, weight: float, gradient: float, state: float) -> None:
    found = training_states(shape("Qwen3-8B"), Training("full", optimizer=optimizer), layout(), CAL)
    params = shape("Qwen3-8B").params
    held = (found.weights[0], found.gradients[0], found.optimizer[0])
    assert [part * GIB / params for part in held] == pytest.approx([weight, gradient, state])


def test_offload_moves_states_to_the_host_and_off_what_stays_resident() -> None:
    args = (shape("Qwen3-8B"), FULL, layout(dp=8, sharding=1, offload=[0, 1, 2]))
    states = training_states(*args, CAL)
    assert resident_gib(*args, CAL) == pytest.approx([states.weights[0] + states.optimizer[0], states.weights[0], 0.0])
    host = host_gib(*args, hardware(rows=3), CAL)
    params = shape("Qwen3-8B").params
    pinned = 8 * CAL.value("memory", "host_pinned_gib") * GIB
    assert host * GIB == pytest.approx([0.0, 16 * params + pinned, 16 * params + 8 * 2 * params + pinned])


def test_a_reference_in_host_memory_takes_its_share_of_every_gpu_of_a_node() -> None:
    qwen = shape("Qwen3-8B")
    rows = layout(dp=8, sharding=[0, 0, 3], offload=[1, 2, 2])
    found = frozen_host_gib(qwen, rows, hardware(rows=3), CAL)
    assert found * GIB == pytest.approx([0.0, 8 * 2 * qwen.params, 2 * qwen.params])


def test_engines_follow_sharding_and_adapters() -> None:
    assert list(training_engine(layout(sharding=[1, 3]))) == [0, 1]
    lora = Training("lora", lora_rank=8)
    assert list(training_engine(layout(tp=[1, 2], sharding=1), lora)) == [2, 0]
