"""Size of the value model:  weights that a value passes through >= floors.value_params.

Too simple a value model spoils the advantages that all training rests on. Where it stands on the policy's backbone,
the backbone's weights count with the head's: a value passes through both. Unless the value model is chosen, the request
alone decides the amount.
"""

from __future__ import annotations

import numpy as np

from rlopt.answers.plan import BilledRun
from rlopt.costs.contract import variant_of
from rlopt.problem import Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.workloads.shared_value import value_params
from rlopt.workloads.variants import Variant

NAME = "value_model"


def weights(problem: Problem, variant: Variant | None = None) -> float:
    """Weights that a value passes through; 0 without a value model."""
    chosen = variant is not None and variant.picked is not None and variant.picked.role == "value"
    return value_params(problem.request, variant.workload.roles if chosen and variant else problem.workload.roles)


def rules(problem: Problem) -> list[Rule]:
    """One row where the job has a value model."""
    least = problem.request.floors.value_params
    if least is None or not weights(problem):
        return []

    def measure(plan: BilledRun, here: Problem) -> float:
        return weights(here, variant_of(plan, here) if plan.pools else None)

    return [
        Rule(
            "value_params",
            "floors.value_params",
            "weights",
            ">=",
            float(least),
            lambda columns, here: np.array([weights(here, variant) for variant in here.variants])[columns.variant],
            measure,
            scope=Scope.REQUEST if all(variant.picked is None for variant in problem.variants) else Scope.VARIANT,
        )
    ]
