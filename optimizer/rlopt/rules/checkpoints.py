"""Checkpoint floors: recovery time of the recent copies, an interval no longer than the history's, copies kept."""

from __future__ import annotations

from rlopt.answers.plan import BilledRun
from rlopt.costs.storage import copies
from rlopt.problem import Problem
from rlopt.rules.contract import Rule
from rlopt.units import SECONDS_PER_MINUTE

NAME = "checkpoints"


def missing_copies(plan: BilledRun, problem: Problem) -> float:
    """Copies that the floors ask for and the plan's tiers do not hold."""
    held = sum(use.copies for use in plan.decisions.checkpoint.tiers)
    return float(sum(copies(problem, plan.time.steps)) - held)


def rules(problem: Problem) -> list[Rule]:
    """Recovery is a row; copies and interval hold by construction and are checked on the plan."""
    floor, found = problem.request.floors.checkpoints, []
    found.append(Rule("copies", "floors.checkpoints", "copies", "<=", 0.0, None, missing_copies, relaxable=False))
    if floor.recovery_time is not None:
        minutes = floor.recovery_time / SECONDS_PER_MINUTE
        found.append(
            Rule(
                "recovery_time",
                "floors.checkpoints.recovery_time",
                "min",
                "<=",
                minutes,
                lambda columns, _: columns.recovery_minutes,
                lambda plan, _: plan.decisions.checkpoint.recovery_minutes,
            )
        )
    if floor.history_every is not None:
        every = floor.history_every
        found.append(
            Rule(
                "history_every",
                "floors.checkpoints.history_every",
                "steps",
                "<=",
                0.0,
                None,
                lambda plan, _: (
                    float(every % plan.decisions.checkpoint.interval_steps) if plan.time.steps >= every else 0.0
                ),
                relaxable=False,
            )
        )
    return found
