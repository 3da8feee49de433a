"""Budgets in the request's worst case: what a column, or a finished plan, costs if every step takes longer.

A bill never falls as steps take longer, so what breaks a budget as predicted breaks it in the worst case as well:
bounds on the predicted bill stay bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rlopt.candidates.slower import again, slower
from rlopt.costs import bill, column_costs
from rlopt.plan import Plan
from rlopt.problem import Columns, Problem


@dataclass(slots=True)
class WorstCase:
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

    def billed_usd(self, plan: Plan, problem: Problem, dimension: str | None = None) -> float:
        """USD of a finished plan's bill at that pace, or of one dimension of it, from the plan's own slower hours."""
        if plan.worst is None:
            return 0.0
        slow = self.problem(problem)
        lines = bill(plan.model_copy(update={"time": plan.worst.time}), slow)
        return math.fsum(line.usd for line in lines if dimension in (None, line.dimension))
