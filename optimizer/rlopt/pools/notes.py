"""What a plan has to say of a policy's loss, of screening, and of memory that no layout has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlopt.pools.training.closest import closest_of
from rlopt.pools.training.table import TrainingTable
from rlopt.request import Request
from rlopt.workloads import Workload
from rlopt.workloads.policy_loss import LIKELIHOOD, unrolled


def acting_notes(request: Request, workloads: Sequence[Workload]) -> list[str]:
    """Warnings on how the job acts, of any of its ways."""
    return [*dict.fromkeys(_dear(request, workloads)), *_screening(request, workloads[0])]


def _dear(request: Request, workloads: Sequence[Workload]) -> Iterator[str]:
    for workload in workloads:
        steps = 1 if workload.acting is None else unrolled(request, workload.acting)
        if steps > 1:
            yield (
                f"job.action.policy_loss ppo on a flow head is dear: the stage {LIKELIHOOD} and the update run all "
                f"{steps} flow steps of every trained sample, and the update keeps the activations of each; awr and "
                "advantage_conditioned run one"
            )


def _screening(request: Request, workload: Workload) -> Iterator[str]:
    drop = request.job.filter
    if drop.before_storage and workload.acting is not None and not any(role.name == "value" for role in workload.roles):
        yield "job.filter.before_storage drops samples without a value model: what judges them takes no time here"
    if drop.before_storage and drop.drop == 0.0:
        yield "job.filter.before_storage has nothing to drop (drop: 0): nothing is screened where it is collected"


def misfit_notes(tables: Sequence[TrainingTable], request: Request, workload: Workload) -> list[str]:
    """What the closest layout needs where no layout of any training pool fits; nothing where one does."""
    closest = closest_of(tables)
    if closest is None:
        return []
    needed, capacity, stage = closest.needed_gib, closest.capacity_gib, closest.stage
    steps = 1 if workload.acting is None else unrolled(request, workload.acting)
    where = f"stage {stage}"
    if steps > 1 and stage in ("update policy", "forward policy", "forward action"):
        where = f"stage {LIKELIHOOD} ({stage}), which unrolls {steps} flow steps"
    return [
        f"no training layout fits: the closest needs {needed:.4g} GiB per GPU in {where}; {capacity:.4g} GiB are there"
    ]
