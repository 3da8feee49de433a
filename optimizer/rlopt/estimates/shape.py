"""Everything that depends on a model alone: parameters by part, FLOPs and cache per token."""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.facts import Model, parameter_count


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Parameters in counts, bytes where the name says so. Declared parameters win over the shape for weights.

    ``dense`` are all parameters outside the routed experts and the two embedding tables, ``experts_total`` the
    routed experts of all layers, ``experts_active`` those one token visits.
    """

    model: Model
    params: float
    dense: float
    experts_total: float
    experts_active: float
    embedding: float
    head: float
    largest_layer: float
    layers: int
    moe_layers: int
    hidden: int
    attention_width: float
    """heads · head dim, as score and value products see it."""
    attention_layers: float
    kv_values_per_token: float
    """Cached values of all layers; a latent counts once."""
    activation_units: float
    """Values kept per token and layer in training: 4 h + q, k, v + attention output + feed-forward."""
    vocab: int
    moe: bool

    @staticmethod
    def of(model: Model) -> ModelShape:
        """Split ``model`` into the parts the estimates need."""
        count = parameter_count(model)
        experts = model.moe_layers * model.experts * count.expert
        active = model.moe_layers * model.active_experts * count.expert
        tables = count.embedding + count.head
        scale = model.params / count.total if count.total else 1.0
        width, kv = _attention(model)
        ffn = 3 if model.gated else 2
        units = 4.0 * model.hidden + _projections(model) + width
        dense_ffn = ffn * model.ffn * (model.layers - model.moe_layers) / model.layers
        routed = 0.0
        if model.experts:
            per_layer = model.active_experts * (ffn * model.expert_ffn + 3.7 * model.hidden) + ffn * model.shared_expert_ffn
            routed = per_layer * model.moe_layers / model.layers
        layer = count.dense_per_layer + model.experts * count.expert
        return ModelShape(
            model=model, params=model.params, dense=(count.total - experts - tables) * scale,
            experts_total=experts * scale, experts_active=active * scale, embedding=count.embedding * scale,
            head=(count.head or count.embedding) * scale, largest_layer=layer * scale, layers=model.layers,
            moe_layers=model.moe_layers, hidden=model.hidden, attention_width=width,
            attention_layers=model.attention_layers or float(model.layers), kv_values_per_token=kv,
            activation_units=units + dense_ffn + routed, vocab=model.vocab, moe=model.experts > 0)

    @property
    def tied(self) -> bool:
        """Whether one table serves as embedding and head."""
        return self.model.tie_embeddings

    @property
    def tables(self) -> float:
        """Parameters of the embedding tables that exist."""
        return self.embedding + (0.0 if self.tied else self.head)

    def lora_params(self, rank: int) -> float:
        """Adapter parameters of rank r on every linear layer: r (in + out) each (Hu et al., 2021, section 4.1)."""
        model = self.model
        h, q, kv = model.hidden, model.heads * model.head_dim, model.kv_heads * model.head_dim
        if model.mla is not None:
            mla = model.mla
            heads = model.heads
            q_in = mla.q_lora or h
            attention = ((h + q_in) if mla.q_lora else 0) + (q_in + heads * (mla.qk_nope + mla.qk_rope))
            attention += (h + mla.kv_lora + mla.qk_rope) + (mla.kv_lora + heads * (mla.qk_nope + mla.v_dim))
            attention += heads * mla.v_dim + h
        else:
            attention = (h + q) + 2 * (h + kv) + (q + h)
        matrices = 3 if model.gated else 2
        dense = matrices * (h + model.ffn) * (model.layers - model.moe_layers) if model.ffn else 0
        routed = model.moe_layers * matrices * (model.experts * (h + model.expert_ffn)
                                                + (h + model.shared_expert_ffn if model.shared_expert_ffn else 0))
        return float(rank * (attention * model.layers + dense + routed))


def _attention(model: Model) -> tuple[float, float]:
    """Width of the score product and cached values per token over all layers."""
    layers = model.attention_layers or float(model.layers)
    if model.mla is not None:
        width = model.heads * (model.mla.qk_nope + model.mla.qk_rope + model.mla.v_dim) / 2.0
        return width, layers * (model.mla.kv_lora + model.mla.qk_rope)
    windowed = model.layers if model.window is not None else layers
    return float(model.heads * model.head_dim), windowed * 2.0 * model.kv_heads * model.head_dim


def _projections(model: Model) -> float:
    if model.mla is not None:
        mla = model.mla
        return float(model.heads * (2 * (mla.qk_nope + mla.qk_rope) + mla.v_dim))
    return float((model.heads + 2 * model.kv_heads) * model.head_dim)
