"""What failures cost in time. Young (1974), Daly (2006): a stop loses the restart and half an interval on average."""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats

LEAST_PROGRESS = 0.05
"""Below this share of useful time the first-order model no longer holds and a run hardly advances."""


def expected_hours(working: Floats, failures_per_hour: Floats, interval_hours: Floats, restart_hours: Floats) -> Floats:
    """Hours that ``working`` hours (saves included) take with stops; NaN where the run would not make progress."""
    progress = 1.0 - failures_per_hour * (restart_hours + interval_hours / 2.0)
    return np.where(progress > LEAST_PROGRESS, working / np.maximum(progress, LEAST_PROGRESS), np.nan)


def young_interval(save_hours: float, failures_per_hour: float) -> float:
    """Continuous optimum of the interval between saves, hours: sqrt(2 · save / rate)."""
    return float(np.sqrt(2.0 * save_hours / failures_per_hour))
