"""A local config.json: right shapes from real keys, complaints from wrong files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlopt.errors import InputError
from rlopt.facts import Model
from rlopt.facts.files.folder import load_catalog
from rlopt.reading.huggingface.config import model_from_config
from rlopt.reading.huggingface.families import FAMILIES
from rlopt.reading.huggingface.file import LARGEST_BYTES

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False,
}  # fmt: skip


def write(folder: Path, keys: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(keys, indent=1), encoding="utf-8")
    return path


def config_of(model: Model, kind: str) -> dict[str, Any]:
    """The keys that a maker would write for a model of the catalog."""
    family = FAMILIES[kind]
    keys: dict[str, Any] = {
        "model_type": kind,
        "num_hidden_layers": model.layers,
        "hidden_size": model.hidden,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "vocab_size": model.vocab,
        "tie_word_embeddings": model.tie_embeddings,
        "attention_bias": model.qkv_bias,
        "sliding_window": model.window,
    }
    if family.ffn:
        keys[family.ffn] = model.ffn
    if model.experts:
        keys |= {family.experts: model.experts, family.active: model.active_experts}
        keys[family.expert_ffn] = model.expert_ffn
    if family.shared == "n_shared_experts":
        keys["n_shared_experts"] = model.shared_expert_ffn // model.expert_ffn
        keys["first_k_dense_replace"] = model.dense_layers
    if model.mla is not None:
        keys |= {"q_lora_rank": model.mla.q_lora, "kv_lora_rank": model.mla.kv_lora}
        keys |= {"qk_nope_head_dim": model.mla.qk_nope, "qk_rope_head_dim": model.mla.qk_rope}
        keys["v_head_dim"] = model.mla.v_dim
    return keys


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Meta-Llama-3.1-8B", "llama"),
        ("Llama-3.2-1B", "llama"),
        ("Mistral-7B-v0.1", "mistral"),
        ("Mistral-7B-v0.3", "mistral"),
        ("Mixtral-8x7B-v0.1", "mixtral"),
        ("Qwen2.5-0.5B", "qwen2"),
        ("Qwen2.5-72B", "qwen2"),
        ("Qwen3-8B", "qwen3"),
        ("Qwen3-30B-A3B", "qwen3_moe"),
        ("DeepSeek-V3", "deepseek_v3"),
        ("DeepSeek-V2-Lite", "deepseek_v2"),
        ("Kimi-K2-Instruct", "kimi_k2"),
        ("GLM-4.5-Air", "glm4_moe"),
        ("gpt-oss-20b", "gpt_oss"),
        ("Gemma-7b", "gemma"),
        ("Gemma-2-9b", "gemma2"),
        ("Gemma-3-1b-it", "gemma3_text"),
        ("Phi-3-mini-4k-instruct", "phi3"),
        ("OLMo-2-1124-7B", "olmo2"),
        ("pythia-12b", "gpt_neox"),
        ("phi-2", "phi"),
    ],
)
def test_agrees_with_the_catalog(tmp_path: Path, name: str, kind: str) -> None:
    known = load_catalog().models[name]
    read = model_from_config(write(tmp_path, config_of(known, kind)))
    for field in Model.__dataclass_fields__:
        if field not in ("name", "hf_id", "params", "active_params", "params_basis", "source"):
            assert getattr(read, field) == getattr(known, field), field
    assert read.params == pytest.approx(known.params, rel=0.005)
    assert read.params_basis == "config"


def test_every_family_is_tried() -> None:
    tried = {mark for mark in FAMILIES if mark not in ("qwen2_moe", "glm4", "opt")}
    parameters = test_agrees_with_the_catalog.pytestmark[0].args[1]
    assert {kind for _, kind in parameters} == tried


def test_opt_125m(tmp_path: Path) -> None:
    """125,239,296 weights (huggingface.co/facebook/opt-125m; arXiv 2205.01068, table 1)."""
    keys = {
        "model_type": "opt", "hidden_size": 768, "ffn_dim": 3072, "num_attention_heads": 12,
        "num_hidden_layers": 12, "vocab_size": 50272, "max_position_embeddings": 2048,
        "word_embed_proj_dim": 768,
    }  # fmt: skip
    assert model_from_config(write(tmp_path, keys)).params == 125_239_296
    with pytest.raises(InputError, match="word_embed_proj_dim"):
        model_from_config(write(tmp_path, {**keys, "word_embed_proj_dim": 512}))


def test_qwen2_moe_shared_width(tmp_path: Path) -> None:
    keys = {**LLAMA, "model_type": "qwen2_moe", "num_experts": 60, "num_experts_per_tok": 4}
    keys |= {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632}
    assert model_from_config(write(tmp_path, keys)).shared_expert_ffn == 5632


def test_glm4_has_its_own_head_width(tmp_path: Path) -> None:
    model = model_from_config(write(tmp_path, {**LLAMA, "model_type": "glm4", "attention_bias": True}))
    assert (model.head_dim, model.qkv_bias) == (128, True)


def test_a_folder_will_do_and_names_the_model(tmp_path: Path) -> None:
    folder = tmp_path / "My-Model"
    folder.mkdir()
    write(folder, LLAMA)
    assert model_from_config(folder).name == "My-Model"


def test_windows_by_layer(tmp_path: Path) -> None:
    kinds = ["sliding_attention"] * 24 + ["full_attention"] * 8
    model = model_from_config(write(tmp_path, {**LLAMA, "layer_types": kinds, "sliding_window": 512}))
    assert (model.attention_layers, model.window) == (8, 512)
    with pytest.raises(InputError, match="layer_types"):
        model_from_config(write(tmp_path, {**LLAMA, "layer_types": ["linear_attention"] * 32}))
    unused = {**LLAMA, "model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}
    assert model_from_config(write(tmp_path, unused)).window is None
    wide = {**LLAMA, "model_type": "mistral", "sliding_window": 4096, "max_position_embeddings": 4096}
    assert model_from_config(write(tmp_path, wide)).window is None
    used = {**unused, "use_sliding_window": True, "max_window_layers": 28}
    assert model_from_config(write(tmp_path, used)).attention_layers == 28


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": "4096"}, "hidden_size"),
        ({"hidden_size": -1}, "hidden_size"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"vocab_size": 1.5}, "vocab_size"),
        ({"vocab_size": [1]}, "vocab_size"),
        ({"num_key_value_heads": 7}, "num_key_value_heads"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
        ({"model_type": "mamba"}, "model_type"),
        ({"model_type": None}, "model_type"),
        ({"model_type": {"a": 1}}, "model_type"),
        ({"num_attention_heads": 33, "num_key_value_heads": 33}, "num_attention_heads"),
        (
            {
                "model_type": "qwen3_moe",
                "num_experts": 8,
                "num_experts_per_tok": 9,
                "moe_intermediate_size": 64,
            },
            "num_experts_per_tok",
        ),
        (
            {
                "model_type": "qwen3_moe",
                "num_experts": 8,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 64,
                "decoder_sparse_step": 2,
            },
            "decoder_sparse_step",
        ),
        (
            {
                "model_type": "qwen3_moe",
                "num_experts": 8,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 64,
                "mlp_only_layers": [3],
            },
            "mlp_only_layers",
        ),
        ({"model_type": "deepseek_v3"}, "kv_lora_rank"),
    ],
)
def test_wrong_keys_are_named_with_their_line(tmp_path: Path, change: dict[str, Any], key: str) -> None:
    path = write(tmp_path, {**LLAMA, **change})
    with pytest.raises(InputError) as caught:
        model_from_config(path)
    complaint = next(one for one in caught.value.complaints if one.key == key)
    assert complaint.file == str(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    if key in change:
        assert complaint.line is not None
        assert f'"{key}"' in lines[complaint.line - 1]
    assert complaint.allowed


def test_every_missing_key_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        model_from_config(write(tmp_path, {"model_type": "llama"}))
    keys = {complaint.key for complaint in caught.value.complaints}
    assert keys >= {
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "vocab_size",
        "intermediate_size",
    }


@pytest.mark.parametrize(
    "content",
    [
        b"", b"not json", b"[1, 2]", b"12", b"null", b"\xff\xfe\x00", b"{" * 100_000, b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}", b'{"model_type": "llama",', b" " * (LARGEST_BYTES + 1),
    ],
)  # fmt: skip
def test_hostile_files_are_complaints(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        model_from_config(path)
    assert caught.value.complaints[0].file == str(path)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path, Path("/dev/null")):
        with pytest.raises(InputError, match="is no file"):
            model_from_config(path)
