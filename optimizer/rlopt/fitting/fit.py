"""One robust fit: bounded positive constants, log errors, soft-L1 loss, source weights, log-normal priors.

The cost is sum of w · 2 s² (sqrt(1 + (e / s)²) - 1) / (2 s²) over rows plus (ln(x / start) / sd)² / 2 over constants
with a prior, e = ln(predicted / measured), s the error below which the loss is quadratic. Predictions come from the
planner's own estimates: there is no second model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.fitting.jacobian import colours, differences

QUADRATIC_BELOW = 0.15
"""Log error at which the loss turns from quadratic to linear."""
LOST = 3.0
"""Log error that a row without a finite prediction counts as."""
TOLERANCE = 1e-5
DIGITS = 4
"""Significant digits of written constants: fits agree on them whatever the machine."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant that a fit may move.

    Parameters
    ----------
    path
        Room, key, ... of the calibration.
    start
        Where fits begin, and the centre of the prior.
    low, high
        Physical bounds.
    prior_sd
        Standard deviation of the log around the centre; ``None``: bounds alone hold it.
    toward
        Path of another parameter whose value is the centre instead (a family, a generation).
    """

    path: tuple[str, ...]
    start: float
    low: float
    high: float
    prior_sd: float | None = None
    toward: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """What one kind of measurement is fitted on; rows of shape (n,).

    Parameters
    ----------
    kind
        training, memory, generation or rl.
    ids, measured
        Row ids and measured values.
    labels
        By name (config, source, device, model, engine, method, architecture) one text a row.
    weights
        Of the rows; all one where nothing speaks for others.
    parameters
        Constants in play.
    predict
        Values in the unit of ``measured`` under a calibration.
    touches
        Rows that a parameter touches, by its path; all rows where it is missing. Parameters that share no row are
        differentiated together.
    """

    kind: str
    ids: tuple[str, ...]
    measured: Floats
    labels: Mapping[str, tuple[str, ...]]
    weights: Floats
    parameters: tuple[Parameter, ...]
    predict: Callable[[Calibration], Floats]
    touches: Mapping[tuple[str, ...], NDArray[np.bool_]] = field(default_factory=dict)
    limit: Callable[[Calibration], Floats] | None = None
    """Memory: what a plan would count with under a calibration, its margin included, GiB."""


def log_errors(study: Study, calibration: Calibration) -> Floats:
    """ln(predicted / measured); `LOST` where there is no finite prediction."""
    with np.errstate(all="ignore"):
        found = np.log(study.predict(calibration) / study.measured)
    return np.where(np.isfinite(found), np.clip(found, -LOST, LOST), LOST)


def fit(
    study: Study,
    calibration: Calibration,
    rows: NDArray[np.bool_] | None = None,
    begin: Calibration | None = None,
) -> Calibration:
    """The calibration with the study's constants fitted on ``rows`` (all by default).

    ``begin`` is where the search begins (the starts by default); the priors stay where they are.
    """
    from scipy.optimize import least_squares

    parameters = study.parameters
    used = np.ones(len(study.ids), dtype=bool) if rows is None else rows
    weight = np.sqrt(study.weights[used])
    low, high = (np.log([getattr(p, end) for p in parameters]) for end in ("low", "high"))
    index = {p.path: i for i, p in enumerate(parameters)}
    centre = np.log([p.start for p in parameters])
    parent = np.array([index[p.toward] if p.toward else -1 for p in parameters])
    shrunk = np.array([p.prior_sd is not None for p in parameters])
    sd = np.array([p.prior_sd or 1.0 for p in parameters])

    def at(x: Floats) -> Calibration:
        return calibration.replaced({p.path: float(v) for p, v in zip(parameters, np.exp(x), strict=True)})

    def robust(x: Floats) -> Floats:
        error = log_errors(study, at(x))[used] / QUADRATIC_BELOW
        return np.asarray(weight * np.sign(error) * np.sqrt(2.0 * (np.sqrt(1.0 + error**2) - 1.0)))

    def residuals(x: Floats) -> Floats:
        middle = np.where(parent >= 0, x[parent], centre)
        return np.concatenate([robust(x), ((x - middle) / sd)[shrunk]])

    every = np.ones(len(study.ids), dtype=bool)
    touched = [study.touches.get(p.path, every)[used] for p in parameters]
    groups = colours(touched)
    prior = np.eye(len(parameters)) / sd[:, None]
    prior[np.arange(len(parameters))[parent >= 0], parent[parent >= 0]] -= 1.0 / sd[parent >= 0]

    def slopes(x: Floats) -> Floats:
        return np.vstack([differences(robust, x, touched, groups), prior[shrunk]])

    first = np.log([begin.at(p.path) for p in parameters]) if begin is not None else centre
    inside = np.clip(first, low + 1e-9, high - 1e-9)
    found = least_squares(
        residuals, inside, slopes, bounds=(low, high), xtol=TOLERANCE, ftol=TOLERANCE, gtol=TOLERANCE, max_nfev=40
    )
    return calibration.replaced(
        {p.path: float(f"{v:.{DIGITS}g}") for p, v in zip(parameters, np.exp(found.x), strict=True)}
    )
