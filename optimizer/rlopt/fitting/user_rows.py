"""Constants from rows of one's own measurement files: each row is a configuration, off by an error of its own.

Prior and likelihood are those of `user_fit`, with the part of the band that configurations of a setup do not share,
r sigma, as the error of a row: many rows narrow the constants, none of them makes the next configuration certain. r
lies halfway between what holds of most rows and what holds of all: nobody with a few rows knows which of them are odd.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.arrays import Floats
from rlopt.estimates.bounds import bounds_of
from rlopt.estimates.uncertainty import sigma_of
from rlopt.facts import Catalog
from rlopt.fitting.fit import QUADRATIC_BELOW, Parameter, Study
from rlopt.fitting.observations import STUDIES
from rlopt.fitting.user_fit import value_at
from rlopt.fitting.user_posterior import Path, at_bound, posterior, settled
from rlopt.measured.quantities import GENERATION, RL, STEP_COLUMNS, TRAINING, asked
from rlopt.measured.rows import MeasuredRow, MeasuredTable

USED = {RL: STEP_COLUMNS[:2]}
"""Quantities that an RL study takes: whole steps."""


@dataclass(frozen=True, slots=True)
class RowsFit:
    """What the rows of one kind made of the constants; rows of shape (n,)."""

    kind: str
    calibration: Calibration
    moved: Mapping[Path, tuple[float, float]]
    stayed: tuple[Path, ...]
    at_bound: tuple[Path, ...]
    ids: tuple[str, ...]
    measured: Floats
    before: Floats
    after: Floats
    devices: tuple[str, ...]
    band: Mapping[str, tuple[float, float]]
    """Log-sigma of another configuration by GPU type, before and after."""


def fit_rows(table: MeasuredTable, catalog: Catalog, base: Calibration) -> tuple[list[RowsFit], dict[str, int]]:
    """Fit every kind of row that the file holds; beside it the number of rows that tell no time, by reason."""
    rows: dict[str, list[MeasuredRow]] = {kind: [] for kind in STUDIES}
    silent = 0
    for row in table.rows:
        told = [(kind, one) for kind, one in asked(table, row) if kind in STUDIES and (row.number(one) or 0.0) > 0.0]
        told = [(kind, one) for kind, one in told if one in USED.get(kind, (one,))]
        silent += not told
        for kind, quantity in told:
            rows[kind].append(row.asking(quantity))
    left_out = {"no time or rate of a step": silent} if silent else {}
    fits, constants = [], base
    for kind in STUDIES:
        if not rows[kind]:
            continue
        study = STUDIES[kind](rows[kind], catalog, constants)
        lost = len(rows[kind]) - len(study.ids)
        if lost:
            left_out[f"cannot be predicted ({kind}; rlopt validate says why)"] = lost
        if study.ids:
            fits.append(fit_study(study, catalog, constants))
            constants = fits[-1].calibration
    return fits, left_out


def fit_study(study: Study, catalog: Catalog, base: Calibration) -> RowsFit:
    """Fit the constants of the stacks and GPU types that the rows name."""
    labels = study.labels
    moe = np.array([name == "moe" for name in labels["architecture"]])
    spread = np.array([sigma_of(study.kind, device, engine, bool(expert), base) for device, engine, expert in
                       zip(labels["device"], labels["engine"], moe, strict=True)])  # fmt: skip
    known = np.array([sigma_of(study.kind, device, "", bool(expert), base)
                      for device, expert in zip(labels["device"], moe, strict=True)])  # fmt: skip
    known = np.minimum(known, spread)
    share = float(np.mean(list(base.bands[study.kind]["same_setup"].values())))
    parameters, touches = _parameters(study, catalog, base, spread, known, share)
    own = replace(study, parameters=parameters, touches=touches, weights=(QUADRATIC_BELOW / (share * known)) ** 2)
    usable = np.isfinite(own.predict(base)) & (own.predict(base) > 0.0)
    if not usable.all():
        own = _taken(own, usable)
    found, kept, stayed = settled(own, base)
    return RowsFit(
        kind=study.kind,
        calibration=found,
        moved={one.path: (one.start, found.at(one.path)) for one in kept},
        stayed=stayed,
        at_bound=tuple(one.path for one in kept if at_bound(one, found.at(one.path))),
        ids=own.ids,
        measured=own.measured,
        before=own.predict(base),
        after=own.predict(found),
        devices=tuple(own.labels["device"]),
        band=_bands(own, found, spread, known, share),
    )


def _taken(study: Study, rows: np.ndarray) -> Study:
    """Some rows of a study."""
    predict = study.predict
    return replace(
        study,
        ids=tuple(np.array(study.ids)[rows]),
        measured=study.measured[rows],
        labels={name: tuple(np.array(values)[rows]) for name, values in study.labels.items()},
        weights=study.weights[rows],
        predict=lambda constants: predict(constants)[rows],
        touches={path: touched[rows] for path, touched in study.touches.items()},
    )


def _parameters(
    study: Study, catalog: Catalog, base: Calibration, spread: Floats, known: Floats, share: float
) -> tuple[tuple[Parameter, ...], dict[Path, np.ndarray]]:
    found: list[Parameter] = []
    touches: dict[Path, np.ndarray] = {}
    engine, device = (np.array(study.labels[name]) for name in ("engine", "device"))
    generation = np.array([catalog.devices[name].generation if name in catalog.devices else "" for name in device])

    def add(path: Path, rows: Any, variance: Floats) -> None:
        now = _now(base, path)
        sd = math.sqrt(float(np.mean(variance[rows])))
        if now is None or now <= 0.0 or not sd > 0.0:
            return
        low, high = bounds_of(path, now)
        found.append(Parameter(path, now, min(max(low, 1e-6), now * 0.999), max(high, now * 1.001), sd))
        touches[path] = rows

    half = (1.0 - share**2) * known**2 / 2.0
    stack = spread**2 - known**2 + half
    for name in sorted(set(study.labels["engine"])):
        for path in ENGINE[study.kind]:
            add(tuple(name if part == "*" else part for part in path), engine == name, stack)
    by = generation if study.kind == RL else device
    for name in sorted({str(one) for one in by} - {""}):
        for path in HARDWARE[study.kind]:
            add((*path, name), by == name, half)
    return tuple(found), touches


ENGINE: Mapping[str, tuple[Path, ...]] = {
    TRAINING: (("training", "engine_factor", "*"),),
    GENERATION: (("generation", "engines", "*", "device_factor"),),
    RL: (("rl", "frameworks", "*", "train"), ("rl", "frameworks", "*", "sample")),
}
HARDWARE: Mapping[str, tuple[Path, ...]] = {
    TRAINING: (("training", "device_factor"),),
    GENERATION: (("generation", "effects", "device"),),
    RL: (("rl", "generation_train"), ("rl", "generation_sample")),
}
"""Constants of stacks and of hardware, by kind; stars stand for the stack."""


def _now(base: Calibration, path: Path) -> float | None:
    try:
        return value_at(base, path)
    except (KeyError, ValueError, TypeError):
        return None


def _bands(
    study: Study, found: Calibration, spread: Floats, known: Floats, share: float
) -> dict[str, tuple[float, float]]:
    """Band of another configuration by GPU type: what is left of the constants, and a configuration's own error."""
    covariance, device = posterior(study, found), np.array(study.labels["device"])
    slopes = np.array([study.touches[one.path] for one in study.parameters], dtype=float)
    if study.kind == RL:
        slopes = slopes / 2.0  # of a step, one half trains and one half samples
    bands = {}
    for name in sorted(set(device)):
        rows = np.flatnonzero(device == name)
        left = np.mean([float(slopes[:, row] @ covariance @ slopes[:, row]) for row in rows])
        before, apart = float(np.mean(spread[rows])), share * float(np.mean(known[rows]))
        bands[str(name)] = (before, min(before, math.hypot(apart, math.sqrt(float(left)))))
    return bands
