"""Low-rank adapters.

Parameters of rank r on every linear layer, r (in + out) each (Hu et al., 2021, section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.facts import Model


@dataclass(frozen=True, slots=True)
class AdapterCount:
    """Adapter parameters of attention, feed-forward and shared experts (dense) and of the routed experts."""

    dense: float
    experts: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.dense + self.experts


def _attention(model: Model) -> int:
    hidden = model.hidden
    if model.mla is None:
        query, key = model.heads * model.head_dim, model.kv_heads * model.head_dim
        return 2 * (hidden + query) + 2 * (hidden + key)
    mla = model.mla
    query = model.heads * (mla.qk_nope + mla.qk_rope)
    queries = hidden + query if mla.q_lora is None else hidden + 2 * mla.q_lora + query
    latent = hidden + mla.kv_lora + mla.qk_rope + mla.kv_lora + model.heads * (mla.qk_nope + mla.v_dim)
    return queries + latent + model.heads * mla.v_dim + hidden


def adapter_count(model: Model, rank: int) -> AdapterCount:
    """Adapters of rank ``rank`` on all linear layers of ``model``; tables and routers carry none."""
    matrices = 3 if model.gated else 2
    ffn = matrices * (model.hidden + model.ffn) * (model.layers - model.moe_layers) if model.ffn else 0
    shared = matrices * (model.hidden + model.shared_expert_ffn) * model.moe_layers if model.shared_expert_ffn else 0
    routed = matrices * (model.hidden + model.expert_ffn) * model.experts * model.moe_layers
    return AdapterCount(float(rank * (_attention(model) * model.layers + ffn + shared)), float(rank * routed))
