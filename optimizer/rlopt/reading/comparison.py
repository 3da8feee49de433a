"""One request, read once for each algorithm of a comparison: same policy, same data, steps and models of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import read_text
from rlopt.reading.agreement import check
from rlopt.reading.files import overrides
from rlopt.reading.files.layers import merge_file, preset_names, put_own_over
from rlopt.reading.files.merge import Layer, without_nulls
from rlopt.reading.files.tree import Tree, parse
from rlopt.reading.request_file import finish, load_request
from rlopt.request import ROLES, Request

LENGTHS: Final = ("steps", "epochs", "convergence", "value_convergence")
"""Keys that say how long a run is; each algorithm has its own."""
REPAIRS: Final = ("sft",)
"""Algorithms that have a share of tokens trained again against forgetting."""


@dataclass(frozen=True, slots=True)
class ComparedRequest:
    """A request for one algorithm, and keys of the file that have no meaning in it."""

    algorithm: str
    request: Request
    left_out: tuple[str, ...]


def load_compared(path: Path, algorithms: Sequence[str] = (), changes: Sequence[str] = ()) -> list[ComparedRequest]:
    """Read a file once for each algorithm; those that it names where none are given.

    The file is a whole request for an algorithm of its own. For another one, its length of a run is left out (it has
    to be stated below ``compare``), so is what that algorithm does not have, and a preset of the file's own algorithm
    gives way to that of the other. What stands below ``compare.<algorithm>`` is put over the rest.

    Raises
    ------
    InputError
        Where the file does not hold for its own algorithm, where there is nothing to compare, or with all that is
        missing or wrong of every algorithm at once.
    """
    base = load_request(path, changes)
    tree = overrides.apply(parse(read_text(path, str(path)), str(path)), changes)
    own = base.job.algorithm
    named = list(dict.fromkeys(algorithms or (own, *base.compare)))
    if len(named) < 2:
        raise InputError.of(
            "compare",
            "names nothing to compare with",
            file=str(path),
            allowed="two algorithms or more",
            fix="write --algorithms grpo,opd, or state compare: {opd: {job: {steps: 300}}}",
        )
    wrong = [name for name in named if name not in ROLES]
    if wrong:
        message, allowed = f"there is no algorithm {wrong[0]!r}", f"algorithms {', '.join(ROLES)}"
        raise InputError.of("--algorithms", message, allowed=allowed, fix="write for example grpo,opd")
    found, complaints = [], []
    for name in named:
        try:
            found.append(_variant(name, own, tree, path))
        except InputError as error:
            complaints += [_below(name, one, path, tree) for one in error.complaints]
    if complaints:
        raise InputError(complaints)
    return found


def _variant(name: str, own: str, tree: Tree, path: Path) -> ComparedRequest:
    value = deepcopy(tree.value)
    stated = (value.pop("compare", None) or {}).get(name) or {}
    job = stated.get("job") or {}
    prefix = f"compare.{name}."
    places = {key.removeprefix(prefix): place for key, place in tree.places.items() if key.startswith(prefix)}
    if name != own:
        value["extends"] = _presets(value.get("extends"), own, name)
    below = merge_file(Tree(value, tree.places, list(tree.complaints)), path)
    if name != own or any(key in job for key in LENGTHS):
        kept = {key: part for key, part in below.value["job"].items() if key not in LENGTHS}
        below.value["job"] = {**kept, "algorithm": name}
    over = Tree(stated, {**below.places, **places})
    left_out = [] if name == own else _fit(below, over, path)
    missing = [] if name == own else _missing(name, own, job)
    try:
        request = finish(put_own_over(over, below, path), str(path))
    except InputError as error:
        raise InputError([*missing, *(one for one in error.complaints if one.key != "job" or not missing)]) from None
    if missing:
        raise InputError(missing)
    return ComparedRequest(name, request, tuple(left_out))


def _missing(name: str, own: str, job: Mapping[Any, Any]) -> list[Complaint]:
    """Name what only the user knows: how long an algorithm runs, and what it repairs."""
    found = []
    if all(job.get(key) is None for key in LENGTHS):
        message = f"is missing: a run of {name} is not as long as one of {own}"
        found.append(Complaint(None, None, "job.steps", message, f"one of {', '.join(LENGTHS)}", "add steps: 300"))
    if name in REPAIRS and job.get("remedial_share") is None:
        message = f"is missing: {name} may train tokens again against forgetting"
        fix = "add remedial_share: 0 where nothing is trained again"
        found.append(Complaint(None, None, "job.remedial_share", message, "a share, or 0", fix))
    return found


def _presets(extends: Any, own: str, name: str) -> Any:
    """The same presets, that of the file's own algorithm replaced by the other's."""
    if name not in preset_names():
        return extends
    if isinstance(extends, list):
        return [name if entry == own else entry for entry in extends]
    return name if extends == own else extends


def _fit(below: Layer, over: Tree, path: Path) -> list[str]:
    """Take out of a file, in place, the keys that do not agree with another algorithm; name them.

    The file agrees with its own algorithm, so whatever stands in it and disagrees now does so for the other.
    """
    gone: list[str] = []
    while True:
        merged = without_nulls(put_own_over(over, below, path).value)
        keys = [finding.key for finding in check(merged) if "." in finding.key]
        keys = [key for key in keys if not _holds(over.value, key.split(".")) and _take(below.value, key.split("."))]
        if not keys:
            return gone
        gone += keys


def _holds(tree: Any, path: Sequence[str]) -> bool:
    """Whether a key stands in a tree, null or not."""
    for step in path:
        if not isinstance(tree, dict) or step not in tree:
            return False
        tree = tree[step]
    return True


def _take(tree: Any, path: Sequence[str]) -> bool:
    """Take a key out of a tree in place; whether it was there."""
    for step in path[:-1]:
        tree = tree.get(step) if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or tree.get(path[-1]) is None:
        return False
    del tree[path[-1]]
    return True


def _below(name: str, one: Complaint, path: Path, tree: Tree) -> Complaint:
    """The same complaint, told where it is mended: below the algorithm's own keys."""
    key = f"compare.{name}.{one.key}" if one.key else f"compare.{name}"
    file, line = tree.places.get(f"compare.{name}", (str(path), None)) if one.line is None else (one.file, one.line)
    return Complaint(file, line, key, one.message, one.allowed, one.fix)
