"""Everything that depends on a model alone: parameters by part, FLOPs and cache per token."""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.estimates.lora import AdapterCount, adapter_count
from rlopt.facts import Model, ParameterCount, parameter_count

LEAST_AGREEMENT, MOST_AGREEMENT = 0.5, 2.0
"""Declared parameters split into dense and routed ones within this ratio to the shape's own."""
MOST_TABLES = 0.9
"""Where fewer parameters are declared than the tables alone would have, they shrink to this share."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Parameters are counts; declared ones win over the shape for weights and FLOPs.

    Parameters
    ----------
    params
        All weights.
    dense
        Weights outside the routed experts and the embedding tables (image towers and action experts
        included).
    dense_active
        Those of `dense` that one text token passes through.
    experts_total, experts_active
        Routed experts of all layers; those one token visits.
    embedding, head
        Input table; output matrix (the same table when tied).
    largest_body, layer_experts
        Weights of the largest layer outside its routed experts, and of all its routed experts: gathered as
        one under full sharding.
    attention_width
        heads · head dim, as score and value products see it.
    attention_layers, window_layers, window
        Layers with full attention; with a window; tokens the window holds (0 = none).
    kv_values_per_token
        Cached values of a token over all layers that cache it; a latent counts once.
    activation_units
        Values kept per token and layer in training, routed tokens apart: 4 h + q, k, v + attention output +
        feed-forward (Korthikanti et al., 2022, section 4.1, with flash attention and SwiGLU).
    routed_units, routed_copies
        Values inside the experts that a token visits, and hidden-width copies it makes, per layer on average.
    """

    model: Model
    params: float
    dense: float
    dense_active: float
    experts_total: float
    experts_active: float
    embedding: float
    head: float
    largest_body: float
    layer_experts: float
    layers: int
    moe_layers: int
    hidden: int
    attention_width: float
    attention_layers: float
    window_layers: float
    window: float
    kv_values_per_token: float
    activation_units: float
    routed_units: float
    routed_copies: float
    vocab: int
    moe: bool

    @staticmethod
    def of(model: Model) -> ModelShape:
        """Split ``model`` into the parts the estimates need."""
        count = parameter_count(model)
        tables = min(1.0, MOST_TABLES * model.params / (count.embedding + count.head))
        dense, dense_active, experts, active = _split(model, count, tables)
        scale = experts / (model.moe_layers * model.experts * count.expert) if experts else 1.0
        full = model.attention_layers if model.attention_layers or model.window else float(model.layers)
        windowed = float(model.layers) - full if model.window else 0.0
        width, per_layer = _attention(model)
        ffn = 3 if model.gated else 2
        moe_share = model.moe_layers / model.layers
        units = 4.0 * model.hidden + _projections(model) + width
        units += ffn * (model.ffn * (1.0 - moe_share) + model.shared_expert_ffn * moe_share)
        body = dense / model.layers if model.vision is None else count.dense_per_layer
        return ModelShape(
            model=model,
            params=model.params,
            dense=dense,
            dense_active=dense_active,
            experts_total=experts,
            experts_active=active,
            embedding=count.embedding * tables,
            head=(count.head or count.embedding) * tables,
            largest_body=body,
            layer_experts=model.experts * count.expert * scale,
            layers=model.layers,
            moe_layers=model.moe_layers,
            hidden=model.hidden,
            attention_width=width,
            attention_layers=full,
            window_layers=windowed,
            window=float(model.window or 0),
            kv_values_per_token=per_layer * (full + windowed),
            activation_units=units,
            routed_units=moe_share * model.active_experts * ffn * model.expert_ffn,
            routed_copies=moe_share * model.active_experts,
            vocab=model.vocab,
            moe=model.experts > 0,
        )

    @property
    def tied(self) -> bool:
        """Whether one table serves as embedding and head."""
        return self.model.tie_embeddings

    @property
    def tables(self) -> float:
        """Parameters of the embedding tables that exist."""
        return self.embedding + (0.0 if self.tied else self.head)

    @property
    def active(self) -> float:
        """Parameters that multiply in a forward pass of one token.

        2 FLOPs each (the input table is only looked up).
        """
        return self.dense_active + self.experts_active + self.head

    def adapters(self, rank: int) -> AdapterCount:
        """Adapter parameters of rank r on every linear layer, dense and routed apart."""
        return adapter_count(self.model, rank)

    def lora_params(self, rank: int) -> float:
        """Adapter parameters of rank r on every linear layer.

        They are r (in + out) each (Hu et al., 2021, section 4.1).
        """
        return adapter_count(self.model, rank).total

    def attended_pairs(self, attended: float) -> float:
        """Token pairs per token over all layers, causal: half the sequence, or at most the window."""
        return self.attention_layers * attended / 2.0 + self.window_layers * min(attended / 2.0, self.window)

    def cached_tokens(self, context: float) -> float:
        """Tokens that ``context`` tokens keep in the cache, windowed layers counted by their share."""
        caching = self.attention_layers + self.window_layers
        return (self.attention_layers * context + self.window_layers * min(context, self.window)) / caching


def _split(model: Model, count: ParameterCount, table_scale: float) -> tuple[float, float, float, float]:
    """Dense weights, dense weights a token passes, routed weights, routed weights a token visits.

    The embedding tables follow the shape; declared totals set the rest. For a mixture of experts with total P
    and active A, the routed weights E solve P - A = E (1 - k / n).
    """
    tables = (count.embedding + count.head) * table_scale
    body = model.params - tables
    routed = model.moe_layers * model.experts * count.expert
    shape_body = count.total - count.embedding - count.head
    if not model.experts or not routed:
        passed = model.active_params - tables if 0 < model.active_params < model.params else body
        return body, max(passed, 0.0), 0.0, 0.0
    share = model.active_experts / model.experts
    outside = (model.vision.params if model.vision else 0.0) + model.action_params
    experts = (model.params - outside - model.active_params) / (1.0 - share) if share < 1.0 else 0.0
    agrees = LEAST_AGREEMENT <= experts / routed <= MOST_AGREEMENT and experts < body
    if not agrees:
        experts = routed * body / shape_body
    dense = body - experts
    return dense, max(dense - outside, 0.0), experts, experts * share


def _attention(model: Model) -> tuple[float, float]:
    """Width of the score product, and cached values per token and layer."""
    if model.mla is not None:
        width = model.heads * (model.mla.qk_nope + model.mla.qk_rope + model.mla.v_dim) / 2.0
        return width, float(model.mla.kv_lora + model.mla.qk_rope)
    return float(model.heads * model.head_dim), 2.0 * model.kv_heads * model.head_dim


def _projections(model: Model) -> float:
    """Values of queries, keys and values of one token."""
    if model.mla is not None:
        mla = model.mla
        return float(model.heads * (2 * (mla.qk_nope + mla.qk_rope) + mla.v_dim))
    return float((model.heads + 2 * model.kv_heads) * model.head_dim)
