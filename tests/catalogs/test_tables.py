"""YAML files of the catalogs: the quick reader and ruamel.yaml's YAML 1.2 agree; what is no table is named."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from rlopt.errors import InputError
from rlopt.facts.files import tables
from rlopt.facts.files.tables import table
from tests.catalogs.rows import FOLDER

FILES = sorted(FOLDER.rglob("*.yaml"))
BUDGET_SECONDS = 0.05
DIFFICULT = """\
# read by YAML 1.2: no is text, 010 is ten, 1e9 is a number
numbers: [1e9, 1.5e-3, .5, 3., -7, +2, 010, 0o17, 0x1F, .inf, -.INF]
words: [yes, no, on, off, y, n, true, False, null, ~, '', '12', "1e9", 12 GiB, 1.2.3, -, '-']
empty:
8: an integer key
text: >-
  folded
  lines
block: |
  kept
  lines
nested: {a: {b: [1, {c: 2}]}, "quoted": 'it''s', url: https://a.b/c#d}
"""


def by_ruamel(text: str) -> object:
    return dict(YAML(typ="safe", pure=True).load(text))


def test_every_file_is_there() -> None:
    assert {path.name for path in FILES} >= {"nodes.yaml", "operations.yaml", "training.yaml", "sources.yaml"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("loader", ["CLoader", "Loader"])
def test_values_and_their_types_are_those_of_yaml_1_2(path: Path, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LOADER", getattr(yaml, loader))
    assert repr(table(path)) == repr(by_ruamel(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("loader", ["CLoader", "Loader"])
def test_difficult_scalars(loader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_LOADER", getattr(yaml, loader))
    path = tmp_path / "difficult.yaml"
    path.write_text(DIFFICULT, encoding="utf-8")
    assert repr(table(path)) == repr(by_ruamel(DIFFICULT))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: [1\n", ":3: is not YAML"),
        ("a: 1\na: 2\n", ":2: a stands there twice"),
        ("a: &x 1\nb: *x\n", ":2: a value is a reference"),
        ("[a, b]: 1\n", ":1: a key is no plain text"),
        ("only text\n", ":1: is no table"),
        ("- a: 1\n", ":1: is no table"),
        ("", ":1: is no table"),
    ],
)
def test_what_is_no_table_is_named_with_its_line(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        table(path)
    assert f"wrong.yaml{says}" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nodes\.yaml"):
        table(tmp_path / "nodes.yaml")


def test_all_files_are_read_quickly() -> None:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for path in FILES:
            table(path)
        best = min(best, time.process_time() - start)
    assert best < BUDGET_SECONDS
