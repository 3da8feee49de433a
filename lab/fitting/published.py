"""The published measurements of a checkout: rows of each file, those that no fit sees, and what sources weigh."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from rlopt.data_dir import catalogs_dir
from rlopt.estimates.codes import Floats
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


def source_weights(sources: Sequence[str]) -> Floats:
    """1 / sqrt(rows of the source), mean 1: a large table must not decide alone."""
    _, which, counts = np.unique(np.asarray(sources), return_inverse=True, return_counts=True)
    weights = 1.0 / np.sqrt(counts[which])
    return np.asarray(weights / weights.mean())
