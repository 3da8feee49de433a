"""Rows of data as frozen structs of arrays: rows taken, joined, and grouped by several keys.

A struct holds one array a field, or another struct of as many rows, or a mapping of such; what has no rows (a name, a
count, None where there is nothing) is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Array = NDArray[Any]
MOST = 2**62
"""Most distinct combinations of keys that are numbered by arithmetic; more are ranked first."""


class Table:
    """Base of frozen dataclasses with slots whose arrays have one row each along their first axis."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]]
    """Names of the fields in their order, as `dataclass` sets them."""

    def __len__(self) -> int:
        return len(getattr(self, self.__match_args__[0]))

    def take(self, index: Any) -> Self:
        """The rows of ``index``: integers, a mask or a slice."""
        found: Self = _taken(self, index, {})
        return found

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All rows of ``parts`` in order; there must be at least one part."""
        return merged(parts, np.concatenate)


T = TypeVar("T", bound=Table)
V = TypeVar("V")


def _taken(part: Any, index: Any, known: dict[int, Array]) -> Any:
    """The rows of ``index``; ``known`` are arrays that were met before: one array in several places stays one.

    A search takes rows some ten thousand times: arrays, nearly all there is, are met without a call of their own.
    """
    values: list[Any] = []
    for name in part.__match_args__:
        value = getattr(part, name)
        if value.__class__ is np.ndarray:
            if value.ndim:
                key = id(value)
                if key not in known:
                    known[key] = value[index]
                value = known[key]
        elif isinstance(value, Table):
            value = _taken(value, index, known)
        elif isinstance(value, Mapping):
            value = each(value, lambda array: array[index], known)
        values.append(value)
    return type(part)(*values)


def each(value: V, change: Callable[[Array], Array], known: dict[int, Array] | None = None) -> V:
    """A struct or a mapping with ``change`` of every array in it; what is one array in several places stays one."""
    known = {} if known is None else known

    def changed(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            if not part.ndim:
                return part
            if id(part) not in known:
                known[id(part)] = change(part)
            return known[id(part)]
        if isinstance(part, Table):
            return type(part)(*[changed(getattr(part, name)) for name in part.__match_args__])
        return {key: changed(one) for key, one in part.items()} if isinstance(part, Mapping) else part

    found: V = changed(value)
    return found


def merged(values: Sequence[V], put_together: Callable[[Sequence[Array]], Array]) -> V:
    """Several structs or mappings of one kind as one, array by array; what is one array in several places stays one."""
    known: dict[tuple[int, ...], Array] = {}

    def changed(parts: Sequence[Any]) -> Any:
        first = parts[0]
        if isinstance(first, np.ndarray):
            key = tuple(map(id, parts))
            if key not in known:
                known[key] = put_together(parts)
            return known[key]
        if isinstance(first, Table):
            return type(first)(*[changed([getattr(part, name) for part in parts]) for name in first.__match_args__])
        if isinstance(first, Mapping):
            return {key: changed([part[key] for part in parts]) for key in first}
        if any(part != first for part in parts[1:]):
            message = f"tables that differ in what all rows share: {first!r}"
            raise ValueError(message)
        return first

    found: V = changed(values)
    return found


def put_back(parts: Sequence[tuple[Ints, T]]) -> T:
    """One table of parts that were worked on apart, each with the places of its rows; there must be one at least."""
    order = np.argsort(np.concatenate([here for here, _ in parts]), kind="stable")
    return type(parts[0][1]).join([part for _, part in parts]).take(order)


def group_ids(*keys: Array) -> Ints:
    """One number a row, equal where all ``keys`` are and in their order (the first key decides first), shape (rows,).

    Keys are arrays of whole numbers, truth values or anything that sorts. Numbers are not dense.
    """
    found, count = np.zeros(len(keys[0]), dtype=np.int64), 1
    if not len(found):
        return found
    for key in keys:
        number, width = _numbered(key)
        if count * width > MOST:
            found, count = _ranked(found)
        if count * width > MOST:
            number, width = _ranked(key)
        found, count = found * width + number, count * width
    return found


def _numbered(key: Array) -> tuple[Ints, int]:
    """Numbers from 0 in the order of ``key``, and how many there may be."""
    if key.dtype.kind not in "ib":
        return _ranked(key)
    whole = key.astype(np.int64, copy=False)
    least = int(whole.min())
    return whole - least, int(whole.max()) - least + 1


def _ranked(key: Array) -> tuple[Ints, int]:
    """The same, dense."""
    values, rank = np.unique(key, return_inverse=True)
    return np.asarray(rank, dtype=np.int64), len(values)


def groups(*keys: Array) -> dict[tuple[Any, ...], Ints]:
    """Row numbers of each combination of ``keys``, ascending; combinations in the order of the keys."""
    ids = group_ids(*keys)
    if not len(ids):
        return {}
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(starts_of(ids[order]))
    first = zip(*(key[order[starts]].tolist() for key in keys), strict=True)
    return dict(zip(first, np.split(order, starts[1:]), strict=True))


def first_of_groups(group: Ints, value: Array) -> Ints:
    """Row of the least ``value`` of each group (`group_ids`), groups in their order."""
    order = np.lexsort((value, group))
    return order[starts_of(group[order])]


def starts_of(group: Ints) -> Bools:
    """Which rows begin a group, of rows that stand group by group."""
    found = np.ones(len(group), dtype=np.bool_)
    found[1:] = group[1:] != group[:-1]
    return found
