"""The published measurements of a checkout, and the rows among them that no constant is fitted on."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from rlopt.data_dir import catalogs_dir
from rlopt.measured.rows import MeasuredRow, read_table


def measurements_dir() -> Path:
    """Folder of the measurements; a checkout has it, a wheel does not."""
    return catalogs_dir().parent / "measurements"


def published(name: str) -> tuple[MeasuredRow, ...]:
    """Rows of one file of the folder."""
    return tuple(read_table(measurements_dir() / name).rows)


@lru_cache(maxsize=8)
def dropped(kind: str) -> frozenset[str]:
    """Ids that fits of a kind leave out; dropped_KIND.csv says why."""
    with (measurements_dir() / f"dropped_{kind}.csv").open(encoding="utf-8", newline="") as handle:
        return frozenset(row["id"] for row in csv.DictReader(handle))
