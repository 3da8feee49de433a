"""A value model on the policy's backbone, and what it is trained on before the first step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.reading.agreement.value_bins import has_value_model

_TRUNK: Final = ("vision", "backbone")
"""Parts that a shared value model reads through: what they say must not change while it learns."""


def shared_value(view: View) -> Iterator[Finding]:
    """Look for a shared backbone in another role, or one that is trained."""
    if view.algorithm is None:
        return
    for role, model in view.map("job.models").items():
        if role != "value" and isinstance(model, Mapping) and "share" in model:
            yield Finding(f"job.models.{role}", "only a value model may share the backbone", "a model", "name a model")
    value = view.get("job.models.value")
    if view.algorithm != "vla" or not isinstance(value, Mapping) or "share" not in value:
        return
    frozen = view.get("job.trainable.frozen")
    trained = [part for part in _TRUNK if not isinstance(frozen, list) or part not in frozen]
    if trained:
        yield Finding(
            "job.models.value",
            f"shares the backbone, and {' and '.join(trained)} {'is' if len(trained) == 1 else 'are'} trained",
            "a frozen trunk: its features must not move under the value head",
            "write trainable: {frozen: [vision, backbone]}, or give value a model of its own",
        )


def offline(view: View) -> Iterator[Finding]:
    """Look for stored data without a value model to train on them."""
    if view.algorithm == "vla" and view.get("job.offline") is not None and not has_value_model(view):
        yield Finding(
            "job.offline",
            "trains a value model before the first step, and there is none",
            "models.value with a model",
            "add value to models, or delete offline",
        )
