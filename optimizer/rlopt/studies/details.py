"""The pools of a plan in full: memory of every stage, by the names that a plan gives them."""

from __future__ import annotations

from rlopt.candidates.detail import PoolDetail
from rlopt.candidates.joint import pool_rows
from rlopt.problem import ASYNC, COLOCATED, Columns, Problem


def details(column: Columns, problem: Problem) -> list[tuple[str, PoolDetail]]:
    """Every pool of a column (one row) by its name."""
    estimates, placement = problem.estimates, int(column.placement[0])
    found = []
    for pools, row in pool_rows(column, 0, problem):
        at = int(pools.estimate[row])
        if placement == COLOCATED:
            found.append(("main" if problem.workload.generates else "train", estimates.colocated_detail(at)))
        elif pools is problem.training:
            found.append(("train", estimates.training_detail(at)))
        elif pools is problem.rollout:
            found.append(("rollout", estimates.rollout_detail(at, placement == ASYNC)))
        else:
            found.append(("score", estimates.scoring_detail(at)))
    return found
