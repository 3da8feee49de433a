"""Budgets in the request's worst case: what a column, or a finished plan, costs if every step takes longer.

A bill never falls as steps take longer, so what breaks a budget as predicted breaks it in the worst case as well:
bounds on the predicted bill stay bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from rlopt.answers.plan import BilledRun, PlannedParts
from rlopt.columns.pace import again, slower
from rlopt.costs import bill, column_costs
from rlopt.problem import Columns, Problem

CENT = 0.01
RELATIVE = 1e-6


@dataclass(slots=True)
class WorstCaseColumns:
    """Columns and plans at the worst case of a request; remembers the slower problem."""

    _of: list[tuple[Problem, Problem]] = field(default_factory=list)

    def problem(self, problem: Problem) -> Problem:
        """The problem with every step as long as `limits.robust.time` says."""
        for own, slow in self._of:
            if own is problem:
                return slow
        self._of[:] = [(problem, slower(problem, problem.request.limits.robust.time))]
        return self._of[0][1]

    def columns(self, columns: Columns, problem: Problem) -> Columns:
        """The columns at that pace, their costs filled in."""
        slow = self.problem(problem)
        found = again(slow, columns) if len(columns) else columns
        return found.with_cost(column_costs(found, slow))

    def billed_usd(self, plan: BilledRun, problem: Problem, dimension: str | None = None) -> float:
        """USD of a finished plan's bill at that pace, or of one dimension of it, from the plan's own slower hours."""
        if plan.worst is None:
            return 0.0
        slow = self.problem(problem)
        decisions = plan.decisions.model_copy(update={"checkpoint": plan.worst.checkpoint})
        lines = bill(PlannedParts(plan.pools, plan.worst.time, decisions), slow)
        return math.fsum(line.usd for line in lines if dimension in (None, line.dimension))


def worst_faults(plan: BilledRun, problem: Problem) -> Iterator[str]:
    """What is wrong with what a plan says of its worst case; nothing where the request asks for none."""
    times, worst = problem.request.limits.robust.time, plan.worst
    if times == 1.0 and worst is None:
        return
    if worst is None or worst.times != times:
        yield f"the worst case is {times:g} times the predicted pace, the plan's is not"
        return
    again_usd = WorstCaseColumns().billed_usd(plan, problem)
    if abs(again_usd - worst.total_usd) > CENT:
        yield f"the bill of the worst case recomputed is {again_usd:.4f} USD, the plan says {worst.total_usd:.4f}"
    if abs(worst.time.step_seconds - times * plan.time.step_seconds) > RELATIVE * worst.time.step_seconds:
        yield f"a step of the worst case takes {worst.time.step_seconds:g} s, {times:g} times as long it is not"
    if abs(worst.time.confident_hours - plan.time.confident_hours) > RELATIVE * plan.time.confident_hours:
        yield "the deadline is held against other hours than those of the worst case"
    own = plan.decisions.checkpoint.interval_steps
    if worst.checkpoint.interval_steps != own:
        yield f"the worst case saves every {worst.checkpoint.interval_steps} steps, the plan every {own}"
