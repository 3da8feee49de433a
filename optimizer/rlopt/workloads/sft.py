"""Supervised fine-tuning: one model, one update per step over packed or padded sequences."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Role, Stage, Workload

NAME = "sft"


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy (trained); update(policy) on the step's sequences and on those that are repeated against forgetting."""
    lengths, remedial = common.lengths(request), request.job.remedial_share
    update = Stage(StageKind.TRAIN, "policy", lengths, per_sample=1.0 + remedial, updates=request.job.updates_per_step)
    return Workload(
        NAME,
        (Role("policy", models["policy"], True),),
        (update,),
        request.job.prompts_per_step,
        (1,),
        common.steps_by_group_size(request, (1,)),
        evaluation=common.evaluation(request, lengths),
        loads=common.load(lengths, 1.0 + remedial),
    )
