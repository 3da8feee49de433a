"""The largest posterior of constants in play, their covariance, and which of them the rows say nothing of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.arrays import Floats
from rlopt.fitting.fit import QUADRATIC_BELOW, Parameter, Study, fit, log_errors
from rlopt.fitting.jacobian import colours, differences

Path = tuple[str, ...]
IDENTIFIED = 0.9
"""Posterior over prior log-sigma above which rows say nothing of a constant."""


def settled(study: Study, base: Calibration) -> tuple[Calibration, list[Parameter], tuple[Path, ...]]:
    """The fit, the constants that it moved, and those that stay because the rows do not identify them.

    Every constant in play stands in a place of its own in what is returned.
    """
    calibration = base.replaced({one.path: one.start for one in study.parameters})
    kept, stayed, found = list(study.parameters), list[Path](), calibration
    while kept and study.ids:
        left = _unidentified(study, found, kept)
        if not left and found is not calibration:
            break
        stayed += left
        kept = [one for one in kept if one.path not in left]
        found = fit(replace(study, parameters=tuple(kept)), calibration) if kept else calibration
    if found is calibration:
        kept, stayed = [], [one.path for one in study.parameters]
    return found, kept, tuple(sorted(stayed))


def at_bound(one: Parameter, value: float) -> bool:
    """Whether a physical bound holds a constant."""
    return not one.low * 1.001 < value < one.high * 0.999


def _unidentified(study: Study, calibration: Calibration, kept: Sequence[Parameter]) -> list[Path]:
    """Constants that the timings say nothing of, the least known first taken out, until all others are known."""
    whole, left = 1.0 / np.array([one.prior_sd or 1e9 for one in kept]), list[Path]()
    precision = np.linalg.inv(posterior(replace(study, parameters=tuple(kept)), calibration))
    stays = np.arange(len(kept))
    while len(stays):
        ratios = np.sqrt(np.diag(np.linalg.inv(precision[np.ix_(stays, stays)]))) * whole[stays]
        worst = int(np.argmax(ratios))
        if ratios[worst] < IDENTIFIED:
            break
        left.append(kept[int(stays[worst])].path)
        stays = np.delete(stays, worst)
    return left


def posterior(study: Study, calibration: Calibration) -> Floats:
    """Covariance of the constants' logarithms around a fit (Laplace), shape (constants, constants)."""
    parameters = study.parameters
    x = np.log([calibration.at(one.path) for one in parameters])

    def errors(at: Floats) -> Floats:
        values = {one.path: float(value) for one, value in zip(parameters, np.exp(at), strict=True)}
        return log_errors(study, calibration.replaced(values))

    every = np.ones(len(study.ids), dtype=bool)
    touched = [study.touches.get(one.path, every) for one in parameters]
    slopes = differences(errors, x, touched, colours(touched))
    precision = slopes.T @ (slopes * (study.weights / QUADRATIC_BELOW**2)[:, None])
    precision += np.diag([1.0 / (one.prior_sd or 1e9) ** 2 for one in parameters])
    return np.asarray(np.linalg.inv(precision))
