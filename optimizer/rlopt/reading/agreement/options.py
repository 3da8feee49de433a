"""Models to choose among: which roles may have several, and what must be known of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.request import OPEN_ROLES, ROLES
from rlopt.request.values.kinds import show

BELONGS: Final[Mapping[str, str]] = {"accuracy": "reward", "cpu": "reward", "teacher_training": "teacher"}
"""What is stated of the models of one role only."""


def entries(view: View, role: str) -> Iterator[tuple[str, Any]]:
    """Dotted key below job.models and text of every entry of a role; one entry where it is no list."""
    value = view.get(f"job.models.{role}")
    if isinstance(value, list):
        yield from ((f"{role}[{number}]", entry) for number, entry in enumerate(value))
    elif value is not None:
        yield role, value


def named_models(view: View) -> Iterator[tuple[str, Any]]:
    """Dotted key below job.models and text of every model that the job names, those of a choice included."""
    for role in view.map("job.models"):
        for key, entry in entries(view, str(role)):
            stated = isinstance(entry, Mapping) and "model" in entry
            yield (f"{key}.model", entry["model"]) if stated else (key, entry)


def model_options(view: View) -> Iterator[Finding]:
    """Look for choices of models where there is one model, and for facts that belong to another role."""
    if view.algorithm is None:
        return
    for role, value in view.map("job.models").items():
        known = isinstance(value, list) or (isinstance(value, Mapping) and "model" in value)
        if known and role not in OPEN_ROLES:
            yield Finding(
                f"job.models.{role}",
                f"the {role} is one model, not a choice",
                f"one model; {', '.join(OPEN_ROLES)} may be lists",
                "name one model",
            )
            continue
        for key, entry in entries(view, str(role)):
            if not isinstance(entry, Mapping) or "model" not in entry:
                continue
            yield from _facts(view, role, key, entry)


def _facts(view: View, role: str, key: str, entry: Mapping[Any, Any]) -> Iterator[Finding]:
    for name, owner in BELONGS.items():
        if name in entry and role != owner and role in ROLES[view.algorithm or ""]:
            yield Finding(f"job.models.{key}.{name}", f"belongs to {owner} models", f"models.{owner}", f"delete {name}")
    if entry.get("convergence") is None:
        return
    if view.get("job.value_convergence") is not None:
        yield Finding(
            f"job.models.{key}.convergence",
            "is given beside job.value_convergence: two tables would say how long the run is",
            "one of them",
            "delete convergence here",
        )
    if view.get("choices.action_head") is not None:
        yield Finding(
            f"job.models.{key}.convergence",
            "is given beside choices.action_head: it would say that every head takes as long",
            "steps by head in job.convergence, or one head",
            "delete convergence here, or action_head",
        )


def reward_quality(view: View) -> Iterator[Finding]:
    """Look for reward models whose accuracy is not stated although a floor asks for it."""
    floor = view.number("floors.reward_quality")
    if floor is None or view.algorithm is None:
        return
    found = [(key, entry) for key, entry in entries(view, "reward") if entry not in ("rule", "none")]
    if not found or "reward" not in ROLES[view.algorithm]:
        yield Finding(
            "floors.reward_quality",
            "asks for a reward model, and there is none",
            "a reward model with its accuracy",
            "delete reward_quality",
        )
        return
    for key, entry in found:
        known = isinstance(entry, Mapping) and "model" in entry
        if not known or entry.get("accuracy") is None:
            name = entry.get("model") if known else entry
            yield Finding(
                f"job.models.{key}",
                f"the accuracy of {show(name)} is not stated, and floors.reward_quality asks for {floor:g}",
                "{model: ..., accuracy: ...}; none is assumed",
                "add its accuracy as it was measured, or delete floors.reward_quality",
            )
