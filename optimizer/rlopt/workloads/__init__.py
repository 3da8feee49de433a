"""Algorithms, by name. A new one is one new module and one row here."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from rlopt.errors import NotSupportedError
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.workloads import dpo, grpo, ppo, sft
from rlopt.workloads.contract import Lengths, Role, Stage, Tools, Workload

ALGORITHMS: tuple[ModuleType, ...] = (sft, dpo, ppo, grpo)


def build_workload(request: Request, models: Mapping[str, Model]) -> Workload:
    """Roles and stages of the request's algorithm; NotSupportedError where this release has no such algorithm."""
    wanted = request.job.algorithm
    for module in ALGORITHMS:
        if wanted == module.NAME:
            workload: Workload = module.build(request, models)
            return workload
    raise NotSupportedError(
        "job.algorithm", f"{wanted} is not in this release; there are {', '.join(m.NAME for m in ALGORITHMS)}")


__all__ = ["ALGORITHMS", "Lengths", "Role", "Stage", "Tools", "Workload", "build_workload"]
