"""A vocabulary is written once, in rlopt.words; the glossary names what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from rlopt import words
from rlopt.words import Word

VOCABULARIES = [one for one in vars(words).values() if isinstance(one, type) and issubclass(one, Word) and one != Word]
SETS = {one.__name__: {str(member) for member in one} for one in VOCABULARIES}
SETS["Objective"] = set(get_args(words.Objective))


def _lists(node: ast.AST) -> Iterator[set[str]]:
    """Strings that a literal lists: of a tuple, list or set, of a `Literal[...]`, a dict's keys and its values."""
    parts: list[list[ast.expr | None]] = []
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = [[*node.elts]]
    elif isinstance(node, ast.Dict):
        parts = [[*node.keys], [*node.values]]
    for some in parts:
        strings = [one.value for one in some if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if len(strings) == len(some):
            yield set(strings)


def _again(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for listed in _lists(node):
            for name, members in SETS.items():
                if members <= listed and len(listed) <= len(members) + 1:
                    yield f"{path}:{getattr(node, 'lineno', 0)}: {name}"


def test_no_vocabulary_is_written_twice(root: Path) -> None:
    rooms = (root / "optimizer" / "rlopt", root / "lab")
    files = [
        path for room in rooms for path in room.rglob("*.py") if path.name != "words.py" or path.parent != rooms[0]
    ]
    assert [found for path in files for found in _again(path)] == []


def test_codes_are_places() -> None:
    for one in VOCABULARIES:
        assert [member.code for member in one] == list(range(len(one)))
        assert [one.at(member.code) for member in one] == list(one)


@pytest.mark.parametrize("one", VOCABULARIES, ids=lambda one: one.__name__)
def test_a_member_is_its_string(one: type[Word]) -> None:
    for member in one:
        assert (str(member), repr(member), f"{member:>3}") == (member.value, repr(member.value), f"{member.value:>3}")
        assert {member.value: 1}[member] == 1
