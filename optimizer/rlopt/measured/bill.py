"""A bill as it came: rows of a CSV file, each a dimension or an item of the plan's bill with what was paid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from rlopt.answers.plan import Dimension
from rlopt.errors import Complaint, InputError
from rlopt.measured.rows import MeasuredRow, MeasuredTable, read_table

DIMENSIONS: Final[tuple[str, ...]] = get_args(Dimension)
FACTS: Final = ("trials", "hours", "gpu_hours", "price")
"""Columns that may be left out or blank."""
COLUMNS: Final = ("dimension", "item", "usd", *FACTS)


@dataclass(frozen=True, slots=True)
class BillRow:
    """One row of a bill.

    Parameters
    ----------
    line
        Where it stands in the file, from 1.
    dimension
        Of the plan's bill; empty where the item alone is named.
    item
        A line of the plan's bill; empty for the whole dimension.
    usd
        What was paid; negative for a credit.
    trials
        Runs that were carried out.
    hours
        How long the row's machines were rented, all together (two machines for 3 h are 3), every run included.
    gpu_hours
        GPUs times hours, every run included; in place of hours.
    price
        USD for one of those hours: of all the machines together, or of a GPU.
    """

    line: int
    dimension: str
    item: str
    usd: float
    trials: float | None = None
    hours: float | None = None
    gpu_hours: float | None = None
    price: float | None = None


def read_bill(path: Path) -> list[BillRow]:
    """Read a bill.

    Raises
    ------
    InputError
        With every complaint and its line: columns that are missing or unknown, cells that are no numbers, rows that
        name nothing or the same twice, no row at all.
    """
    table = read_table(path)
    faults = _header(table)
    if faults:
        raise InputError(faults)
    found = [_row(row, table.name, faults) for row in table.rows]
    faults += _twice(found, table.name)
    if not found:
        faults.append(Complaint(table.name, 1, "", "holds no row", "a row a dimension", "add compute,1234.50"))
    if faults:
        raise InputError(faults)
    return found


def _header(table: MeasuredTable) -> list[Complaint]:
    names = [name.lower() for name in table.columns]
    allowed = ", ".join(COLUMNS)
    faults = [
        Complaint(table.name, 1, name, "is no column of a bill", allowed, "rename or delete it")
        for name in names
        if name not in COLUMNS
    ]
    if "usd" not in names:
        faults.append(Complaint(table.name, 1, "usd", "is missing", "what was paid, in USD", "add the column usd"))
    if "dimension" not in names and "item" not in names:
        fix = "add the column dimension"
        faults.append(Complaint(table.name, 1, "dimension", "is missing, and so is item", "one of them", fix))
    return faults


def _row(row: MeasuredRow, name: str, faults: list[Complaint]) -> BillRow:
    dimension, item = row.text("dimension").lower(), row.text("item")
    if not dimension and not item:
        what = "one of " + ", ".join(DIMENSIONS)
        faults.append(Complaint(name, row.line, "dimension", "is blank, and so is item", what, "write compute"))
    elif dimension and dimension not in DIMENSIONS:
        message, what = f"{dimension[:60]!r} is no dimension of a bill", ", ".join(DIMENSIONS)
        faults.append(Complaint(name, row.line, "dimension", message, what, "write compute"))
    usd = _number(row, name, "usd", faults)
    if not row.has("usd"):
        faults.append(Complaint(name, row.line, "usd", "is blank", "what was paid, in USD", "write 0 for nothing"))
    facts = {key: _number(row, name, key, faults) for key in FACTS}
    for key, value in facts.items():
        if value is not None and (value < 0.0 or (value == 0.0 and key == "trials")):
            least = "above 0" if key == "trials" else "0 or more"
            faults.append(Complaint(name, row.line, key, f"{value:g} is out of range", least, "correct or blank it"))
    if facts["hours"] is not None and facts["gpu_hours"] is not None:
        message = "stands beside hours: a row counts in one of them"
        faults.append(Complaint(name, row.line, "gpu_hours", message, "hours or gpu_hours", "blank one of them"))
    return BillRow(row.line, dimension, item, usd or 0.0, **facts)


def _number(row: MeasuredRow, name: str, key: str, faults: list[Complaint]) -> float | None:
    """The cell as a number; None where it is blank, or wrong, which is said."""
    if not row.has(key) and row.text(key).lower() != "nan":
        return None
    try:
        value = float(row.text(key))
    except ValueError:
        value = math.nan
    if math.isfinite(value) and abs(value) < 1e15:
        return value
    message, fix = f"{row.text(key)[:60]!r} is not a number", "write for example 1234.50, no sign of money or commas"
    faults.append(Complaint(name, row.line, key, message, "a plain number", fix))
    return None


def _twice(rows: Sequence[BillRow], name: str) -> list[Complaint]:
    first: dict[tuple[str, str], int] = {}
    faults = []
    for row in rows:
        key = (row.dimension, row.item)
        if key in first and key != ("", ""):
            what = row.item or row.dimension
            message = f"{what!r} stands in line {first[key]} too"
            faults.append(Complaint(name, row.line, "", message, "one row for each", "add them up in one row"))
        first.setdefault(key, row.line)
    return faults
