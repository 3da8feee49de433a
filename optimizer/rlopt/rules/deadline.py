"""Deadline:  confident hours <= limits.deadline."""

from __future__ import annotations

from rlopt.problem import Problem
from rlopt.rules.contract import Rule
from rlopt.units import seconds_to_hours

NAME = "deadline"


def rules(problem: Problem) -> list[Rule]:
    """Held against the confidence quantile of one run's hours."""
    deadline = problem.request.limits.deadline
    if deadline is None:
        return []
    return [
        Rule(
            NAME,
            "limits.deadline",
            "h",
            "<=",
            seconds_to_hours(deadline),
            lambda columns, _: columns.confident_hours,
            lambda plan, _: plan.time.confident_hours if plan.time else 0.0,
        )
    ]
