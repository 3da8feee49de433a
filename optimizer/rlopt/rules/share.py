"""On-demand share:  GPUs never reclaimed / all GPUs >= floors.on_demand_share, and so in each mixed pool.

Cheap cards cannot stand in for a mixed pool's share: there it counts by throughput, which is the part of the samples
that the offers never taken back bring in. A spare node that stands idle stands in for nothing and is not counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.words import StageKind

NAME = "share"


def share_of(plan: BilledRun, problem: Problem) -> float:
    """The least of the share of the plan's GPUs and of each mixed pool's samples that no provider takes back."""
    del problem
    at_work = [pool for pool in plan.pools if pool.roles != ["spare"]]
    total = sum(pool.gpus for pool in at_work)
    kept = sum(pool.gpus for pool in at_work if pool.pricing != "spot")
    least = kept / total if total else 1.0
    for role in (StageKind.SAMPLE, StageKind.SCORE):
        mixed = [pool for pool in plan.pools if pool.share is not None and pool.roles == [role]]
        if mixed:
            least = min(least, sum(pool.share or 0.0 for pool in mixed if pool.pricing != "spot"))
    return least


def _share(columns: Columns, problem: Problem) -> NDArray[np.float64]:
    del problem
    at_work = np.maximum(columns.gpus - columns.spare_gpus, 1)
    return np.asarray(np.minimum(1.0 - columns.spot_gpus / at_work, columns.mixed_share))


def rules(problem: Problem) -> list[Rule]:
    """One row: the floor holds for both shares."""
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
            _share,
            share_of,
            step=0.05,
            scope=Scope.POOL_SHARE,
        )
    ]
