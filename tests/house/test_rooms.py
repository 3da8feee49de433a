"""The house's habits: one name for one class, a module is a noun, rooms and signatures of a size one can see."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "optimizer" / "rlopt"
MOST_MODULES = 30
MOST_PARAMETERS = 10
NO_NOUNS = {
    *("said", "asking", "holding", "lifting", "misfit", "needs", "going_on", "worth", "matter", "breaking", "mixes"),
    *("care", "beside", "support", "over_run", "growing", "slower", "squeezing", "stops", "lead", "saved", "spare"),
    *("held", "only", "way", "late", "apart"),
}
"""Names that a module had once and that say nothing to somebody who looks for its subject."""
ACTIVITIES = {
    *("acting", "engineering", "fitting", "limiting", "loading", "logging", "matching", "mixing", "pricing"),
    *("reading", "running", "sampling", "scoring", "screening", "serving", "timing", "training", "waiting"),
    "wrapping",
}
"""Nouns in -ing: what the field calls that work."""
KINDS = {
    "assembly": "the room that puts a plan together",
    "colocated": "pools of the colocated placement",
    "decided": "what a plan decided",
    "fixed": "the sizes that a configuration fixes: FixedSizes",
    "measured": "the room of measurements",
    "owned": "machines that are owned",
    "picked": "models that were picked among several",
    "published": "published configurations",
    "stated": "what a record states of itself",
    "stored": "the room of what is billed for bytes that are stored",
    "unfinished": "bytes of unfinished responses",
}
"""Participles that name a kind of thing in the field, or what a record holds, each with what it is."""


@cache
def _modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_a_public_class_is_defined_once() -> None:
    places: dict[str, list[str]] = {}
    for path, tree in _modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(_name(path))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def _names() -> set[str]:
    """Names of modules and rooms."""
    return {part for path in _modules() for part in path.relative_to(SOURCE).with_suffix("").parts} - {"__init__"}


def test_a_module_is_a_noun() -> None:
    names = _names()
    assert names & NO_NOUNS == set()
    assert {name for name in names if name.startswith("own_")} == set()
    last = {name: name.rpartition("_")[2] for name in names}
    wrong = {name for name, word in last.items() if word.endswith("ing") and word not in ACTIVITIES}
    wrong |= {name for name, word in last.items() if word.endswith(("ed", "ly")) and word not in KINDS}
    assert wrong - {"storage_speed"} == set()


@pytest.mark.parametrize("words", [ACTIVITIES, set(KINDS)], ids=["activities", "kinds"])
def test_every_exception_is_still_there(words: set[str]) -> None:
    assert words - {name.rpartition("_")[2] for name in _names()} == set()


def test_a_room_can_be_seen() -> None:
    rooms = Counter(_name(path.parent) for path in _modules() if path.name != "__init__.py")
    assert {room: number for room, number in rooms.items() if number > MOST_MODULES} == {}


def _functions() -> Iterator[tuple[str, int]]:
    for path, tree in _modules().items():
        if _name(path).startswith("cli/"):
            continue  # one parameter an option
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                number = len(taken) - (bool(taken) and taken[0].arg in ("self", "cls"))
                yield f"{_name(path)}: {node.name}", number


def test_a_function_takes_few_parameters() -> None:
    assert {name for name, number in _functions() if number > MOST_PARAMETERS} == set()
