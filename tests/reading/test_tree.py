"""YAML to values and places."""

from __future__ import annotations

import math

import pytest

from rlopt.errors import InputError
from rlopt.facts.files.scalars import resolve
from rlopt.reading.files.tree import parse

SCALARS = {
    "1.48e9": 1.48e9,
    "1e3": 1000.0,
    ".5": 0.5,
    "5.": 5.0,
    "+3": 3,
    "-0.5e-3": -0.0005,
    "010": 10,
    "0o17": 15,
    "0x1F": 31,
    "true": True,
    "False": False,
    "~": None,
    "": None,
    "NULL": None,
    "-.inf": -math.inf,
    **{text: text for text in ["yes", "off", "1_000", "1:30", "2001-01-01", "30s", "e5", "1e", ".", "0b1", "0o8"]},
}


@pytest.mark.parametrize(("text", "value"), SCALARS.items())
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


def test_not_a_number_is_read_as_such() -> None:
    assert math.isnan(resolve(".nan"))  # type: ignore[arg-type]


def test_places_of_keys_and_items() -> None:
    tree = parse("a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\nf: {g: 3,\n    h: 4}\n", "file")
    assert tree.value == {"a": {"b": 1, "c": ["x", {"d": 2}]}, "f": {"g": 3, "h": 4}}
    lines = {key: line for key, (_, line) in tree.places.items()}
    assert lines == {
        "a": 1, "a.b": 2, "a.c": 3, "a.c[0]": 4, "a.c[1]": 5, "a.c[1].d": 5, "f": 6, "f.g": 6, "f.h": 7,
    }  # fmt: skip
    assert {file for file, _ in tree.places.values()} == {"file"}


def test_quoted_scalars_are_text() -> None:
    assert parse("a: '1'\nb: \"true\"\nc: |\n  x\n  y\nd: >-\n  x\n  y\n", "f").value == {
        "a": "1", "b": "true", "c": "x\ny\n", "d": "x y",
    }  # fmt: skip


def test_whole_numbers_as_keys_stay_numbers() -> None:
    assert parse("{8: a, '9': b, true: c, 1.5: d}", "f").value == {8: "a", "9": "b", "true": "c", "1.5": "d"}


def test_aliases_stand_for_their_value() -> None:
    assert parse("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n", "f").value == {
        "a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}, {"b": [1]}],
    }  # fmt: skip


def test_sections_may_stand_empty_and_other_keys_may_not() -> None:
    tree = parse("limits:\nfloors:\n  # group_size: 8\njob:\n", "f")
    assert tree.value == {"limits": {}, "floors": {}, "job": None}
    assert [(c.key, c.line) for c in tree.complaints] == [("job", 4)]


def test_what_was_found_before_the_stop_is_told_too() -> None:
    with pytest.raises(InputError) as caught:
        parse("a: 1\na: 2\nb: *c\n", "f")
    assert [c.line for c in caught.value.complaints] == [2, 3]


def test_an_open_quote_is_told_where_it_opens() -> None:
    with pytest.raises(InputError) as caught:
        parse("a: 1\nb: 'x\nc: 2\n", "f")
    assert caught.value.complaints[0].line == 2
