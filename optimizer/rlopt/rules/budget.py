"""Budgets:  the whole bill <= limits.budget, one dimension of it <= limits.budget.<dimension>, and the hourly rate.

A dimension's amount is the sum of its cost's terms, as the objective counts them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlopt.costs import COSTS
from rlopt.plan import Plan
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule

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


def billed_usd(dimension: str, plan: Plan) -> float:
    """USD of one dimension on a finished plan's bill."""
    lines = plan.cost.lines if plan.cost else []
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
        of_group=dimension not in TRADED,
    )


def rules(problem: Problem) -> list[Rule]:
    """All in USD at the request's exchange rates."""
    found = []
    budget, hourly = problem.request.budget_usd, problem.request.hourly_budget_usd
    if budget is not None:
        found.append(
            Rule(
                NAME,
                "limits.budget",
                "USD",
                "<=",
                budget,
                lambda columns, _: columns.usd,
                lambda plan, _: plan.cost.total_usd if plan.cost else 0.0,
            )
        )
    found += [of_dimension(dimension, usd) for dimension, usd in problem.request.budgets_usd.items()]
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
                of_pools=True,
            )
        )
    return found
