"""Every pool fits:  needed GiB <= capacity GiB, of GPUs at their peak stage and of host memory.

Both are facts of a candidate, so they filter candidates. A machine whose host memory is unknown is not held against it.
"""

from __future__ import annotations

from rlopt.answers.plan import BilledRun
from rlopt.problem import Problem
from rlopt.rules.contract import Rule

NAME = "memory"


def overrun_gib(plan: BilledRun, problem: Problem) -> float:
    """Largest shortfall over the pools, GiB per GPU; negative where all fit."""
    del problem
    return max((pool.memory.needed_gib - pool.memory.capacity_gib for pool in plan.pools if pool.memory), default=0.0)


def host_overrun_gib(plan: BilledRun, problem: Problem) -> float:
    """Largest shortfall of host memory over the pools, GiB per node; negative where all fit."""
    del problem
    known = [pool.memory for pool in plan.pools if pool.memory and pool.memory.host_capacity_gib is not None]
    return max(((memory.host_gib or 0.0) - (memory.host_capacity_gib or 0.0) for memory in known), default=0.0)


def rules(problem: Problem) -> list[Rule]:
    """Memory is no row: what does not fit is no candidate."""
    del problem
    return [
        Rule(NAME, "memory", "GiB", "<=", 0.0, None, overrun_gib, relaxable=False),
        Rule("host_memory", "host memory", "GiB", "<=", 0.0, None, host_overrun_gib, relaxable=False),
    ]
