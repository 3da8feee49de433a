"""Rows of a measurement file: text cells by column, read without guessing and refused with the line."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rlopt.errors import Complaint, InputError
from rlopt.facts.files.text import decode

LARGEST_BYTES: Final = 64 << 20
MOST_ROWS: Final = 500_000
MOST_COMPLAINTS: Final = 20
BLANKS: Final = frozenset(("", "-", "–", "?", "n/a", "na", "nan", "none", "null", "unknown", "not stated"))
"""Cells, in lower case, that say nothing where a number is due."""


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One row of a file, and the measured quantity that is asked about.

    Parameters
    ----------
    line
        Where it stands in the file; lines count from 1.
    cells
        Texts by column name in lower case.
    quantity
        The measured column in question (`rlopt.measured.quantities`); empty for the row as a whole.
    """

    line: int
    cells: Mapping[str, str]
    quantity: str = ""

    @property
    def id(self) -> str:
        """The row's own id, or its line where it has none."""
        return self.text("id") or f"line {self.line}"

    def text(self, column: str) -> str:
        """The cell without blanks around it; empty where the column is missing."""
        return self.cells.get(column.lower(), "").strip()

    def number(self, column: str) -> float | None:
        """The cell as a finite number; ``None`` where it is blank, missing or no number."""
        try:
            value = float(self.text(column))
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    def has(self, column: str) -> bool:
        """Whether the cell says anything."""
        return self.text(column).lower() not in BLANKS

    def asking(self, quantity: str) -> MeasuredRow:
        """The same row, asked for one of its measured quantities."""
        return replace(self, quantity=quantity)


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A file: its columns as written, and its rows in order.

    Parameters
    ----------
    name
        How messages call the file.
    columns
        Names as the header spells them.
    rows
        One entry per row of the file; wholly blank lines are no rows.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[MeasuredRow, ...]

    def has(self, column: str) -> bool:
        """Whether the header names the column, in any case."""
        return column.lower() in {name.lower() for name in self.columns}


def read_table(path: Path) -> MeasuredTable:
    """Read a CSV file with a header.

    Raises
    ------
    InputError
        All complaints at once, each with its line: no regular file, too large, not UTF-8, no header, a column
        named twice, rows with more or fewer cells than the header.
    """
    return parse_table(decode(_bytes(path), str(path)), str(path))


def parse_table(text: str, name: str) -> MeasuredTable:
    """Read CSV text; ``name`` is how complaints call it. Raises InputError as `read_table` does."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    faults: list[Complaint] = []
    rows: list[MeasuredRow] = []
    columns: list[str] = []
    line = 1
    try:
        for cells in reader:
            line, start = reader.line_num + 1, line
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = [cell.strip() for cell in cells]
                faults += _header_faults(columns, start, name)
                keys = [column.lower() for column in columns]
            elif len(cells) != len(columns):
                message = f"has {len(cells)} cells, the header has {len(columns)} columns"
                fix = "quote cells that hold a comma" if len(cells) > len(columns) else "add the missing commas"
                faults.append(Complaint(name, start, "", message, f"{len(columns)} cells", fix))
            else:
                rows.append(MeasuredRow(start, dict(zip(keys, cells, strict=True))))
            if len(rows) > MOST_ROWS:
                message = f"holds more than {MOST_ROWS:,} rows"
                raise InputError.of("", message, file=name, line=start, fix="split the file")
    except csv.Error as error:
        faults.append(Complaint(name, line, "", f"is no CSV: {error}", "quotes in pairs", "close the quote"))
    if not columns and not faults:
        faults = [Complaint(name, 1, "", "is empty", "CSV with a header", "add a header and rows")]
    if faults:
        raise InputError(_cut(faults, name))
    return MeasuredTable(name, tuple(columns), tuple(rows))


def _bytes(path: Path) -> bytes:
    name, allowed = str(path), "a CSV file"
    if path.is_dir():
        raise InputError.of("", "is a folder", file=name, allowed=allowed, fix="name a file in it")
    if not path.is_file():  # a pipe or a device may never end
        message = "is not a regular file" if path.exists() else "there is no such file"
        raise InputError.of("", message, file=name, allowed=allowed, fix="check the path")
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError.of("", message, file=name, allowed="a readable file", fix="check the path") from None
    if len(data) > LARGEST_BYTES:
        message = f"is larger than {LARGEST_BYTES >> 20} MiB"
        raise InputError.of("", message, file=name, allowed="a table of measurements", fix="split the file")
    return data


def _header_faults(columns: Sequence[str], line: int, name: str) -> list[Complaint]:
    if len(columns) == 1 and any(mark in columns[0] for mark in ";\t|"):
        message = "the header is one cell, though it looks like several"
        return [Complaint(name, line, "", message, "commas between cells", "save the file with commas")]
    faults = []
    keys = [column.lower() for column in columns]
    for place, key in enumerate(keys):
        if not key:
            message = f"column {place + 1} has no name"
            faults.append(Complaint(name, line, "", message, "a name per column", "name it or delete it"))
        elif keys.index(key) != place:
            message = f"the column {columns[place]!r} stands there twice"
            faults.append(Complaint(name, line, "", message, "each name once", "rename or delete one"))
    return faults


def _cut(faults: Sequence[Complaint], name: str) -> list[Complaint]:
    if len(faults) <= MOST_COMPLAINTS:
        return list(faults)
    rest = f"and {len(faults) - MOST_COMPLAINTS} more faults"
    return [*faults[:MOST_COMPLAINTS], Complaint(name, None, "", rest, "", "mend these first")]
