"""Phases before the job: a model that no plan could make in time, or on the machines there are, is not chosen."""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BilledRun
from rlopt.costs.contract import variant_of
from rlopt.costs.phases import phases_of
from rlopt.problem import Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.workloads.variants import Variant

NAME = "phases"


def unmade(variant: Variant, problem: Problem) -> float:
    """Phases of one way to run the job that no plan can do."""
    return float(sum(phase.usd is None for phase in phases_of(variant, problem)))


def rules(problem: Problem) -> list[Rule]:
    """One rule where some phase cannot be done."""
    if all(phase.usd is not None for phase in problem.phases):
        return []
    return [
        Rule(
            "phases",
            "job.models.teacher",
            "phases without a plan",
            "<=",
            0.0,
            lambda columns, here: np.array([unmade(one, here) for one in here.variants])[columns.variant],
            lambda plan, here: _measure(plan, here),
            relaxable=False,
            scope=Scope.VARIANT,
        )
    ]


def _measure(plan: BilledRun, problem: Problem) -> float:
    return unmade(variant_of(plan, problem), problem)
