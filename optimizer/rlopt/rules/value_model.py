"""Size of the value model:  weights that a value passes through >= floors.value_params.

Too simple a value model spoils the advantages that all training rests on. Where it stands on the policy's backbone,
the backbone's weights count with the head's: a value passes through both. The request alone decides the amount.
"""

from __future__ import annotations

import numpy as np

from rlopt.plan import Plan
from rlopt.problem import Problem
from rlopt.rules.contract import Rule
from rlopt.workloads.shared_value import value_params

NAME = "value_model"


def weights(problem: Problem) -> float:
    """Weights that a value passes through; 0 without a value model."""
    return value_params(problem.request, problem.workload.roles)


def rules(problem: Problem) -> list[Rule]:
    """One row where the job has a value model."""
    least = problem.request.floors.value_params
    if least is None or not weights(problem):
        return []

    def measure(plan: Plan, here: Problem) -> float:
        del plan
        return weights(here)

    return [
        Rule(
            "value_params",
            "floors.value_params",
            "weights",
            ">=",
            float(least),
            lambda columns, here: np.full(len(columns), weights(here)),
            measure,
            of_pools=True,
            of_group=True,
            constant=True,
        )
    ]
