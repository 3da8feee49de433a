"""Samples that are screened by their value where they are collected, so that what is dropped is never stored or sent.

`job.filter.before_storage` with a share to drop moves the value's pass over every sample from the training pool to the
pool that samples, which then holds the value model too and is sent its weights with the policy's. A pool that samples
and trains in turn does the same work either way.
"""

from __future__ import annotations

from dataclasses import replace

from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.contract import Stage, Workload
from rlopt.workloads.shared_value import reads_with_policy


def screens(request: Request, workload: Workload) -> bool:
    """Whether samples are screened before they are stored: there is a value model, and something is dropped."""
    drop = request.job.filter
    return drop.before_storage and drop.drop > 0.0 and any(role.name == "value" for role in workload.roles)


def screened_apart(request: Request, workload: Workload) -> Workload:
    """The same work with the value's pass over all samples in the pool that samples.

    Where the policy reads what the value reads, its own inference has run the shared backbone already.
    """
    moved = tuple(stage for stage in workload.stages if _scores_all(stage))
    read = workload.acting is not None and reads_with_policy(request, workload.acting)
    return replace(
        workload,
        stages=tuple(stage for stage in workload.stages if not _scores_all(stage)),
        screening=tuple(stage for stage in moved if stage.role == "value" or not read),
    )


def _scores_all(stage: Stage) -> bool:
    """Whether a pass scores values of all samples: passes for training see those alone that the filter keeps."""
    return stage.kind == StageKind.SCORE and stage.role in ("value", "policy") and stage.share == 1.0 and not stage.name
