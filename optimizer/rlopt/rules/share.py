"""On-demand share:  (1 - s) · GPUs never reclaimed - s · spot GPUs >= 0, with s = floors.on_demand_share."""

from __future__ import annotations

import numpy as np

from rlopt.plan import Plan
from rlopt.problem import Problem
from rlopt.rules.contract import Rule

NAME = "share"


def share_of(plan: Plan, problem: Problem) -> float:
    """Share of the plan's GPUs that no provider takes back."""
    del problem
    total = sum(pool.gpus for pool in plan.pools)
    kept = sum(pool.gpus for pool in plan.pools if pool.pricing != "spot")
    return kept / total if total else 1.0


def rules(problem: Problem) -> list[Rule]:
    """Each pool is of one offer here, so the share over all GPUs is the share that can be traded."""
    share = problem.request.floors.on_demand_share
    if share is None:
        return []
    return [
        Rule(
            NAME,
            "floors.on_demand_share",
            "share",
            ">=",
            float(share),
            lambda columns, _: 1.0 - columns.spot_gpus / np.maximum(columns.gpus, 1),
            share_of,
            step=0.05,
            of_pools=True,
        )
    ]
