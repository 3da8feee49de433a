"""Parameters, adapters, caches and pairs, against published figures and hand counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates import ModelShape, kv_gib_per_token, rollout_weights_gib
from rlopt.estimates.lora import adapter_count
from rlopt.units import GIB
from tests.estimates.parts import calibration, catalog, gpt3, shape


@pytest.mark.parametrize(
    ("model", "rank", "millions"),
    [("Meta-Llama-3.1-8B", 8, 21.0), ("Qwen2.5-0.5B", 32, 17.6)],  # torchtune's and PEFT's own printed counts
)
def test_adapters_on_every_linear_layer_count_as_published(model: str, rank: int, millions: float) -> None:
    assert shape(model).lora_params(rank) / 1e6 == pytest.approx(millions, abs=0.05)


def test_latent_attention_carries_adapters_on_its_own_matrices() -> None:
    model = catalog().models["DeepSeek-V2-Lite"]
    mla = model.mla
    assert mla is not None
    assert mla.q_lora is None
    h, n = model.hidden, model.heads
    ins_outs = [
        (h, n * (mla.qk_nope + mla.qk_rope)),
        (h, mla.kv_lora + mla.qk_rope),
        (mla.kv_lora, n * (mla.qk_nope + mla.v_dim)),
        (n * mla.v_dim, h),
    ]
    attention = sum(a + b for a, b in ins_outs) * model.layers
    dense = 3 * (h + model.ffn) * model.dense_layers + 3 * (h + model.shared_expert_ffn) * model.moe_layers
    routed = 3 * (h + model.expert_ffn) * model.experts * model.moe_layers
    count = adapter_count(model, 4)
    assert (count.dense, count.experts) == (4 * (attention + dense), 4 * routed)
    assert count.total == count.dense + count.experts


def test_cache_of_llama_3_8b_takes_131072_bytes_per_token() -> None:
    found = kv_gib_per_token(shape("Llama-3-8B"), np.array([1, 2, 8, 16])) * GIB
    assert found == pytest.approx([131072, 65536, 16384, 16384])  # 8 key-value heads: repeated beyond tp 8


def test_latent_cache_holds_576_values_per_layer_on_every_rank() -> None:
    deepseek = shape("DeepSeek-V3")
    assert deepseek.kv_values_per_token == 576 * 61
    assert kv_gib_per_token(deepseek, np.array([1, 8])) * GIB == pytest.approx([2 * 576 * 61] * 2)


def test_windowed_layers_keep_only_their_window() -> None:
    model = replace(gpt3(), attention_layers=24.0, window=1024)
    windowed = ModelShape.of(model)
    assert (windowed.attention_layers, windowed.window_layers) == (24.0, 72.0)
    assert windowed.cached_tokens(4096.0) == pytest.approx((24 * 4096 + 72 * 1024) / 96)
    assert windowed.attended_pairs(4096.0) == pytest.approx(24 * 2048 + 72 * 1024)
    full = kv_gib_per_token(windowed, np.array([1]))[0]
    assert kv_gib_per_token(windowed, np.array([1]), 4096.0)[0] == pytest.approx(full * (24 + 72 / 4) / 96)


def test_hybrids_cache_their_full_attention_layers_only() -> None:
    hybrid = ModelShape.of(replace(gpt3(), attention_layers=12.0))
    assert hybrid.kv_values_per_token == 12 * 2 * 96 * 128


@pytest.mark.parametrize("name", ["Meta-Llama-3.1-70B", "Qwen3-235B-A22B", "DeepSeek-V3", "Mixtral-8x7B-v0.1"])
def test_parts_add_up_to_the_published_totals(name: str) -> None:
    found, model = shape(name), catalog().models[name]
    assert found.dense + found.experts_total + found.tables == pytest.approx(model.params)
    input_table = 0.0 if found.tied else found.embedding
    assert found.active + input_table == pytest.approx(model.active_params, rel=0.01)
    assert found.moe == (model.experts > 0)


def test_a_replica_splits_dense_weights_over_tp_and_experts_over_all_of_it() -> None:
    deepseek = shape("DeepSeek-V3")
    whole = rollout_weights_gib(deepseek, "bf16", np.array([1]), 1, calibration())[0]
    assert whole * GIB == pytest.approx(2 * deepseek.params)
    assert rollout_weights_gib(deepseek, "bf16", np.array([8]), 8, calibration())[0] == pytest.approx(whole / 8)
    wide = rollout_weights_gib(deepseek, "bf16", np.array([1]), 32, calibration())[0]
    assert wide * GIB == pytest.approx(2 * (deepseek.dense + deepseek.tables + deepseek.experts_total / 32))


def test_quantised_engines_keep_embedding_tables_at_16_bits() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    found = rollout_weights_gib(llama, "fp8", np.array([1]), 1, calibration())[0] * GIB
    assert found == pytest.approx(llama.dense + 2 * llama.tables)
