"""Parameter counts from the shape of a model."""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.facts.model import Model


@dataclass(frozen=True, slots=True)
class ParameterCount:
    """Weights of a language model, by part; image towers and action experts are not in it.

    Parameters
    ----------
    total, active
        All weights; those one token passes through (embeddings included).
    embedding, head
        Input table with learned positions; output matrix (0 when tied to the input table).
    attention_per_layer, norms_per_layer
        Of every layer.
    ffn_per_dense_layer
        Feed-forward block of a layer without experts.
    router_per_layer, shared_per_layer, expert
        Of a layer with experts; `expert` is one routed expert.
    dense_per_layer
        Everything in a layer but routed experts: of a dense layer in a dense model, of an expert
        layer (attention, norms, router, shared experts) in a mixture of experts.
    expert_per_layer
        One routed expert (same as `expert`, 0 in a dense model).
    """

    total: float
    active: float
    embedding: float
    head: float
    attention_per_layer: float
    norms_per_layer: float
    ffn_per_dense_layer: float
    router_per_layer: float
    shared_per_layer: float
    expert: float
    dense_per_layer: float
    expert_per_layer: float


def attention_parameters(model: Model) -> float:
    """Weights of one attention block.

    Grouped-query attention, with hidden width h, n heads, k key-value heads of width d (Ainslie et al.,
    arXiv 2305.13245)::

        h n d + 2 h k d + n d h   (+ (n + 2 k) d with query-key-value biases, + h with an output bias)

    Latent attention, with query latent q, key-value latent c, per-head widths p (no position), r (rotary)
    and v (DeepSeek-V2, arXiv 2405.04434, section 2.1 and appendix C)::

        h q + q + q n (p + r)  or  h n (p + r);   h (c + r) + c + c n (p + v) + n v h
    """
    hidden, heads = model.hidden, model.heads
    if model.mla is not None:
        mla = model.mla
        query_width = heads * (mla.qk_nope + mla.qk_rope)
        query = hidden * query_width if mla.q_lora is None else mla.q_lora * (hidden + 1 + query_width)
        latent = hidden * (mla.kv_lora + mla.qk_rope) + mla.kv_lora
        expand = mla.kv_lora * heads * (mla.qk_nope + mla.v_dim)
        return float(query + latent + expand + heads * mla.v_dim * hidden)
    query_width = heads * model.head_dim
    key_width = model.kv_heads * model.head_dim
    biases = (query_width + 2 * key_width if model.qkv_bias else 0) + (hidden if model.bias else 0)
    return float(2 * hidden * query_width + 2 * hidden * key_width + biases)


def ffn_parameters(model: Model, width: int) -> float:
    """Weights of a block of width w: 3 h w if gated (Shazeer, arXiv 2002.05202), else 2 h w, plus biases."""
    biases = width + model.hidden if model.bias else 0
    return float((3 if model.gated else 2) * model.hidden * width + biases)


def parameter_count(model: Model) -> ParameterCount:
    """Count the weights of the language model from its shape alone.

    Parameters
    ----------
    model
        Only the shape is read; `params` is not.

    Returns
    -------
    ParameterCount
        Counts as floats (weights, not bytes).
    """
    attention = attention_parameters(model)
    norms = float(2 * model.hidden * (2 if model.bias else 1))
    embedding = float((model.vocab + model.positions) * model.hidden)
    head = 0.0 if model.tie_embeddings else float(model.vocab * model.hidden)
    outside = embedding + head + norms / 2
    dense_ffn = ffn_parameters(model, model.ffn) if model.ffn else 0.0
    moe_layers = model.moe_layers
    dense_layers = model.layers - moe_layers
    router = float(model.hidden * model.experts)
    shared = ffn_parameters(model, model.shared_expert_ffn) if model.shared_expert_ffn else 0.0
    expert = ffn_parameters(model, model.expert_ffn) if model.experts else 0.0
    body = model.layers * (attention + norms) + dense_layers * dense_ffn + moe_layers * (router + shared)
    return ParameterCount(
        total=outside + body + moe_layers * model.experts * expert,
        active=outside + body + moe_layers * model.active_experts * expert,
        embedding=embedding,
        head=head,
        attention_per_layer=attention,
        norms_per_layer=norms,
        ffn_per_dense_layer=dense_ffn,
        router_per_layer=router,
        shared_per_layer=shared,
        expert=expert,
        dense_per_layer=attention + norms + (router + shared if model.experts else dense_ffn),
        expert_per_layer=expert,
    )
