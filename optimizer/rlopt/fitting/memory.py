"""The memory model's study: published peaks of training runs, and the constants that explain them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study, source_weights
from rlopt.measured.memory_rows import MemoryCases, cases, peaks
from rlopt.measured.quantities import PEAK
from rlopt.measured.rows import Row, read_table

FILES = ("training.csv", "memory_small.csv")
DROPPED = "dropped_memory.csv"
FAMILIES = ("megatron", "fsdp", "hf")
"""Engines whose constants the others are shrunk towards."""
SHARED: tuple[tuple[str, float, float, float], ...] = (
    ("routed_copies", 1.0, 8.0, 0.3),
    ("score_bytes", 2.0, 6.0, 0.1),
    ("full_workspace", 0.3, 2.0, 0.3),
)
"""Constants of all engines: key, bounds, standard deviation of the log prior."""
BY_ENGINE: tuple[tuple[str, float, float, float], ...] = (
    ("activation_factor", 0.3, 4.0, 0.3),
    ("logits_bytes", 2.0, 20.0, 0.3),
    ("logits_bytes_chunked", 0.1, 8.0, 0.5),
    ("selective_factor", 0.15, 1.0, 0.3),
    ("lora_activation_bytes", 0.1, 8.0, 0.5),
    ("reading_share", 0.9, 1.25, 0.03),
    ("reading_gib", 0.01, 6.0, 0.5),
    ("optimizer_step_bytes", 0.01, 12.0, 0.5),
    ("bucket_gib", 0.01, 4.0, 0.5),
    ("quantised_table_bytes", 0.5, 4.5, 0.2),
    ("low_precision_copy_bytes", 0.01, 3.0, 0.5),
    ("gradient_bytes", 2.0, 6.0, 0.2),
    ("gradient_bytes_accumulated", 4.0, 8.0, 0.2),
    ("optimizer_bytes", 4.0, 26.0, 0.1),
)
"""Constants by engine, for the engines that memory.yaml names under them and that the rows contain."""
KNOWN = {("gradient_bytes", name) for name in ("megatron", "fsdp", "hf", "internevo", "colossalai")} | {
    ("optimizer_bytes", name) for name in ("megatron", "fsdp", "hf", "colossalai")
}
"""Bytes that follow from what a stack keeps: never fitted."""
LEAST_ROWS = 2


def parameters(calibration: Calibration, engines: Iterable[str]) -> tuple[Parameter, ...]:
    """Constants in play; those of engines without rows stay where they are."""
    seen = set(engines)
    found = [
        Parameter(("memory", key), calibration.value("memory", key), low, high, sd) for key, low, high, sd in SHARED
    ]
    for key, low, high, sd in BY_ENGINE:
        for name, value in calibration.memory[key].items():
            if value > 0 and (key, name) not in KNOWN and (name in seen or name in FAMILIES):
                found.append(Parameter(("memory", key, name), float(value), low, high, sd))
    return tuple(found)


def read_rows(folder: Path) -> list[Row]:
    """Rows of the shipped files that state a peak, without those that are dropped from fits."""
    dropped = {row.id for row in read_table(folder / DROPPED).rows}
    rows = [row for name in FILES for row in read_table(folder / name).rows]
    return [row.asking(PEAK) for row in rows if row.number(PEAK) and row.id not in dropped]


def study(catalog: Catalog, calibration: Calibration, folder: Path = Path("measurements")) -> Study:
    """Everything a fit of the memory constants needs."""
    rows = read_rows(folder)
    found = cases(rows, catalog, calibration)
    used = [rows[place] for place in found.index]
    names = ("config", "source", "device", "model", "engine", "method", "architecture")
    sources = [labels["source"] for labels in found.labels]
    return Study(
        kind="memory",
        ids=tuple(row.id for row in used),
        measured=np.array([row.number(PEAK) or np.nan for row in used]),
        labels={name: tuple(labels[name] for labels in found.labels) for name in names},
        weights=source_weights(sources),
        parameters=parameters(calibration, {labels["engine"] for labels in found.labels}),
        predict=lambda trial: _seen(found, trial),
    )


def _seen(found: MemoryCases, calibration: Calibration) -> Floats:
    return peaks(found, calibration)[0]


__all__ = ["parameters", "read_rows", "study"]
