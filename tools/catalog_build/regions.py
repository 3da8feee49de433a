"""Regions and the countries they stand in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tools.catalog_build.tables import Table, read

COLUMNS = ("provider", "region", "country", "reference_region", "source")
#: Words that stand where a region should: the price holds for no single named place.
NOWHERE = {"", "any", "all", "all-commercial", "cheapest-region(aggregated)"}


def region_of(text: str) -> str:
    """Return the region, or nothing where the price names none."""
    return "" if text in NOWHERE else text


def build(folder: Path, used: Iterable[tuple[str, str]]) -> Table:
    """Build the region catalog.

    Raises
    ------
    LookupError
        When a region in use is not listed (its country may be blank, but the row must be there).
    """
    table = Table("regions.csv", COLUMNS)
    known = {(row["provider"], row["region"]): row for row in read(folder, "region_countries.csv")}
    missing = sorted({place for place in used if place[1] and place not in known})
    if missing:
        message = f"regions without a row in region_countries.csv: {missing}"
        raise LookupError(message)
    table.rows.extend(dict(row) for _, row in sorted(known.items()))
    return table
