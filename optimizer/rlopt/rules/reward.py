"""Quality of the reward model:  stated accuracy of the model chosen >= floors.reward_quality."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.costs.contract import variant_of
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.workloads.variants import Variant

NAME = "reward"


def accuracy(variant: Variant) -> float:
    """Stated accuracy of the variant's reward model; reading refuses a floor beside a model without one."""
    chosen = variant.picked
    return 0.0 if chosen is None or chosen.option.accuracy is None else chosen.option.accuracy


def rules(problem: Problem) -> list[Rule]:
    """One rule where the request sets the floor."""
    floor = problem.request.floors.reward_quality
    if floor is None:
        return []

    def amount(columns: Columns, problem: Problem) -> NDArray[np.float64]:
        return np.asarray(np.array([accuracy(variant) for variant in problem.variants])[columns.variant])

    def measure(plan: BilledRun, problem: Problem) -> float:
        return accuracy(variant_of(plan, problem))

    return [
        Rule(
            "reward_quality",
            "floors.reward_quality",
            "share",
            ">=",
            floor,
            amount,
            measure,
            step=0.01,
            scope=Scope.VARIANT,
        )
    ]
