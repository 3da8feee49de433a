"""Single cells: numbers that are numbers, prices that a market can have, dates that are days."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

from rlopt.pricelists.contract import LeftOut, StatedPrice
from rlopt.pricelists.table import PriceTable

LONGEST_SHOWN: Final = 60
"""Characters of a cell that a message shows."""
DEAREST_PER_HOUR: Final = 1e6
"""No machine costs more in an hour, in any currency of a price list."""
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_CURRENCY: Final = re.compile(r"[A-Z]{3}\Z")
_NAME: Final = re.compile(r"[^\x00-\x1f/]{1,120}\Z")
BAD_PRICE: Final = "no price: it must be above 0"


class CellError(Exception):
    """A cell that cannot be used: the row is left out for it."""

    def __init__(self, column: str, value: str, reason: str, bad: bool = False) -> None:
        self.column, self.value, self.reason, self.bad = column, value, reason, bad
        super().__init__(column, value, reason)

    def at(self, file: str, line: int) -> LeftOut:
        """Name the row."""
        shown = "".join(c if c.isprintable() else " " for c in self.value)[:LONGEST_SHOWN]
        return LeftOut(file, line, self.column, shown, self.reason, self.bad)


def read_rows(
    table: PriceTable, prices: Callable[[int, dict[str, str]], Iterator[StatedPrice]]
) -> tuple[list[StatedPrice], list[LeftOut]]:
    """The ``prices`` of every row of a table, and the rows, or parts of them, that are left out for a cell."""
    priced: list[StatedPrice] = []
    left_out: list[LeftOut] = []
    for line, row in table.rows:
        try:
            for one in prices(line, row):
                priced.append(one)
        except CellError as error:
            left_out.append(error.at(table.file, line))
    return priced, left_out


def number(row: dict[str, str], column: str, least: float = 0.0, most: float = 1e12) -> float | None:
    """Read a number; None from an empty cell or where there is no such column. Raises CellError."""
    text = row.get(column, "")
    if not text:
        return None
    value = float(text) if _NUMBER.match(text) else float("nan")
    if not least <= value <= most:
        raise CellError(column, text, f"no number from {least:g} to {most:g}")
    return value


def needed(row: dict[str, str], column: str, least: float = 0.0, most: float = 1e12) -> float:
    """Read a number that must be there. Raises CellError."""
    value = number(row, column, least, most)
    if value is None:
        raise CellError(column, "", "is empty; write 0 if there is none")
    return value


def price(row: dict[str, str], column: str) -> float | None:
    """Read a price per hour above 0; None from an empty cell. Raises CellError, marked as bad."""
    text = row.get(column, "")
    if not text:
        return None
    value = float(text) if _NUMBER.match(text) else float("nan")
    if not value > 0.0:
        raise CellError(column, text, BAD_PRICE, bad=True)
    if value > DEAREST_PER_HOUR:
        raise CellError(column, text, f"no price: it is above {DEAREST_PER_HOUR:,.0f} an hour", bad=True)
    return value


def count(row: dict[str, str], column: str, most: int = 10_000) -> int | None:
    """Read a whole number from 1 on, also as ``8.0``; None from an empty cell. Raises CellError."""
    value = number(row, column, 0.0, float(most))
    if value is None:
        return None
    if value < 1 or value != int(value):
        raise CellError(column, row[column], "no whole number from 1 on")
    return int(value)


def day(text: str, column: str = "as_of") -> str:
    """Read an ISO date of a day. Raises CellError."""
    try:
        if not _DATE.match(text):
            raise ValueError
        date.fromisoformat(text)
    except ValueError:
        raise CellError(column, text, "no date; write it as 2026-11-30") from None
    return text


def currency(text: str, column: str = "currency") -> str:
    """Read a code of three capital letters. Raises CellError."""
    if not _CURRENCY.match(text):
        raise CellError(column, text, "no currency; write three capital letters, for example USD")
    return text


def name(row: dict[str, str], column: str) -> str:
    """Read a name that fits in the id of an offer; empty where there is none. Raises CellError."""
    text = row.get(column, "")
    if text and not _NAME.match(text):
        raise CellError(column, text, "no name: at most 120 characters, without a slash")
    return text
