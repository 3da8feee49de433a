"""Presets under a file: maps merge, lists are replaced, the file wins; floors loosen only with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from rlopt.errors import Complaint
from rlopt.reading.tree import Places, Tree, join
from rlopt.request.floors import TIGHTNESS, Floors
from rlopt.request.kinds import show

_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Becauses:
    """Reasons that a file gives: `general` for all floors it states itself, `single` for some of them."""

    general: str | None = None
    single: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()

    def of(self, floor: str) -> str | None:
        """Find the reason for a floor: its own, that of the floors around it, the general one."""
        general = self.general if floor in self.stated else None
        while floor:
            if floor in self.single:
                return self.single[floor]
            floor = floor.rpartition(".")[0]
        return general


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
    value = _merge(lower.value, upper.value)
    places = {**lower.places, **upper.places}
    origins = {**lower.origins, **upper.origins}
    reasons = {**lower.reasons, **upper.reasons}
    old_floors = lower.value.get("floors", _MISSING)
    for floor, new in _leaves(upper.value.get("floors", _MISSING)):
        old = _get(old_floors, floor)
        looser = old not in (_MISSING, None) and _looser(floor, new, old)
        text, key = upper.becauses.of(floor), f"floors.{floor}"
        reasons.pop(floor, None)
        if looser and text is not None:
            reasons[floor] = _explain(floor, new, old, lower.origins.get(floor, ""), text)
            reasons.pop("", None)
        elif looser:
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
    becauses = _unwrap(own, tree.places, name, complaints)
    value = _merge(_without_because(below.value), own)
    reasons, origins = dict(below.reasons), dict(below.origins)
    explained = False
    for floor, new in _leaves(own.get("floors", _MISSING)):
        reasons.pop(floor, None)
        origins[floor] = name
        old = _get(below.value.get("floors", _MISSING), floor)
        text = becauses.of(floor)
        if old not in (_MISSING, None) and _looser(floor, new, old):
            preset = below.origins.get(floor, "the preset")
            if text is None:
                complaints.append(_unexplained(tree.places, name, floor, new, old, preset))
            else:
                explained = True
                reasons[floor] = _explain(floor, new, old, preset, text)
        elif floor in becauses.single:
            reasons[floor] = f"floors.{floor}: {_say(new)}: {becauses.single[floor]}"
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


def _say(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else show(value)


def _explain(floor: str, new: Any, old: Any, preset: str, text: str) -> str:
    return f"floors.{floor}: {_say(new)} instead of {_say(old)} ({preset}): {text}"


def _unexplained(places: Places, name: str, floor: str, new: Any, old: Any, preset: str) -> Complaint:
    key = f"floors.{floor}"
    file, line = places.get(key, (name, None))
    return Complaint(
        file,
        line,
        key,
        f"{_say(new)} is looser than {_say(old)}, the floor of {preset}, and no reason is given",
        f"{_say(old)} or tighter, or a reason beside it",
        f"write {{value: {'null' if new is None else _say(new)}, because: why}}, or floors.because: why for all floors",
    )


def _leaves(floors: Any) -> Iterator[tuple[str, Any]]:
    """List the floors that a map sets, by dotted name."""
    for floor in TIGHTNESS:
        value = _get(floors, floor)
        if value is not _MISSING:
            yield floor, value


def _get(tree: Any, path: str) -> Any:
    """Find a value below a map; null for all that stands below a null."""
    for step in path.split("."):
        if tree is None:
            return None
        if not isinstance(tree, Mapping) or step not in tree:
            return _MISSING
        tree = tree[step]
    return tree


def _looser(floor: str, new: Any, old: Any) -> bool:
    """Compare two written floors; what cannot be read is complained about elsewhere."""
    if new is None:
        return True
    rank = TIGHTNESS[floor]
    values = [_canonical(floor, value) for value in (new, old)]
    return all(value is not None for value in values) and rank(values[0]) < rank(values[1])


def _canonical(floor: str, value: Any) -> Any:
    steps = floor.split(".")
    nested: Any = value
    for step in reversed(steps):
        nested = {step: nested}
    try:
        record: Any = Floors.model_validate(nested, context={"written": True})
    except ValidationError:
        return None
    for step in steps:
        record = getattr(record, step)
    return record


def _put(tree: dict[str | int, Any], steps: Sequence[str], chosen: Any) -> None:
    """Set a value below a merged tree, copying the maps on the way."""
    for step in steps[:-1]:
        tree[step] = dict(tree.get(step) or {})
        tree = tree[step]
    tree[steps[-1]] = chosen


def _unwrap(value: dict[str | int, Any], places: Places, name: str, complaints: list[Complaint]) -> Becauses:
    """Take ``because`` out of the floors: the general one, and those in ``{value, because}``."""
    floors = value.get("floors")
    if not isinstance(floors, dict):
        return Becauses()
    single: dict[str, str] = {}
    value["floors"] = floors = _plain(floors, "", places, name, single, complaints)
    general = floors.get("because")
    if "because" in floors:
        general = _reason("because", general, places, name, complaints)
    return Becauses(general, single, frozenset(floor for floor, _ in _leaves(floors)))


def _plain(
    floors: Mapping[str | int, Any],
    path: str,
    places: Places,
    name: str,
    single: dict[str, str],
    complaints: list[Complaint],
) -> dict[str | int, Any]:
    plain: dict[str | int, Any] = {}
    for key, inner in floors.items():
        here = join(path, key)
        if isinstance(inner, dict) and "because" in inner:
            file, line = places.get(f"floors.{here}", (name, None))
            text = _reason(f"{here}.because", inner["because"], places, name, complaints)
            if text is not None:
                single[here] = text
            extra = [k for k in inner if k not in ("value", "because")]
            if "value" in inner and not extra:
                inner = inner["value"]
            elif "value" not in inner and here == "checkpoints":
                inner = {k: v for k, v in inner.items() if k != "because"}
            else:
                wrong = f"the key {show(extra[0])} stands" if extra else "value is missing"
                complaints.append(
                    Complaint(
                        file,
                        line,
                        f"floors.{here}",
                        f"{wrong} beside because",
                        "{value, because}",
                        "write {value: ..., because: why}",
                    )
                )
                continue
        plain[key] = (
            _plain(inner, here, places, name, single, complaints) if isinstance(inner, dict) else inner
        )
    return plain


def _reason(key: str, text: Any, places: Places, name: str, complaints: list[Complaint]) -> str | None:
    if isinstance(text, str) and text.strip():
        return " ".join(text.split())
    if text is None and places.get(f"floors.{key}") is None:
        return None
    file, line = places.get(f"floors.{key}", (name, None))
    complaints.append(
        Complaint(
            file,
            line,
            f"floors.{key}",
            f"{show(text)} is no reason",
            "a sentence",
            "say why the floor may be lower",
        )
    )
    return None
