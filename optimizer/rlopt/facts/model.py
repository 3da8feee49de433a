"""Neural networks, by shape."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): widths per head or latent.

    `q_lora` is ``None`` where queries are not compressed.
    """

    q_lora: int | None
    kv_lora: int
    qk_nope: int
    qk_rope: int
    v_dim: int


@dataclass(frozen=True, slots=True)
class Vision:
    """The image tower of a vision-language model; `params` counts its weights and those of its projector.

    `merge` patches on a side become one language token.
    """

    layers: int
    hidden: int
    ffn: int
    heads: int
    patch: int
    merge: int
    params: float


@dataclass(frozen=True, slots=True)
class Model:
    """One model: declared size and shape.

    Parameters
    ----------
    name, hf_id
        Canonical catalog name and the address on the model hub (empty when it has none).
    params
        All weights, image tower and action expert included.
    active_params
        Weights that one text token passes through, embeddings included.
    layers, hidden, heads, kv_heads, head_dim, ffn, vocab
        Shape of the language model; `ffn` is the width of the dense feed-forward block (of the leading
        dense layers in a mixture of experts).
    gated
        Three feed-forward matrices (SwiGLU and the like) instead of two.
    experts, active_experts, expert_ffn
        Routed experts per layer, how many a token visits, width of one; 0 = dense.
    shared_expert_ffn
        Total width of the always-active experts.
    dense_layers
        Leading layers without experts in a mixture of experts.
    attention_layers
        Layers with full attention; equals `layers` unless some layers are windowed or linear.
    window
        Tokens that the other layers attend to; ``None`` = no windowed layers.
    bias
        Biases on the attention output and the feed-forward matrices as well (GPT style).
    positions
        Learned position embeddings (0 = rotary or none).
    vlm_params, action_params
        Parts of a vision-language-action model; 0 otherwise.
    params_basis
        ``published`` (the maker's figure, see `source`), ``derived`` (from the shape), ``inline`` (stated
        in a request) or ``config`` (from a Hugging Face config.json).
    """

    name: str
    hf_id: str
    params: float
    active_params: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    gated: bool
    vocab: int
    experts: int = 0
    active_experts: int = 0
    expert_ffn: int = 0
    shared_expert_ffn: int = 0
    dense_layers: int = 0
    tie_embeddings: bool = False
    qkv_bias: bool = False
    mla: Mla | None = None
    attention_layers: float = 0.0
    window: int | None = None
    vision: Vision | None = None
    vlm_params: float = 0.0
    action_params: float = 0.0
    params_basis: str = "derived"
    source: str = ""
    bias: bool = False
    positions: int = 0

    @property
    def is_moe(self) -> bool:
        """Whether any layer routes tokens to experts."""
        return self.experts > 0

    @property
    def moe_layers(self) -> int:
        """Layers with routed experts."""
        return self.layers - self.dense_layers if self.experts else 0
