"""Everything that depends on a model alone: parameters by part, FLOPs and cache per token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates.codes import Flags, Ints, Values
from rlopt.estimates.lora import adapter_count
from rlopt.facts import Model, ParameterCount, Vision, parameter_count
from rlopt.table import Table

LEAST_AGREEMENT, MOST_AGREEMENT = 0.5, 2.0
"""Declared parameters split into dense and routed ones within this ratio to the shape's own."""
MOST_TABLES = 0.9
"""Where fewer parameters are declared than the tables alone would have, they shrink to this share."""


@dataclass(frozen=True, slots=True)
class ModelShape(Table):
    """One model, or a stack of n of them: fields are then arrays of shape (n,).

    Parameters are counts; declared ones win over the shape for weights and FLOPs.

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
    mla, tied
        Latent attention; one table as embedding and head.
    adapters_dense, adapters_experts
        Adapter parameters per unit of rank outside and inside the routed experts.
    routed_units, routed_copies
        Values inside the experts that a token visits, and hidden-width copies it makes, per layer on average.
    """

    params: Values
    dense: Values
    dense_active: Values
    experts_total: Values
    experts_active: Values
    embedding: Values
    head: Values
    largest_body: Values
    layer_experts: Values
    layers: Values
    moe_layers: Values
    hidden: Values
    heads: Values
    kv_heads: Values
    ffn: Values
    gated: Flags
    expert_ffn: Values
    experts: Values
    active_experts: Values
    attention_width: Values
    attention_layers: Values
    window_layers: Values
    window: Values
    kv_values_per_token: Values
    activation_units: Values
    routed_units: Values
    routed_copies: Values
    vocab: Values
    moe: Flags
    mla: Flags
    tied: Flags
    adapters_dense: Values
    adapters_experts: Values

    @staticmethod
    def of(model: Model) -> ModelShape:
        """Split ``model`` into the parts the estimates need."""
        count = parameter_count(model)
        own = count.embedding + count.head
        tables = min(1.0, MOST_TABLES * model.params / own) if own else 1.0
        dense, dense_active, experts, active = _split(model, count, tables)
        scale = experts / (model.moe_layers * model.experts * count.expert) if experts else 1.0
        full = model.attention_layers if model.attention_layers or model.window else float(model.layers)
        windowed = float(model.layers) - full if model.window else 0.0
        width, per_layer = _attention(model)
        adapters = adapter_count(model, 1)
        ffn = 3 if model.gated else 2
        moe_share = model.moe_layers / model.layers
        units = 4.0 * model.hidden + _projections(model) + width
        units += ffn * (model.ffn * (1.0 - moe_share) + model.shared_expert_ffn * moe_share)
        body = dense / model.layers if model.vision is None else count.dense_per_layer
        return ModelShape(
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
            heads=model.heads,
            kv_heads=model.kv_heads,
            ffn=model.ffn,
            gated=model.gated,
            expert_ffn=model.expert_ffn,
            experts=model.experts,
            active_experts=model.active_experts,
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
            mla=model.mla is not None,
            tied=model.tie_embeddings,
            adapters_dense=adapters.dense,
            adapters_experts=adapters.experts,
        )

    @staticmethod
    def stack(shapes: Sequence[ModelShape], which: Sequence[int] | Ints) -> ModelShape:
        """Rows ``shapes[i] for i in which`` as arrays of shape (len(which),), so that one call meets many models."""
        at = np.asarray(which, dtype=np.int64)
        return ModelShape(
            **{name: np.array([getattr(s, name) for s in shapes])[at] for name in ModelShape.__match_args__}
        )

    def with_outputs(self, outputs: int) -> ModelShape:
        """The same layers under an output matrix of ``outputs`` columns of its own: a score, bins, or none at all."""
        head = float(outputs) * self.hidden
        untied = self.head * (1.0 - self.tied)
        return replace(self, params=self.params - untied + head, head=head, vocab=float(outputs), tied=False)

    def with_images(self, tower: Vision, patches_per_token: float) -> ModelShape:
        """The same model where each token brings ``patches_per_token`` patches through the image tower.

        A text token's weights, and the tower's once per patch; of the tower's activations 8 h + 2 f per patch and
        layer (see `activation_units`; two feed-forward matrices). Attention between patches is left out: 4 % of the
        tower's FLOPs at 256 patches, 15 % at 1,024 (4 · patches · hidden · layers against 2 · params).
        """
        kept = patches_per_token * tower.layers / self.layers * (8.0 * tower.hidden + 2.0 * tower.ffn)
        passed = np.minimum(self.dense_active, self.dense - tower.params)
        return replace(
            self,
            dense_active=passed + tower.params * patches_per_token,
            activation_units=self.activation_units + kept,
        )

    @property
    def tables(self) -> Values:
        """Parameters of the embedding tables that exist."""
        return self.embedding + self.head * (1.0 - self.tied)

    @property
    def active(self) -> Values:
        """Parameters that multiply in a forward pass of one token.

        2 FLOPs each (the input table is only looked up).
        """
        return self.dense_active + self.experts_active + self.head

    def lora_params(self, rank: Values) -> Values:
        """Adapter parameters of rank r on every linear layer.

        They are r (in + out) each (Hu et al., 2021, section 4.1).
        """
        return rank * (self.adapters_dense + self.adapters_experts)

    def attended_pairs(self, attended: Values) -> Values:
        """Token pairs per token over all layers, causal: half the sequence, or at most the window."""
        return self.attention_layers * attended / 2.0 + self.window_layers * np.minimum(attended / 2.0, self.window)

    def cached_tokens(self, context: Values) -> Values:
        """Tokens that ``context`` tokens keep in the cache, windowed layers counted by their share."""
        caching = self.attention_layers + self.window_layers
        return (self.attention_layers * context + self.window_layers * np.minimum(context, self.window)) / caching


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
