"""Parameter counts against what the makers publish, and the parts against the whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.facts import Mla, Model, parameter_count
from rlopt.facts.files.folder import load_catalog

CATALOG = load_catalog()
PUBLISHED = sorted(name for name, model in CATALOG.models.items() if model.params_basis == "published")
TOLERANCE = 0.005


def test_enough_models_are_checked_of_every_kind() -> None:
    models = [CATALOG.models[name] for name in PUBLISHED]
    assert len(models) >= 60
    assert sum(model.is_moe for model in models) >= 8
    assert sum(model.mla is not None for model in models) >= 4
    assert sum(model.vision is not None for model in models) >= 5
    assert sum(model.tie_embeddings for model in models) >= 10
    assert sum(model.bias for model in models) >= 5


@pytest.mark.parametrize("name", PUBLISHED)
def test_count_agrees_with_the_published_one(name: str) -> None:
    model = CATALOG.models[name]
    counted = parameter_count(model).total + (model.vision.params if model.vision else 0.0)
    assert "parameters: http" in model.source or "NumParams" in model.source
    assert counted == pytest.approx(model.params, rel=TOLERANCE)


@pytest.mark.parametrize("name", sorted(set(CATALOG.models) - set(PUBLISHED)))
def test_derived_sizes_are_the_count(name: str) -> None:
    model = CATALOG.models[name]
    assert model.params_basis == "derived"
    tower = model.vision.params if model.vision else 0.0
    assert model.params == pytest.approx(parameter_count(model).total + tower, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "active_billion"),
    [("Qwen3-30B-A3B", 3.3), ("Qwen3-235B-A22B", 22.0), ("DeepSeek-V3", 37.0), ("Mixtral-8x7B-v0.1", 12.9)],
)
def test_active_parameters_are_those_of_the_model_card(name: str, active_billion: float) -> None:
    """Model cards round; DeepSeek leaves the input table out (arXiv 2412.19437, abstract: 37B)."""
    assert CATALOG.models[name].active_params / 1e9 == pytest.approx(active_billion, rel=0.03)


@pytest.mark.parametrize("name", sorted(CATALOG.models))
def test_parts_make_the_whole(name: str) -> None:
    model = CATALOG.models[name]
    count = parameter_count(model)
    dense = model.layers - model.moe_layers
    everywhere = count.attention_per_layer + count.norms_per_layer
    layers = model.layers * everywhere + dense * count.ffn_per_dense_layer
    layers += model.moe_layers * (count.router_per_layer + count.shared_per_layer + model.experts * count.expert)
    final_norm = count.norms_per_layer / 2
    assert count.total == pytest.approx(count.embedding + count.head + layers + final_norm, rel=1e-12)
    idle = model.moe_layers * (model.experts - model.active_experts) * count.expert
    assert count.active == pytest.approx(count.total - idle, rel=1e-12)
    assert count.expert_per_layer == count.expert


TINY = Model(
    name="tiny", hf_id="", params=0, active_params=0, layers=2, hidden=8, heads=4, kv_heads=2, head_dim=2,
    ffn=16, gated=True, vocab=10,
)  # fmt: skip


def test_by_hand() -> None:
    """Per layer 8*8 + 2*8*4 + 8*8 attention, 3*8*16 feed-forward, 16 norms; 80 + 80 tables, 8 last norm."""
    assert parameter_count(TINY).total == 2 * (192 + 384 + 16) + 160 + 8
    assert parameter_count(replace(TINY, tie_embeddings=True)).total == 2 * (192 + 384 + 16) + 80 + 8
    assert parameter_count(replace(TINY, qkv_bias=True)).total == 2 * (192 + 16 + 384 + 16) + 160 + 8
    assert parameter_count(replace(TINY, gated=False)).total == 2 * (192 + 256 + 16) + 160 + 8
    assert parameter_count(replace(TINY, positions=5)).embedding == 80 + 40


def test_biases_are_twelve_h_squared_and_thirteen_h() -> None:
    """GPT-style block with w = 4 h: 12 h^2 + 13 h (Narayanan et al., arXiv 2104.04473, section 5.1)."""
    gpt = replace(TINY, kv_heads=4, ffn=32, gated=False, bias=True, qkv_bias=True)
    count = parameter_count(gpt)
    assert count.attention_per_layer + count.ffn_per_dense_layer + count.norms_per_layer == 12 * 64 + 13 * 8


def test_experts_by_hand() -> None:
    moe = replace(TINY, experts=4, active_experts=1, expert_ffn=3, shared_expert_ffn=5, dense_layers=1)
    count = parameter_count(moe)
    assert (count.router_per_layer, count.shared_per_layer, count.expert) == (32, 120, 72)
    assert count.total == 2 * (192 + 16) + 384 + (32 + 120 + 4 * 72) + 160 + 8
    assert count.active == count.total - 3 * 72


def test_latent_attention_by_hand() -> None:
    plain = replace(TINY, mla=Mla(q_lora=None, kv_lora=6, qk_nope=3, qk_rope=1, v_dim=2))
    keys = 8 * (6 + 1) + 6 + 6 * 4 * (3 + 2)
    assert parameter_count(plain).attention_per_layer == 8 * 16 + keys + 8 * 8
    squeezed = replace(TINY, mla=Mla(q_lora=5, kv_lora=6, qk_nope=3, qk_rope=1, v_dim=2))
    assert parameter_count(squeezed).attention_per_layer == 8 * 5 + 5 + 5 * 16 + keys + 8 * 8
