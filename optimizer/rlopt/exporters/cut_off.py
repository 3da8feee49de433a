"""When trials are to be stopped, and what one of them may cost, as data for whatever runs them."""

from __future__ import annotations

import math

from rlopt.answers.plan import Plan
from rlopt.exporters.budgets import THRESHOLDS, Json
from rlopt.request import Request


def trials_document(plan: Plan, request: Request, total_usd: float) -> Json | None:
    """The rule of ``limits.cut_off`` and each full trial's part of ``total_usd``; None without a rule.

    A trial that is cut off has the part of its steps that it ran.
    """
    cut = request.limits.cut_off
    if cut is None or plan.time is None:
        return None
    each = total_usd / request.billed_runs
    return {
        "count": request.job.trials,
        "cut_off": {
            "per": cut.per,
            "at_share": cut.at,
            "at_step": math.ceil(cut.at * plan.time.steps),
            "metric": cut.metric,
            "below": cut.below,
        },
        "usd_each": each,
        "usd_each_cut_off": each * cut.at,
        "at": [{"percent": percent, "usd": each * percent / 100.0} for percent in THRESHOLDS],
    }
