"""Cells of a catalog file: numbers, absences and the complaints about them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from rlopt.errors import InputError

Row = dict[str, str]
Record = TypeVar("Record")


def rows(folder: Path, name: str) -> Iterator[tuple[int, Row]]:
    """Read one catalog file, row by row with its line number.

    Raises
    ------
    InputError
        When the file is missing or a row has more or fewer cells than the header.
    """
    path = folder / name
    try:
        handle = path.open(encoding="utf-8", newline="")
    except OSError as error:
        message = f"the catalog file can't be read: {error.strerror}"
        raise InputError.of("", message, file=str(path), fix="rebuild the catalogs") from error
    with handle:
        reader = csv.reader(handle)
        header = next(reader, [])
        for cells in reader:
            if len(cells) != len(header):
                message = f"{len(cells)} cells, the header has {len(header)}"
                raise InputError.of("", message, file=str(path), line=reader.line_num)
            yield reader.line_num, dict(zip(header, cells, strict=True))


def records(folder: Path, name: str, make: Callable[[Row], Record]) -> tuple[Record, ...]:
    """Turn every row of a file into a record.

    Raises
    ------
    InputError
        When a row can't be read; names file, line and the offending value.
    """
    made = []
    for line, row in rows(folder, name):
        try:
            made.append(make(row))
        except (KeyError, ValueError) as error:
            message = f"row can't be read: {error}"
            raise InputError.of("", message, file=str(folder / name), line=line) from error
    return tuple(made)


def number(text: str) -> float | None:
    """Read a number, ``None`` from an empty cell."""
    return float(text) if text else None


def whole(text: str) -> int | None:
    """Read a whole number, ``None`` from an empty cell."""
    return int(text) if text else None


def date(text: str) -> str:
    """Read a date; an explicitly undated row gives an empty text."""
    return "" if text == "undated" else text
