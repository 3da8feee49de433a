"""The knee of a frontier: the plan past which an hour saved gets dearer fastest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlopt.answers.plan import FoundPlan, Plan

LEAST_POINTS = 3
"""Between two ends there must be something to choose."""
FLAT = 1e-9
"""Distance from the chord below which a frontier is straight."""


def knee(plans: Sequence[Plan]) -> int | None:
    """Index of the plan farthest below the chord between the fastest and the cheapest.

    V. Satopaa et al., "Finding a 'Kneedle' in a Haystack" (ICDCS Workshops 2011), without its smoothing: every point
    is exact.

    x = (ln h - ln h_min) / (ln h_max - ln h_min),  y = (ln c - ln c_min) / (ln c_max - ln c_min),
    knee = argmax (1 - x - y), the chord from (0, 1) to (1, 0)

    h: confident hours, c: USD. Both axes are logarithms, for hours and money of a frontier span orders of magnitude
    and people weigh them by shares (half the time for a third more). On linear axes the slowest plan alone would
    decide how wide the picture is, and so where its corner lies.

    Parameters
    ----------
    plans
        Of one frontier, by hours; those without a bill are passed over.

    Returns
    -------
    int or None
        Into `plans`, never an end. None for fewer than three points, or where no point lies below the chord.
    """
    rows = [
        (i, plan.time.confident_hours, plan.cost.total_usd)
        for i, plan in enumerate(plans)
        if isinstance(plan, FoundPlan) and plan.cost.total_usd > 0.0
    ]
    if len(rows) < LEAST_POINTS:
        return None
    hours, usd = np.log([row[1] for row in rows]), np.log([row[2] for row in rows])
    if np.ptp(hours) <= FLAT or np.ptp(usd) <= FLAT:
        return None
    below = 1.0 - (hours - hours.min()) / np.ptp(hours) - (usd - usd.min()) / np.ptp(usd)
    at = int(np.argmax(below))
    return rows[at][0] if below[at] > FLAT else None
