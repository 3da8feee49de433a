"""What a point of the job's target costs: a figure beside the bill, no line of it."""

from __future__ import annotations

from rlopt.answers.plan import PerPoint
from rlopt.request.job.metrics import Target


def per_point(total_usd: float, target: Target | None) -> PerPoint | None:
    """Divide the whole bill by the points that the target moves.

    usd_per_point = total / |to - from|. The total holds all trials and the job's share of what is done before it, so
    a target that takes many trials is as dear as it is. None without a target.
    """
    if target is None:
        return None
    return PerPoint(metric=target.metric, points=target.points, usd_per_point=total_usd / target.points)
