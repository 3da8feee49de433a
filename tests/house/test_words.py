"""A vocabulary is written once, in rlopt.words; the glossary names what is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from rlopt import words
from rlopt.answers.plan import Plan
from rlopt.request import Request
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


def _glossary(root: Path) -> str:
    return (root / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_the_glossary_names_every_member(root: Path) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (`.*`) \|$", _glossary(root), re.MULTILINE))
    assert {name: re.findall(r"`(\w+)`", row) for name, row in rows.items()} == {
        one.__name__: [str(member) for member in one] for one in VOCABULARIES
    }


def test_records_that_the_glossary_names_are_there(root: Path) -> None:
    text = _glossary(root)
    source = "\n".join(path.read_text(encoding="utf-8") for path in (root / "optimizer" / "rlopt").rglob("*.py"))
    named = set(re.findall(r"`([A-Z]\w+)`", text))
    assert len(named) > 40
    assert {name for name in named if not re.search(rf"^class {name}\b", source, re.MULTILINE)} == set()


def _fields(model: Any) -> dict[str, Any]:
    """Fields of the records that a type holds, by name."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        return {name: field.annotation for name, field in model.model_fields.items()}
    return {name: kind for part in get_args(model) for name, kind in _fields(part).items()}


def test_keys_that_the_glossary_names_are_there(root: Path) -> None:
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]*`[^|]*) \| [^|]*\|$", _glossary(root), re.MULTILINE)
    assert len(rows) > 25
    for row in rows:
        for key in re.findall(r"`([\w.]+)`", row):
            model: Any = Plan if "*plan*" in row else Request
            for step in key.split("."):
                assert step in _fields(model), key
                model = _fields(model)[step]
