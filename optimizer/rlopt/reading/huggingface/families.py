"""What the families of Hugging Face configurations leave unsaid, by ``model_type``.

A config.json omits every key that has its class's default; the defaults here are those of the configuration
classes of the library (huggingface.co/docs/transformers, page of each model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """How one family's keys map onto a model.

    Parameters
    ----------
    gated, bias, tie
        Three feed-forward matrices; biases on every matrix; input and output table shared by default.
    qkv_bias
        ``always``, ``never`` or the key that says so.
    head_dim
        Width of a head where the key is absent; ``None`` = hidden / heads.
    experts, active, expert_ffn, shared
        Keys of a mixture of experts; empty = none. `shared` is a width or, for ``n_shared_experts``, a number
        of experts of the routed width.
    leading
        Key of the number of leading dense layers.
    mla
        Latent attention.
    windows
        ``flag`` (``use_sliding_window``), ``all`` layers, ``half`` of them, all but every n-th (``pattern``),
        or empty.
    ffn
        Key of the width of the dense feed-forward block.
    """

    gated: bool = True
    bias: bool = False
    tie: bool = False
    qkv_bias: str = "never"
    head_dim: int | None = None
    experts: str = ""
    active: str = "num_experts_per_tok"
    expert_ffn: str = ""
    shared: str = ""
    leading: str = ""
    mla: bool = False
    windows: str = ""
    ffn: str = "intermediate_size"


_DEEPSEEK = ModelFamily(
    experts="n_routed_experts",
    expert_ffn="moe_intermediate_size",
    shared="n_shared_experts",
    leading="first_k_dense_replace",
    mla=True,
)

FAMILIES: Mapping[str, ModelFamily] = {
    "llama": ModelFamily(qkv_bias="attention_bias"),
    "mistral": ModelFamily(windows="all"),
    "mixtral": ModelFamily(experts="num_local_experts", expert_ffn="intermediate_size", ffn=""),
    "qwen2": ModelFamily(qkv_bias="always", windows="flag"),
    "qwen2_moe": ModelFamily(
        qkv_bias="always",
        windows="flag",
        experts="num_experts",
        expert_ffn="moe_intermediate_size",
        shared="shared_expert_intermediate_size",
    ),
    "qwen3": ModelFamily(qkv_bias="attention_bias", windows="flag", head_dim=128),
    "qwen3_moe": ModelFamily(
        qkv_bias="attention_bias", windows="flag", experts="num_experts", expert_ffn="moe_intermediate_size"
    ),
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "glm4": ModelFamily(qkv_bias="attention_bias", head_dim=128),
    "glm4_moe": ModelFamily(
        qkv_bias="attention_bias",
        head_dim=128,
        experts="n_routed_experts",
        expert_ffn="moe_intermediate_size",
        shared="n_shared_experts",
        leading="first_k_dense_replace",
    ),
    "gpt_oss": ModelFamily(
        qkv_bias="always",
        head_dim=64,
        windows="half",
        experts="num_local_experts",
        expert_ffn="intermediate_size",
        ffn="",
    ),
    "gemma": ModelFamily(tie=True, head_dim=256, qkv_bias="attention_bias"),
    "gemma2": ModelFamily(tie=True, head_dim=256, qkv_bias="attention_bias", windows="half"),
    "gemma3_text": ModelFamily(tie=True, head_dim=256, qkv_bias="attention_bias", windows="pattern"),
    "phi3": ModelFamily(windows="all"),
    "olmo2": ModelFamily(qkv_bias="attention_bias"),
    "opt": ModelFamily(gated=False, bias=True, tie=True, qkv_bias="always", ffn="ffn_dim"),
    "gpt_neox": ModelFamily(gated=False, bias=True, qkv_bias="always"),
    "phi": ModelFamily(gated=False, bias=True, qkv_bias="always"),
}
