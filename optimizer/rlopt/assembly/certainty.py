"""How sure a plan is: the share of runs that meet the deadline, and the bills between which most runs lie.

Stage errors are log-normal and fully correlated, so one standard normal number z moves every stage of a run together:
stage seconds are median · exp(z σ). The run's hours at z follow from the same formula as its confident hours, which
are those at z(confidence); hours grow with z, so the deadline lies at one z, and Φ(z) of all runs meet it. Start-up,
failures and waits are those of the formula at every z: they are expected values, not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from rlopt.answers.plan import Certainty
from rlopt.columns.pace import Pace, again, narrowed, paced
from rlopt.costs import column_costs
from rlopt.estimates.uncertainty import EIGHTY
from rlopt.problem import Columns, Pools, Problem
from rlopt.units import seconds_to_hours
from rlopt.words import COLOCATED

NORMAL = NormalDist()
WIDEST = 8.0
"""Sigmas beyond which no run is looked for."""
HALVINGS = 40
LEAST_SPREAD = 0.6
"""Confidence below which confident seconds lie too close to the median to tell the error band from them."""


def certainty(problem: Problem, column: Columns) -> Certainty:
    """How sure the plan of ``column`` (one row) is.

    The share of runs is that of the predicted times, whatever worst case the request asks for on top.
    """
    own, one = narrowed(problem, column)
    pace = _paces(own, one)
    confidence, deadline = problem.request.limits.confidence, problem.request.limits.deadline

    def at(z: float) -> tuple[Problem, Columns]:
        there = paced(own, pace(z))
        return there, again(there, one)

    def hours(z: float) -> float:
        found = float(at(z)[1].confident_hours[0])
        return found if math.isfinite(found) else math.inf

    half = NORMAL.inv_cdf((1.0 + confidence) / 2.0)
    (low_hours, low_usd), (high_hours, high_usd) = (_priced(*at(z)) for z in (-half, half))
    spot = _spot_band(own, one)
    assert low_hours is not None
    assert low_usd is not None
    return Certainty(
        confidence=confidence,
        low_usd=low_usd,
        high_usd=high_usd,
        low_hours=low_hours,
        high_hours=high_hours,
        deadline_probability=None if deadline is None else _share_within(hours, seconds_to_hours(deadline)),
        spot_low_usd=spot[0] if spot else None,
        spot_high_usd=spot[1] if spot else None,
    )


def _paces(own: Problem, one: Columns) -> Callable[[float], Pace]:
    """The pace of a run by its z."""
    confidence = own.request.limits.confidence
    if confidence >= LEAST_SPREAD:
        known = NORMAL.inv_cdf(confidence)
        return lambda z: Pace(power=z / known)
    ratio = 1.0 + widest_band(own, one)
    return lambda z: Pace(power=z / EIGHTY, ratio=ratio)


def widest_band(own: Problem, one: Columns) -> float:
    """Half of the 80 % band of the pools' times, as a share; the widest of all pools."""
    estimates, first = own.estimates, int(one.train[0])
    if int(one.placement[0]) == COLOCATED:
        return estimates.colocated_detail(int(own.colocated.estimate[first])).band
    bands = [estimates.training_detail(int(own.training.estimate[first])).band]
    bands += [estimates.rollout_detail(int(row), False).band for row in own.rollout.estimate]
    return max([*bands, *(estimates.scoring_detail(int(row)).band for row in own.scoring.estimate)])


def _priced(problem: Problem, column: Columns) -> tuple[float | None, float | None]:
    """Hours of one run as the deadline counts them, and the bill; None where it makes no progress."""
    hours = float(column.confident_hours[0])
    if not math.isfinite(hours):
        return None, None
    return hours, float(column_costs(column, problem)[0])


def _share_within(hours: Callable[[float], float], limit: float) -> float:
    """Share of runs done within ``limit`` hours."""
    low, high = -WIDEST, WIDEST
    if hours(high) <= limit:
        return 1.0
    if hours(low) > limit:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if hours(middle) <= limit else (low, middle)
    return NORMAL.cdf(low)


def _spot_band(own: Problem, one: Columns) -> tuple[float, float] | None:
    """The bill with every spot pool at the lowest and at the highest price of its zones; None without a band."""
    bills = []
    for name in ("price_low", "price_high"):
        moved = replace(
            own,
            training=_at_price(own, own.training, name),
            colocated=_at_price(own, own.colocated, name),
            rollout=_at_price(own, own.rollout, name),
            scoring=_at_price(own, own.scoring, name),
        )
        bills.append(float(column_costs(again(moved, one), moved)[0]))
    return (bills[0], bills[1]) if bills[1] - bills[0] > 0.01 else None


def _at_price(problem: Problem, pools: Pools, name: str) -> Pools:
    offers = [problem.market.offers[int(row)] for row in pools.offer]
    listed = np.array([offer.price_per_hour for offer in offers], dtype=np.float64)
    band = np.array([getattr(offer, name) for offer in offers], dtype=np.float64)
    share = np.divide(band, listed, out=np.ones(len(offers)), where=listed > 0.0)  # one's own machines may cost nothing
    return replace(pools, usd_per_hour=np.where(pools.spot, pools.usd_per_hour * share, pools.usd_per_hour))
