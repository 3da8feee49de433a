"""Deadline:  confident hours <= limits.deadline."""

from __future__ import annotations

from rlopt.problem import Problem
from rlopt.rules.contract import Rule
from rlopt.units import seconds_to_hours

NAME = "deadline"


def within(hours: float) -> Rule:
    """Confident hours of one run are no more than ``hours``."""
    return Rule(
        NAME,
        "limits.deadline",
        "h",
        "<=",
        hours,
        lambda columns, _: columns.confident_hours,
        lambda plan, _: plan.time.confident_hours,
    )


def rules(problem: Problem) -> list[Rule]:
    """Held against the confidence quantile of one run's hours."""
    deadline = problem.request.limits.deadline
    return [] if deadline is None else [within(seconds_to_hours(deadline))]
