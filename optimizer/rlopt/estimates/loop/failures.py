"""What failures cost in time. A stop loses the restart and, on average, half an interval of work.

    expected = working / (1 - rate · (restart + interval / 2) - lost),   working = useful · (1 + save / interval)

``lost`` is what else stops take of each hour, waits for machines for example.

First order in rate · interval, as Young (1974) and Daly (2006, section 2) derive it.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats

LEAST_PROGRESS = 0.05
"""Below this share of useful time the first-order model no longer holds and a run hardly advances."""


def working_hours(useful_hours: Floats | float, interval_hours: Floats | float, save_hours: Floats | float) -> Floats:
    """Hours of ``useful_hours`` of steps with a blocking save of ``save_hours`` every ``interval_hours``."""
    return np.asarray(useful_hours * (1.0 + np.asarray(save_hours) / interval_hours))


def expected_hours(
    working: Floats | float,
    failures_per_hour: Floats | float,
    interval_hours: Floats | float,
    restart_hours: Floats | float,
    lost_share: Floats | float = 0.0,
) -> Floats:
    """Hours that ``working`` hours (saves included) take with stops.

    NaN where the run would not make progress.
    """
    progress = 1.0 - np.asarray(failures_per_hour * (restart_hours + np.asarray(interval_hours) / 2.0)) - lost_share
    return np.asarray(np.where(progress > LEAST_PROGRESS, working / np.maximum(progress, LEAST_PROGRESS), np.nan))


def young_interval(save_hours: Floats | float, failures_per_hour: Floats | float) -> Floats:
    """Continuous optimum of the interval between saves, hours: sqrt(2 · save / rate) (Young, 1974)."""
    return np.asarray(np.sqrt(2.0 * np.asarray(save_hours) / failures_per_hour))


def daly_interval(save_hours: Floats | float, failures_per_hour: Floats | float) -> Floats:
    """Daly (2006), equation 37: higher-order optimum.

    The mean time between failures where saving takes twice that.
    """
    save, between = (
        np.asarray(save_hours, dtype=np.float64),
        1.0 / np.asarray(failures_per_hour, dtype=np.float64),
    )
    ratio = save / (2.0 * between)
    series = np.sqrt(2.0 * save * between) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - save
    return np.asarray(np.where(ratio < 1.0, series, between))
