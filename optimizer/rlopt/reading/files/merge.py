"""Presets under a file: maps merge, lists are replaced, the file wins; floors loosen only with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rlopt.errors import Complaint
from rlopt.reading.files import budget_form
from rlopt.reading.files.floor_order import MISSING, get, leaves, looser, say
from rlopt.reading.files.reasons import Becauses, unwrap
from rlopt.reading.files.tree import Places, Tree


@dataclass(slots=True)
class Layer:
    """A file with all that it extends merged in.

    Parameters
    ----------
    value, places
        Keys and where they stand.
    origins
        Dotted key below `floors` to the name of the file that set it.
    reasons
        Dotted key below `floors` (empty: all of them) to a sentence on why it is so low.
    becauses
        What the layer's own file says on its floors.
    names
        Presets and files that were extended, in order.
    complaints
        What is wrong so far.
    """

    value: dict[str | int, Any] = field(default_factory=dict)
    places: Places = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    becauses: Becauses = field(default_factory=Becauses)
    names: tuple[str, ...] = ()
    complaints: list[Complaint] = field(default_factory=list)


def merge_all(layers: list[Layer]) -> Layer:
    """Merge presets that one file names side by side.

    A later one wins, except that of two floors the tighter holds unless the later says why not.
    """
    merged = Layer()
    for layer in layers:
        merged = _beside(merged, layer)
    return merged


def _beside(lower: Layer, upper: Layer) -> Layer:
    """Merge two presets side by side, choosing floor by floor."""
    value = _merge(*budget_form.alike(lower.value, upper.value))
    places = {**lower.places, **upper.places}
    origins = {**lower.origins, **upper.origins}
    reasons = {**lower.reasons, **upper.reasons}
    old_floors = lower.value.get("floors", MISSING)
    for floor, new in leaves(upper.value.get("floors", MISSING)):
        old = get(old_floors, floor)
        below = old not in (MISSING, None) and looser(floor, new, old)
        text, key = upper.becauses.of(floor), f"floors.{floor}"
        reasons.pop(floor, None)
        if below and text is not None:
            reasons[floor] = _explain(floor, new, old, lower.origins.get(floor, ""), text)
            reasons.pop("", None)
        elif below:
            _put(value, ("floors", *floor.split(".")), old)
            origins[floor] = lower.origins.get(floor, "")
            places[key] = lower.places.get(key, places.get(key, ("", None)))
            reasons.update({floor: lower.reasons[floor]} if floor in lower.reasons else {})
        else:
            reasons.update({floor: upper.reasons[floor]} if floor in upper.reasons else {})
    names = tuple(dict.fromkeys((*lower.names, *upper.names)))
    complaints = [*lower.complaints, *upper.complaints]
    return Layer(value, places, origins, reasons, upper.becauses, names, complaints)


def put_over(tree: Tree, below: Layer, name: str) -> Layer:
    """Merge a file over what it extends, and complain where a floor gets looser without a reason."""
    complaints = [*below.complaints, *tree.complaints]
    own = dict(tree.value)
    becauses = unwrap(own, tree.places, name, complaints)
    value = _merge(*budget_form.alike(_without_because(below.value), own))
    reasons, origins = dict(below.reasons), dict(below.origins)
    explained = False
    for floor, new in leaves(own.get("floors", MISSING)):
        reasons.pop(floor, None)
        origins[floor] = name
        old = get(below.value.get("floors", MISSING), floor)
        text = becauses.of(floor)
        if old not in (MISSING, None) and looser(floor, new, old):
            preset = below.origins.get(floor, "the preset")
            if text is None:
                complaints.append(_unexplained(tree.places, name, floor, new, old, preset))
            else:
                explained = True
                reasons[floor] = _explain(floor, new, old, preset, text)
        elif floor in becauses.single:
            reasons[floor] = f"floors.{floor}: {say(new)}: {becauses.single[floor]}"
    if becauses.general is not None and not explained:
        reasons[""] = f"floors: {becauses.general}"
    places = {**below.places, **tree.places}
    return Layer(value, places, origins, reasons, becauses, below.names, complaints)


def without_nulls(value: Any) -> Any:
    """Drop the keys that were set to null: they are as good as not written."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return value


def _merge(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        merged = dict(below)
        for key, value in above.items():
            merged[key] = _merge(merged[key], value) if key in merged else value
        return merged
    return above


def _without_because(value: dict[str | int, Any]) -> dict[str | int, Any]:
    """Leave a preset's own reason behind: `reasons` tells it where it still matters."""
    floors = value.get("floors")
    if not isinstance(floors, dict) or "because" not in floors:
        return value
    return {**value, "floors": {k: v for k, v in floors.items() if k != "because"}}


def _explain(floor: str, new: Any, old: Any, preset: str, text: str) -> str:
    return f"floors.{floor}: {say(new)} instead of {say(old)} ({preset}): {text}"


def _unexplained(places: Places, name: str, floor: str, new: Any, old: Any, preset: str) -> Complaint:
    key = f"floors.{floor}"
    file, line = places.get(key, (name, None))
    written = "null" if new is None else say(new)
    return Complaint(
        file,
        line,
        key,
        f"{say(new)} is looser than {say(old)}, the floor of {preset}, and no reason is given",
        f"{say(old)} or tighter, or a reason beside it",
        f"write {{value: {written}, because: why}}, or floors.because: why for all floors",
    )


def _put(tree: dict[str | int, Any], steps: Sequence[str], chosen: Any) -> None:
    """Set a value below a merged tree, copying the maps on the way."""
    for step in steps[:-1]:
        tree[step] = dict(tree.get(step) or {})
        tree = tree[step]
    tree[steps[-1]] = chosen
