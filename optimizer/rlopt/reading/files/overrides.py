"""Changes from outside the file: ``--set limits.deadline=24h``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from rlopt.errors import Complaint, InputError
from rlopt.reading.files import budget_form
from rlopt.reading.files.tree import Tree, join, parse
from rlopt.request.values.kinds import show

PLACE: Final = "--set"
_DEEPEST: Final = 10
_INDEX: Final = re.compile(r"[0-9]{1,9}")


def apply(tree: Tree, overrides: Sequence[str]) -> Tree:
    """Give a copy of a file's tree with each ``key=value`` set; the value is read as YAML, null removes.

    Raises
    ------
    InputError
        For an override that is no ``key=value`` or that does not fit into the file.
    """
    complaints: list[Complaint] = []
    for text in overrides:
        try:
            tree = _apply_one(tree, text)
        except InputError as error:
            complaints.extend(error.complaints)
    if complaints:
        raise InputError([*tree.complaints, *complaints])
    return tree


def _apply_one(tree: Tree, text: str) -> Tree:
    key, equals, written = text.partition("=")
    key = key.strip()
    steps = [part for part in re.split(r"[.\[\]]+", key) if part]
    if not equals or not steps or key.startswith((".", "[")) or len(steps) > _DEEPEST:
        raise _error(
            key[:80],
            f"{show(text)} is no KEY=VALUE",
            "a dotted key, =, a value",
            f"write {PLACE} limits.deadline=24h",
        )
    if not written.strip():
        raise _error(key, "has no value", "a value, or null to remove the key", f"write {PLACE} {key}=null")
    try:
        inner = parse(written, PLACE)
    except InputError as error:
        problem = error.complaints[-1]
        message = f"the value {show(written)} {problem.message}"
        raise _error(key, message, problem.allowed, "put the value in quotes") from None
    if inner.complaints:
        raise InputError(
            [Complaint(PLACE, None, _below(key, c.key), c.message, c.allowed, c.fix) for c in inner.complaints]
        )
    old, steps = budget_form.steps_to(tree.value if isinstance(tree.value, dict) else {}, steps, inner.value)
    value = _put(old, steps, "", inner.value)
    path = _path(value, steps)
    below = {k: v for k, v in tree.places.items() if k != path and not k.startswith((f"{path}.", f"{path}["))}
    places = {**below, path: (PLACE, None)}
    places.update({_below(path, k): (PLACE, None) for k in inner.places})
    return Tree(value, places, tree.complaints)


def _below(path: str, inner: str) -> str:
    """Put the path of a value inside an override behind the override's key."""
    return f"{path}{inner}" if inner.startswith("[") or not inner else join(path, inner)


def _error(key: str, message: str, allowed: str, fix: str) -> InputError:
    return InputError.of(key, message, file=PLACE, allowed=allowed, fix=fix)


def _put(container: Any, steps: Sequence[str], path: str, value: Any) -> Any:
    head, rest = steps[0], steps[1:]
    if isinstance(container, dict):
        known: Any = int(head) if _INDEX.fullmatch(head) and head not in container else head
        inner = container.get(known, {} if rest else None)
        inner = {} if inner is None and rest else inner
        return {**container, known: _put(inner, rest, join(path, head), value) if rest else value}
    if isinstance(container, list):
        if not _INDEX.fullmatch(head) or int(head) >= len(container):
            raise _error(
                join(path, head),
                f"{path} is a list of {len(container)}",
                f"an index from 0 to {len(container) - 1}",
                f"write {PLACE} {path}[0]=...",
            )
        items = list(container)
        place = int(head)
        items[place] = _put(items[place], rest, f"{path}[{head}]", value) if rest else value
        return items
    raise _error(
        join(path, head),
        f"{path} is {show(container)}, not a map",
        f"{PLACE} {path}={{...}}",
        f"write {PLACE} '{path}={{{head}: ...}}'",
    )


def _path(value: Any, steps: Sequence[str]) -> str:
    """Spell the dotted key as the file's own keys are spelt: list indices in brackets."""
    path = ""
    for step in steps:
        if isinstance(value, list):
            path, value = f"{path}[{step}]", value[int(step)]
        else:
            key: Any = step if step in value else int(step)
            path, value = join(path, step), value[key]
    return path
