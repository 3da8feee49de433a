"""The study of weight synchronisation: a line of fixed seconds and a rate for each implementation."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from lab.fitting.published import published
from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.estimates.loop.transfer import line_seconds
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study
from rlopt.measured.rows import MeasuredRow
from rlopt.units import GIGA

FILE = "weight_sync.csv"
BYTES = {"fp8": 1.0, "mxfp8": 1.0}
"""Bytes of a weight as it travels; 2 where not said. What is quantised on arrival travels in 16 bits."""
CLASSES = {"dsv3-class": 671.0}
"""Billions of parameters where a row names no more than a class of models."""
FIXED, RATE = (1.0, 0.01, 30.0, 1.5), (20.0, 0.2, 2000.0, 1.5)
"""Start, bounds and spread of the prior of fixed seconds and of GB/s."""


def params_of(row: MeasuredRow) -> float | None:
    """Parameters of a row's model, stated or of the class that it names."""
    name = row.text("model").lower()
    billions = row.number("params_b") or next((size for word, size in CLASSES.items() if word in name), None)
    return billions * GIGA if billions else None


def seconds_of(row: MeasuredRow) -> float | None:
    """Middle of the published range; ``None`` where a row lacks the time or the size of its model."""
    low, high = row.number("seconds_low"), row.number("seconds_high")
    known = low is not None and high is not None and params_of(row)
    return (float(low or 0.0) * float(high or 0.0)) ** 0.5 if known else None


def bytes_of(row: MeasuredRow) -> float:
    """Bytes that travel."""
    precision = row.text("precision").split("->", maxsplit=1)[0].strip().split(" ")[0].rstrip("?")
    return float(params_of(row) or 0.0) * BYTES.get(precision, 2.0)


def transport_of(row: MeasuredRow, calibration: Calibration) -> str:
    """The implementation of a row: the first whose pattern is found in its cells."""
    name = " ".join(row.text(column) for column in ("framework", "version_or_ref", "precision"))
    text = f"{name} | {row.text('mode')} | {row.text('transport')} | {row.text('phase_measured')}"
    table = calibration.rl["transports"]
    return next((str(n) for n, cells in table.items() if re.search(cells["match"], text, re.IGNORECASE)), "")


def study(_: Catalog, calibration: Calibration) -> Study:
    """Every row with a time, a size and an implementation that another row shares; no facts are needed for them."""
    rows = [row for row in published(FILE) if seconds_of(row)]
    rows = [row for row in rows if transport_of(row, calibration)]
    names = [transport_of(row, calibration) for row in rows]
    several = [names.count(name) > 1 for name in names]  # one time gives no line: such rows stand by hand
    rows = [row for row, kept in zip(rows, several, strict=True) if kept]
    names = [name for name, kept in zip(names, several, strict=True) if kept]
    used = sorted(set(names))
    which = np.array([used.index(name) for name in names])
    moved = np.array([bytes_of(row) for row in rows])

    def predicted(constants: Calibration) -> Floats:
        table = constants.rl["transports"]
        fixed, rate = (np.array([float(table[name][key]) for name in used]) for key in ("fixed_s", "gb_s"))
        return line_seconds(moved, fixed[which], rate[which])

    parameters: list[Parameter] = []
    touches: dict[tuple[str, ...], NDArray[np.bool_]] = {}
    for place, name in enumerate(used):
        for key, (start, low, high, sd) in (("fixed_s", FIXED), ("gb_s", RATE)):
            path = ("rl", "transports", name, key)
            parameters.append(Parameter(path, start, low, high, sd))
            touches[path] = which == place
    return Study(
        kind="rl_sync",
        ids=tuple(row.id for row in rows),
        measured=np.array([seconds_of(row) or np.nan for row in rows]),
        labels={
            "transport": tuple(names),
            "config": tuple(f"{name}/{row.text('model')}" for name, row in zip(names, rows, strict=True)),
            "row": tuple(row.id for row in rows),
        },
        weights=np.ones(len(rows)),
        parameters=tuple(parameters),
        predict=predicted,
        touches=touches,
    )
