"""Every pool fits:  needed GiB <= capacity GiB, at its peak stage. A fact of a candidate, so it filters them."""

from __future__ import annotations

from rlopt.plan import Plan
from rlopt.problem import Problem
from rlopt.rules.contract import Rule

NAME = "memory"


def overrun_gib(plan: Plan, problem: Problem) -> float:
    """Largest shortfall over the pools, GiB per GPU; negative where all fit."""
    del problem
    return max((pool.memory.needed_gib - pool.memory.capacity_gib for pool in plan.pools if pool.memory), default=0.0)


def rules(problem: Problem) -> list[Rule]:
    """Memory is no row: what does not fit is no candidate."""
    del problem
    return [Rule(NAME, "memory", "GiB", "<=", 0.0, None, overrun_gib, relaxable=False)]
