"""An amount for `limits.budget` is short for its total: where files meet, both take the form of a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_PATH: Final = ("limits", "budget")


def alike(below: Any, above: Any) -> tuple[Any, Any]:
    """Give two trees whose budgets merge: where one is a map, an amount in the other becomes its total."""
    old, new = _budget(below), _budget(above)
    if isinstance(old, Mapping) and _is_amount(new):
        return below, _with(above, {"total": new})
    if isinstance(new, Mapping) and _is_amount(old):
        return _with(below, {"total": old}), above
    return below, above


def steps_to(tree: Any, steps: Sequence[str], value: Any) -> tuple[Any, list[str]]:
    """Give the tree and the steps of a change: a dimension beside an amount, an amount beside dimensions."""
    old, path = _budget(tree), tuple(steps)
    if path[:2] == _PATH and len(path) > 2 and _is_amount(old):
        return _with(tree, {"total": old}), list(steps)
    if path == _PATH and isinstance(old, Mapping) and _is_amount(value):
        return tree, [*steps, "total"]
    return tree, list(steps)


def _budget(tree: Any) -> Any:
    for step in _PATH:
        tree = tree.get(step) if isinstance(tree, Mapping) else None
    return tree


def _is_amount(value: Any) -> bool:
    return value is not None and not isinstance(value, (Mapping, list))


def _with(tree: Mapping[str | int, Any], budget: Mapping[str, Any]) -> dict[str | int, Any]:
    return {**tree, "limits": {**tree["limits"], "budget": dict(budget)}}
