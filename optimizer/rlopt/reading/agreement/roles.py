"""Models and their parts as the algorithm needs them, where frozen ones score, and those that make pairs first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.reading.agreement.options import named_models
from rlopt.request import GENERATING, ROLE_DEFAULTS, ROLES
from rlopt.request.values.kinds import show
from rlopt.words import ModelPart

_VISION_PARTS: Final = tuple(ModelPart)
_TEXT_PARTS: Final = ("backbone", "embeddings", "head")


def roles_fit(view: View) -> Iterator[Finding]:
    """Look for roles that are missing, foreign or filled by the wrong keyword."""
    algorithm = view.algorithm
    models = view.get("job.models")
    if algorithm is None or not isinstance(models, Mapping):
        return
    roles = ROLES[algorithm]
    for role, keywords in roles.items():
        words = [*keywords, "a model"]
        value = models.get(role)
        if value is None and role not in ROLE_DEFAULTS and role != "policy":
            example = {"reward": "rule", "critic": "policy"}.get(role, "Qwen/Qwen3-32B")
            yield Finding(
                f"job.models.{role}",
                f"is missing: {algorithm} needs it",
                " | ".join(words),
                f"add {role}: {example}",
            )
        if isinstance(value, str) and value.strip() in ("policy", "none", "rule") and value.strip() not in keywords:
            fix = f"write {keywords[0]}" if keywords else "name a model, such as Qwen/Qwen2.5-7B-Instruct"
            yield Finding(
                f"job.models.{role}",
                f"{show(value)} cannot be the {role} of {algorithm}",
                " | ".join(words),
                fix,
            )
    for role, value in models.items():
        if role not in roles and role in _all_roles() and value not in (None, "none"):
            yield Finding(
                f"job.models.{role}",
                f"{algorithm} has no {role}",
                f"{algorithm} has {', '.join(roles)}",
                f"delete {role}",
            )
    for key, value in named_models(view):
        for part in ("vlm_params", "action_params"):
            if algorithm != "vla" and isinstance(value, Mapping) and part in value:
                yield Finding(f"job.models.{key}.{part}", "belongs to vla jobs", "algorithm: vla", f"delete {part}")


def _all_roles() -> set[str]:
    return {role for roles in ROLES.values() for role in roles}


def trained_parts(view: View) -> Iterator[Finding]:
    """Look for jobs in which nothing is left to train."""
    frozen = view.get("job.trainable.frozen")
    parts = _VISION_PARTS if view.algorithm == "vla" else _TEXT_PARTS
    if isinstance(frozen, list) and view.algorithm is not None and set(parts) <= {str(f) for f in frozen}:
        yield Finding(
            "job.trainable.frozen",
            "freezes every part: nothing is trained",
            f"some of {', '.join(parts)}",
            f"take {parts[-1]} out",
        )


def own_scoring(view: View) -> Iterator[Finding]:
    """Look for scoring pools of their own where no plan may have separate pools."""
    if view.algorithm is None or view.get("choices.scoring") != ["own"]:
        return
    if view.algorithm not in GENERATING:
        why = f"{view.algorithm} has one pool"
    elif view.get("choices.placements") == ["colocated"]:
        why = "choices.placements allows colocated alone"
    else:
        return
    yield Finding(
        "choices.scoring",
        f"own cannot be had: {why}",
        "shared, or own with disaggregated or async",
        "write [shared]",
    )


PAIRED = ("dpo", "rm")


def pairs(view: View) -> Iterator[Finding]:
    """Look for pairs of jobs that are not trained on any, and for keywords that are no model of theirs."""
    if view.algorithm is None or view.get("job.pairs") is None:
        return
    if view.algorithm not in PAIRED:
        message = f"does not apply to {view.algorithm}: it is not trained on pairs"
        yield Finding("job.pairs", message, f"algorithm: {' or '.join(PAIRED)}", "delete pairs")
        return
    if view.get("job.pairs.generator") in ("rule", "none"):
        yield Finding("job.pairs.generator", "samples responses", "policy, or a model", "write policy")
    if view.get("job.pairs.judge") in ("policy", "none"):
        yield Finding("job.pairs.judge", "scores responses", "a model, or rule", "write rule, or a reward model")
