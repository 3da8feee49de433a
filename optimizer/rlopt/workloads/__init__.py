"""Algorithms, by name. A new one is one new module and one row here."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.errors import NotSupportedError
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.workloads import dpo, grpo, opd, ppo, rm, sft, vla
from rlopt.workloads.acting import Acting
from rlopt.workloads.contract import Algorithm, EvaluationPass, Role, Stage, Tools, Workload
from rlopt.workloads.lengths import Lengths

ALGORITHMS: tuple[Algorithm, ...] = (sft, dpo, rm, ppo, grpo, opd, vla)


def algorithm(name: str) -> Algorithm:
    """The module of an algorithm; NotSupportedError where this release has none of that name."""
    for module in ALGORITHMS:
        if name == module.NAME:
            return module
    known = ", ".join(module.NAME for module in ALGORITHMS)
    raise NotSupportedError("job.algorithm", f"{name} is not in this release yet; there are {known}")


def build_workload(request: Request, models: Mapping[str, Model]) -> Workload:
    """Roles and stages of the request's algorithm; NotSupportedError where this release has no such algorithm."""
    return algorithm(request.job.algorithm).build(request, models)


__all__ = [
    "ALGORITHMS",
    "Acting",
    "Algorithm",
    "EvaluationPass",
    "Lengths",
    "Role",
    "Stage",
    "Tools",
    "Workload",
    "algorithm",
    "build_workload",
]
