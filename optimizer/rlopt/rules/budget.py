"""Budgets:  the whole bill <= limits.budget, one dimension of it <= limits.budget.<dimension>, and the hourly rate.

A dimension's amount is the sum of its cost's terms, as the objective counts them. With `limits.robust` the bill that a
budget is held against is that of the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.costs import COSTS
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.rules.worst import WorstCaseColumns

NAME = "budget"
TRADED = ("compute", "storage", "network")
"""Dimensions that tiers and compression trade against each other: one of them may fall as a run takes longer."""


def dimension_usd(dimension: str, columns: Columns, problem: Problem) -> NDArray[np.float64]:
    """USD of one dimension of the bill, shape (columns,)."""
    total = np.zeros(len(columns))
    for cost in COSTS:
        if dimension == cost.DIMENSION:
            for usd in cost.terms(columns, problem).values():
                total += usd
    return total


def billed_usd(dimension: str, plan: BilledRun) -> float:
    """USD of one dimension on a finished plan's bill."""
    lines = plan.cost.lines
    return math.fsum(line.usd for line in lines if line.dimension == dimension)


def of_dimension(dimension: str, usd: float) -> Rule:
    """The budget of one dimension."""
    return Rule(
        NAME,
        f"limits.budget.{dimension}",
        "USD",
        "<=",
        usd,
        lambda columns, problem: dimension_usd(dimension, columns, problem),
        lambda plan, _: billed_usd(dimension, plan),
        scope=Scope.COLUMN if dimension in TRADED else Scope.RISING,
    )


def _worst_case(budget: float | None, budgets: Mapping[str, float]) -> list[Rule]:
    """The same limits on the bill of the worst case."""
    worst = WorstCaseColumns()

    def rule(dimension: str | None, key: str, limit: float) -> Rule:
        def amount(columns: Columns, problem: Problem) -> NDArray[np.float64]:
            slow = worst.columns(columns, problem)
            return slow.usd if dimension is None else dimension_usd(dimension, slow, worst.problem(problem))

        def measure(plan: BilledRun, problem: Problem) -> float:
            return worst.billed_usd(plan, problem, dimension)

        return Rule(NAME, key, "USD", "<=", limit, amount, measure)

    found = [] if budget is None else [rule(None, "limits.budget", budget)]
    return found + [rule(name, f"limits.budget.{name}", usd) for name, usd in budgets.items()]


def rules(problem: Problem) -> list[Rule]:
    """All in USD at the request's exchange rates."""
    found = []
    budget, hourly = problem.request.budget_usd, problem.request.hourly_budget_usd
    budgets, robust = problem.request.budgets_usd, problem.request.limits.robust.time > 1.0
    if robust:
        found += _worst_case(budget, budgets)
    if budget is not None and not robust:
        found.append(
            Rule(
                NAME,
                "limits.budget",
                "USD",
                "<=",
                budget,
                lambda columns, _: columns.usd,
                lambda plan, _: plan.cost.total_usd,
            )
        )
    found += [of_dimension(dimension, usd) for dimension, usd in budgets.items() if not robust]
    if hourly is not None:
        found.append(
            Rule(
                "hourly_budget",
                "limits.hourly_budget",
                "USD/h",
                "<=",
                hourly,
                lambda columns, _: columns.usd_per_hour + columns.cpu_usd_per_hour,
                lambda plan, _: sum(pool.usd_per_hour for pool in plan.pools),
                scope=Scope.POOLS,
            )
        )
    return found
