"""Budgets:  the whole bill <= limits.budget, the hourly rate of all pools <= limits.hourly_budget."""

from __future__ import annotations

from rlopt.problem import Problem
from rlopt.rules.contract import Rule

NAME = "budget"


def rules(problem: Problem) -> list[Rule]:
    """Both in USD at the request's exchange rates."""
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
