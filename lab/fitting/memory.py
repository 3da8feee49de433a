"""The memory model's study: published peaks of training runs, and the constants that explain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lab.fitting.memory_priors import BY_ENGINE, PLAIN
from lab.fitting.prior import owner
from lab.fitting.published import dropped, published, source_weights
from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study
from rlopt.measured.memory.cases import cases, limits, peaks
from rlopt.measured.memory.fits import as_training_row, is_loop, refused, round_figure
from rlopt.measured.quantities import PEAK
from rlopt.measured.rows import MeasuredRow

FILES, REPORTED = ("training.csv", "memory_small.csv"), "memory_fit.csv"
TRAINERS = ("prime-rl",)
"""Frameworks of loops whose rows measure their trainer alone."""
ALREADY_READ = ("ms-swift",)
"""Frameworks whose figures stand in training.csv as well."""
LABELS = ("config", "source", "device", "model", "engine", "method", "architecture")


def parameters() -> tuple[Parameter, ...]:
    """Constants in play, each with what is believed of it beforehand."""
    plain = [prior.of("memory", key) for key, prior in PLAIN.items()]
    by_engine = [prior.of("memory", key, name) for key, table in BY_ENGINE.items() for name, prior in table.items()]
    return (*plain, *by_engine)


def touches(calibration: Calibration, engines: Sequence[str]) -> dict[tuple[str, ...], NDArray[np.bool_]]:
    """Rows of ``engines`` that each engine's constant decides: its own, and those of families like it."""
    found: dict[tuple[str, ...], NDArray[np.bool_]] = {}
    for key, table in BY_ENGINE.items():
        owners = {engine: owner(engine, calibration.memory[key], calibration) for engine in set(engines)}
        for name in table:
            found["memory", key, name] = np.array([owners[engine] == name for engine in engines], dtype=bool)
    return found


def measured_rows() -> list[MeasuredRow]:
    """Rows that state a peak, without those that are dropped from fits."""
    rows = [row for name in FILES for row in published(name)]
    rows += [as_training_row(row) for row in published(REPORTED) if _is_run(row)]
    return [row.asking(PEAK) for row in rows if row.number(PEAK) and row.id not in dropped("memory")]


def _is_run(row: MeasuredRow) -> bool:
    """Whether a row of reported peaks is a measured training run: no loop, no estimate, no card's capacity."""
    measured = row.text("basis").lower() == "measured"
    trainer = not is_loop(row) or row.text("framework") in TRAINERS
    counted = row.text("framework") in ALREADY_READ
    return measured and trainer and not (counted or refused(row) or round_figure(row))


def study(catalog: Catalog, calibration: Calibration) -> Study:
    """Everything a fit of the memory constants needs."""
    rows = measured_rows()
    found = cases(rows, catalog, calibration)
    used = [rows[place] for place in found.index]
    labels = {name: tuple(one[name] for one in found.labels) for name in LABELS}

    def seen(trial: Calibration) -> Floats:
        return peaks(found, trial)[0]

    return Study(
        kind="memory",
        ids=tuple(row.id for row in used),
        measured=np.array([row.number(PEAK) or np.nan for row in used]),
        labels=labels,
        weights=source_weights(labels["source"]),
        parameters=parameters(),
        predict=seen,
        touches=touches(calibration, labels["engine"]),
        limit=lambda trial: limits(found, trial),
    )


__all__ = ["measured_rows", "parameters", "study", "touches"]
