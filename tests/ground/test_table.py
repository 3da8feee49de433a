"""Structs of arrays: rows are taken and joined like those of one matrix, and grouped like tuples of their keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.table import Floats, Ints, Table, first_of_groups, group_ids, groups, put_back, starts_of

KEYS = (
    st.integers(-3, 3),
    st.integers(-(2**62), 2**62),
    st.sampled_from([-(2**63), 0, 2**63 - 1]),
    st.booleans(),
    st.sampled_from([0.1, 0.25, -1.5]),
    st.sampled_from(["bf16", "fp8", "int4"]),
)


@dataclass(frozen=True, slots=True)
class Inner(Table):
    values: Floats
    points: Floats
    """Shape (rows, 2)."""


@dataclass(frozen=True, slots=True)
class Outer(Table):
    numbers: Ints
    inner: Inner
    by_size: Mapping[int, Floats]
    name: str = "some"
    absent: Floats | None = None


def table(rows: int, start: int = 0) -> Outer:
    """Rows that all know their number."""
    at = np.arange(start, start + rows)
    return Outer(at, Inner(at / 2.0, np.stack([at, -at], axis=1)), {8: at * 3.0, 16: at * 5.0})


def assert_rows(found: Outer, rows: list[int]) -> None:
    """Every array of ``found`` is that of those rows."""
    expected = np.array(rows, dtype=np.int64)
    assert len(found) == len(rows)
    assert (found.numbers == expected).all()
    assert (found.inner.values == expected / 2.0).all()
    assert (found.inner.points == np.stack([expected, -expected], axis=1)).all()
    assert (found.by_size[8] == expected * 3.0).all()
    assert (found.by_size[16] == expected * 5.0).all()
    assert found.name == "some"
    assert found.absent is None


@given(st.integers(0, 9), st.data())
def test_rows_are_taken_by_number_by_mask_and_by_slice(rows: int, data: st.DataObject) -> None:
    every = list(range(rows))
    some = data.draw(st.lists(st.sampled_from(every), max_size=12)) if rows else []
    assert_rows(table(rows).take(np.array(some, dtype=np.int64)), some)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), dtype=bool)
    assert_rows(table(rows).take(mask), [row for row in every if mask[row]])
    part = data.draw(st.slices(rows))
    assert_rows(table(rows).take(part), every[part])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_parts_are_joined_in_order(sizes: list[int]) -> None:
    starts = np.cumsum([0, *sizes])
    parts = [table(size, int(start)) for size, start in zip(sizes, starts, strict=False)]
    assert_rows(Outer.join(parts), list(range(int(starts[-1]))))


@given(st.permutations(range(7)), st.integers(0, 7))
def test_parts_that_were_worked_on_apart_are_put_back(order: list[int], cut: int) -> None:
    whole = table(7)
    places = [np.array(some, dtype=np.int64) for some in (order[:cut], order[cut:])]
    assert_rows(put_back([(here, whole.take(here)) for here in places]), list(range(7)))


def test_what_rows_share_must_be_the_same() -> None:
    with pytest.raises(ValueError, match="differ in what all rows share: 'some'"):
        Outer.join([table(1), replace(table(1), name="other")])


def test_a_table_stays_as_it_is() -> None:
    with pytest.raises(FrozenInstanceError):
        table(1).numbers = np.zeros(1, dtype=np.int64)  # type: ignore[misc]
    assert not hasattr(table(1), "__dict__")


@st.composite
def some_keys(draw: st.DrawFn) -> list[np.ndarray]:
    """Keys of several kinds, as many values each."""
    rows = draw(st.integers(0, 12))
    kinds = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4))
    keys = [draw(st.lists(kind, min_size=rows, max_size=rows)) for kind in kinds]
    return [np.array(key, dtype=None if rows else np.int64) for key in keys]


@given(some_keys())
def test_numbers_of_groups_compare_as_the_tuples_of_their_keys_do(keys: list[np.ndarray]) -> None:
    rows = list(zip(*(key.tolist() for key in keys), strict=True))
    ids = group_ids(*keys)
    assert len(ids) == len(rows)
    for a, one in zip(ids, rows, strict=True):
        for b, other in zip(ids, rows, strict=True):
            assert (a < b) == (one < other)
            assert (a == b) == (one == other)


@given(some_keys())
def test_groups_hold_every_row_once_in_order(keys: list[np.ndarray]) -> None:
    expected: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(*(key.tolist() for key in keys), strict=True)):
        expected[key].append(row)
    found = groups(*keys)
    assert list(found) == sorted(expected)
    assert {key: rows.tolist() for key, rows in found.items()} == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_the_first_of_each_group_is_its_least(rows: list[tuple[int, int]]) -> None:
    group, value = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    found = [rows[row] for row in first_of_groups(group, value)]
    assert found == [min(row for row in rows if row[0] == key) for key in sorted({row[0] for row in rows})]
    starts = starts_of(np.sort(group))
    assert int(starts.sum()) == len(found)
