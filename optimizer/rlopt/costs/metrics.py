"""Metrics: series that the trainer writes by steps, and series of every GPU by the clock.

points = series · steps / every · share left after thinning; a GPU writes one point a series each hardware_every.
USD = series · hours · price of a series hour + points · bytes of a point · (ingest + price · hours kept)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.costs.stored.tiers import Values
from rlopt.costs.text_log import billed_hours
from rlopt.problem import Problem
from rlopt.problem.tariff import Metering
from rlopt.units import SECONDS_PER_HOUR, bytes_to_gb, seconds_to_hours

TRAINER, HARDWARE = "metrics", "hardware metrics"


@dataclass(frozen=True, slots=True)
class Written:
    """Series and points of one run; numbers, or arrays of shape (columns,)."""

    series: Values
    points: Values


def trainer_series(problem: Problem) -> float:
    """Series that the trainer writes; a distribution is several."""
    found = problem.request.job.metrics
    return found.scalars + found.intermediates + found.histograms * problem.operations.histogram_series


def left_share(problem: Problem) -> float:
    """Share of the points that thinning leaves."""
    found = problem.request.job.metrics
    return found.thin_after + (1.0 - found.thin_after) * found.thin_to


def written(problem: Problem, steps: Values, gpus: Values, hours: Values) -> dict[str, Written]:
    """What one run writes, by origin."""
    found, series = problem.request.job.metrics, trainer_series(problem)
    per_hour = SECONDS_PER_HOUR / found.hardware_every
    return {
        TRAINER: Written(series, series * (steps / found.every) * left_share(problem)),
        HARDWARE: Written(found.hardware * gpus, found.hardware * gpus * hours * per_hour),
    }


def metered_usd(metering: Metering, wrote: Written, hours: Values, kept_s: float) -> Values:
    """USD of what one run writes; ``kept_s``: seconds that it is kept after the run."""
    gb = wrote.points * bytes_to_gb(metering.point_bytes)
    kept = billed_hours(hours, seconds_to_hours(kept_s), metering.free_hours)
    usd = wrote.series * hours * metering.usd_series_hour
    return np.asarray(usd + gb * (metering.usd_per_gb + metering.usd_gb_hour * kept))
