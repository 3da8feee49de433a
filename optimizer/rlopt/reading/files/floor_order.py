"""Floors as they are written, in order of how tight they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import ValidationError

from rlopt.request.floors import TIGHTNESS, Floors
from rlopt.request.values.kinds import show

MISSING: Final = object()


def leaves(floors: Any) -> Iterator[tuple[str, Any]]:
    """List the floors that a map sets, by dotted name."""
    for floor in TIGHTNESS:
        value = get(floors, floor)
        if value is not MISSING:
            yield floor, value


def get(tree: Any, path: str) -> Any:
    """Find a value below a map; null for all that stands below a null."""
    for step in path.split("."):
        if tree is None:
            return None
        if not isinstance(tree, Mapping) or step not in tree:
            return MISSING
        tree = tree[step]
    return tree


def looser(floor: str, new: Any, old: Any) -> bool:
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


def say(value: Any) -> str:
    """Write a floor as its file writes it; none for null."""
    return "none" if value is None else value if isinstance(value, str) else show(value)
