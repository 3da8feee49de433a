"""A vision-language-action policy as two models: the backbone that reads observations, the expert that acts.

Both have the same layers and the same attention heads, since the expert attends to the backbone's keys and values
layer by layer (pi0, Black et al., 2024, arXiv 2410.24164, section IV).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import sqrt

from rlopt.facts import Model

FFN_OF_HIDDEN = 4
"""Feed-forward width of an action expert over its hidden width (openpi gemma_300m: 4096 over 1024)."""
MULTIPLE = 128
"""Hidden widths come in multiples of this."""


@lru_cache(maxsize=64)
def backbone_of(model: Model) -> Model:
    """The policy without its action expert; the model itself where it has none."""
    if not model.action_params:
        return model
    params = model.vlm_params or model.params - model.action_params
    return replace(
        model, params=params, active_params=min(model.active_params, params), vlm_params=0.0, action_params=0.0
    )


@lru_cache(maxsize=64)
def expert_of(model: Model) -> Model | None:
    """The action expert; ``None`` where the policy acts through its backbone.

    Its hidden width h follows from its weights, with heads and layers L of the backbone::

        params / L = 2 h d (heads + kv_heads) + 3 h (4 h)
    """
    if not model.action_params:
        return None
    linear = 2.0 * model.head_dim * (model.heads + model.kv_heads)
    square = 3.0 * FFN_OF_HIDDEN
    width = (sqrt(linear**2 + 4.0 * square * model.action_params / model.layers) - linear) / (2.0 * square)
    hidden = max(round(width / MULTIPLE), 1) * MULTIPLE
    return Model(
        name=f"{model.name} action expert",
        hf_id="",
        params=model.action_params,
        active_params=model.action_params,
        layers=model.layers,
        hidden=hidden,
        heads=model.heads,
        kv_heads=model.kv_heads,
        head_dim=model.head_dim,
        ffn=FFN_OF_HIDDEN * hidden,
        gated=True,
        vocab=0,
        attention_layers=float(model.layers),
        source=model.source,
    )
