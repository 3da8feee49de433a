"""The value model: its bins, a backbone that it shares, and what it is trained on before the first step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlopt.reading.agreement.contract import Finding, View
from rlopt.reading.agreement.groups import sizes_of
from rlopt.request.values.kinds import show


def value_bins(view: View) -> Iterator[Finding]:
    """Look for bins that are missing, that no value model has, or that the table of steps excludes."""
    if view.algorithm is None:
        return
    bins, table = view.get("choices.value_bins"), view.map("job.value_convergence")
    for key in ("choices.value_bins", "job.value_convergence"):
        if view.get(key) is not None and not has_value_model(view):
            there = "there is no value model" if view.algorithm == "vla" else f"{view.algorithm} has none"
            name = key.rpartition(".")[2]
            yield Finding(
                key,
                f"needs a value model, and {there}",
                "algorithm: vla with models.value",
                f"delete {name}" if view.algorithm != "vla" else f"add value to models, or delete {name}",
            )
    if not has_value_model(view):
        return
    if not bins_of(view) and bins is None:
        yield Finding(
            "choices.value_bins",
            "is missing: models.value is a model, and nothing says how many bins it has",
            "a list of bins, job.value_convergence, or floors.value_bins",
            "add value_bins: [201]",
        )
    if isinstance(bins, list) and 1 in bins and len(set(sizes_of(bins))) > 1 and not table:
        yield Finding(
            "choices.value_bins",
            "1 is regression, which needs steps of its own beside bins",
            "job.value_convergence with steps for each",
            "replace steps by value_convergence: {1: 900, 201: 600}, or take 1 out",
        )
    if isinstance(bins, list) and sizes_of(list(table)) and not set(sizes_of(bins)) & set(table):
        yield Finding(
            "choices.value_bins",
            f"no number of {show(bins)} has an entry in job.value_convergence",
            f"bins among {', '.join(str(count) for count in table)}",
            f"write {list(table)}",
        )


def has_value_model(view: View) -> bool:
    """Tell whether the job is vla and names a value model."""
    value = view.get("job.models.value")
    return view.algorithm == "vla" and value is not None and value != "none"


def bins_of(view: View) -> list[int]:
    """Give the bins in play where choices name none: those of the table of steps, else the floor."""
    if not has_value_model(view):
        return []
    floor = view.number("floors.value_bins")
    return sizes_of(list(view.map("job.value_convergence"))) or sizes_of([floor] if floor is not None else [])


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
