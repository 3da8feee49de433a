"""Budgets:  the whole bill <= limits.budget, the hourly rate of all pools <= limits.hourly_budget."""

from __future__ import annotations

from rlopt.candidates.market import usd_rate
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.rules.contract import Rule
from rlopt.units import Money

NAME = "budget"


def _usd(money: Money, request: Request) -> float:
    return money.amount * (usd_rate(money.currency, request) or 0.0)


def rules(problem: Problem) -> list[Rule]:
    """Both in USD at the request's exchange rates."""
    limits, found = problem.request.limits, []
    if limits.budget is not None:
        found.append(Rule(NAME, "limits.budget", "USD", "<=", _usd(limits.budget, problem.request),
                          lambda columns, _: columns.usd, lambda plan, _: plan.cost.total_usd if plan.cost else 0.0))
    if limits.hourly_budget is not None:
        found.append(Rule("hourly_budget", "limits.hourly_budget", "USD/h", "<=",
                          _usd(limits.hourly_budget, problem.request),
                          lambda columns, _: columns.usd_per_hour + columns.cpu_usd_per_hour,
                          lambda plan, _: sum(pool.usd_per_hour for pool in plan.pools)))
    return found
