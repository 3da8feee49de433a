"""Dashboards: panels and users by the month, as long as the runs take and their logs are kept.

USD = (panels · price + users · price of a user) [USD/month] · (hours of all runs + hours the logs are kept) / 730
"""

from __future__ import annotations

from rlopt.costs.stored.tiers import Values
from rlopt.problem import Problem
from rlopt.units import HOURS_PER_MONTH, seconds_to_hours

DASHBOARDS = "dashboards"


def usd_per_month(problem: Problem) -> float:
    """USD of all panels and users for a month; 0 where none are counted."""
    costs = problem.request.costs
    found = costs.dashboards
    if found is None:
        return 0.0
    return found.panels * costs.usd(found.price) + found.users * costs.usd(found.of_a_user)


def months(problem: Problem, hours: Values) -> Values:
    """Months that they are paid for: ``hours`` of each run, one run after the other, and the retention of logs."""
    kept = seconds_to_hours(problem.request.costs.keep_for.logs)
    return (hours * problem.request.job.trials + kept) / HOURS_PER_MONTH


def basis(problem: Problem, hours: float) -> str:
    """The arithmetic in words."""
    costs = problem.request.costs
    found = costs.dashboards
    if found is None:
        return ""
    parts = ((found.panels, "panels", found.price), (found.users, "users", found.of_a_user))
    counted = " + ".join(f"{count} {name} x {costs.usd(price):g}" for count, name, price in parts if count)
    kept, trials = seconds_to_hours(costs.keep_for.logs), problem.request.job.trials
    run = f"{hours:.4f} h" + ("" if trials == 1 else f" x {trials} runs")
    return f"({counted}) USD/month x ({run} + {kept:g} h kept) / {HOURS_PER_MONTH:g} h"
