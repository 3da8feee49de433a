"""From the names in a request to facts: catalog models, config.json files and inline shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rlopt.facts import Catalog, Mla, Model, parameter_count
from rlopt.reading.huggingface.config import model_from_config
from rlopt.request import ROLE_DEFAULTS, ROLES, InlineModel, ModelChoice, ModelRef, Request
from rlopt.workloads.picked import facts_key
from rlopt.workloads.shared_value import head_model


def inline_model(fields: InlineModel) -> Model:
    """A model stated in the request; ``params`` wins for weights, the shape fills what is left out."""
    mla = (
        None
        if fields.mla is None
        else Mla(
            q_lora=fields.mla.q_lora,
            kv_lora=fields.mla.kv_lora,
            qk_nope=fields.mla.qk_nope,
            qk_rope=fields.mla.qk_rope,
            v_dim=fields.mla.v_dim,
        )
    )
    shape = Model(
        name=fields.name,
        hf_id="",
        params=0.0,
        active_params=0.0,
        layers=fields.layers,
        hidden=fields.hidden,
        heads=fields.heads,
        kv_heads=fields.kv_heads,
        head_dim=fields.head_dim,
        ffn=fields.ffn,
        gated=fields.gated,
        vocab=fields.vocab,
        experts=fields.experts,
        active_experts=fields.active_experts,
        expert_ffn=fields.expert_ffn,
        shared_expert_ffn=fields.shared_expert_ffn,
        mla=mla,
        tie_embeddings=fields.tie_embeddings,
        attention_layers=float(fields.layers),
        params_basis="inline",
        vlm_params=float(fields.vlm_params or 0),
        action_params=float(fields.action_params or 0),
        source="request",
    )
    count = parameter_count(shape)
    total = float(fields.params or count.total)
    active = float(fields.active_params or total * count.active / count.total)
    return replace(shape, params=total, active_params=active)


def _resolve(ref: ModelRef, catalog: Catalog) -> Model:
    if ref.inline is not None:
        return inline_model(ref.inline)
    if ref.path is not None:
        return model_from_config(Path(ref.path))
    return catalog.model(ref.name or "")


def shape_warnings(models: dict[str, Model]) -> list[str]:
    """Declared sizes that the shape does not bear out to 5 %."""
    found = []
    for role, model in models.items():
        derived = parameter_count(model).total + model.action_params  # the shape is the language model's
        if model.params_basis == "inline" and abs(model.params / derived - 1.0) > 0.05:
            found.append(
                f"{role}: {model.params:.4g} parameters are stated, its shape gives {derived:.4g}; "
                "the stated count is used for weights and FLOPs"
            )
    return found


def resolve_models(request: Request, catalog: Catalog) -> dict[str, Model]:
    """Facts of every role that is a model, by role. `policy` roles share the policy's record.

    Of a choice of models the first stands under the role's name, the others under names of `facts_key`.

    Raises MissingFactError where a model is not known, NotSupportedError for combinations this release lacks.
    """
    job = request.job
    policy = _resolve(job.models.policy, catalog)
    found = {"policy": policy}
    for role in ROLES[job.algorithm]:
        ref = getattr(job.models, role)
        if role == "policy":
            continue
        if ref is None:
            default = ROLE_DEFAULTS.get(role)
            if default is None or default == "none":
                continue
            found[role] = policy
        elif ref.shared is not None:
            found[role] = head_model(policy, ref.shared.head)
        elif ref.is_policy:
            found[role] = policy
        elif isinstance(ref, ModelChoice) and ref.options:
            found |= {facts_key(role, n): _resolve(option.model, catalog) for n, option in enumerate(ref.options)}
        elif ref.is_model:
            found[role] = _resolve(ref, catalog)
    return found
