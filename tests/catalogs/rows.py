"""Catalog files as plain rows, without the loader under test."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "catalogs"
FILES = tuple(sorted(path.name for path in FOLDER.glob("*.csv")))
DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?\Z")

Row = dict[str, str]


@cache
def read(name: str) -> tuple[Row, ...]:
    """Rows of one file, with the line number under ``_line``."""
    with (FOLDER / name).open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle)
        return tuple({**row, "_line": f"{name}:{reader.line_num}"} for row in reader)


def bad(rows: tuple[Row, ...], wrong: object) -> list[str]:
    """Places of the rows that a check finds wrong."""
    assert callable(wrong)
    return [row["_line"] for row in rows if wrong(row)]
