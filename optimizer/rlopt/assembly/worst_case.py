"""A plan in the worst case that its request asks for."""

from __future__ import annotations

from collections.abc import Callable

from rlopt.answers.plan import Plan, SolverSummary, WorstCase
from rlopt.columns.pace import again, slower
from rlopt.problem import Columns, Problem

Build = Callable[[Columns, int, Problem, SolverSummary, str], Plan]


def with_worst(plan: Plan, columns: Columns, j: int, problem: Problem, build: Build) -> Plan:
    """The plan of column ``j`` with its hours and bill if every step is as slow as the worst case; ``build`` plans."""
    times = problem.request.limits.robust.time
    if times == 1.0:
        return plan
    slow = slower(problem, times)
    late = build(again(slow, columns.take(slice(j, j + 1))), 0, slow, plan.solver, plan.status)
    assert late.cost is not None
    assert late.time is not None
    assert late.decisions is not None
    worst = WorstCase(times=times, total_usd=late.cost.total_usd, time=late.time, checkpoint=late.decisions.checkpoint)
    return plan.model_copy(update={"worst": worst})
