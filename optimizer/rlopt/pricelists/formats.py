"""Which format a table is in: its columns say so."""

from __future__ import annotations

from typing import Final

from rlopt.pricelists import gpuhunt, plain, skypilot
from rlopt.pricelists.contract import Format
from rlopt.pricelists.table import PriceTable

FORMATS: Final[tuple[Format, ...]] = (skypilot, gpuhunt, plain)


def format_of(table: PriceTable) -> Format:
    """Tell the format of a table.

    Raises
    ------
    InputError
        When its columns are of none; names the nearest and what it lacks.
    """
    for one in FORMATS:
        if set(one.NEEDED) <= set(table.columns):
            return one
    nearest = max(FORMATS, key=lambda one: len(set(one.NEEDED) & set(table.columns)) / len(one.NEEDED))
    lacks = [column for column in nearest.NEEDED if column not in table.columns]
    formats = "; ".join(f"{one.NAME}: {', '.join(one.NEEDED)}" for one in FORMATS)
    there = f"{', '.join(table.columns[:8])[:200]}{' ...' if len(table.columns) > 8 else ''}"
    message = f"the columns ({there}) are of no known price list"
    none = len(lacks) == len(nearest.NEEDED)
    fix = "see docs/prices.md for the columns" if none else f"for {nearest.NAME}, add {', '.join(lacks)}"
    raise table.refuse("", message, formats, fix, line=1)
