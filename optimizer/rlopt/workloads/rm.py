"""Reward modelling: one score a sequence, trained on pairs. Ouyang et al. (2022), section 3.5, equation 1."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Role, Stage, Workload

NAME = "rm"
SEQUENCES_PER_PAIR = 2.0
SCORE = 1
"""Outputs of a reward model or a critic: one scalar takes the place of the vocabulary."""


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy (trained, the reward model itself, a scalar head); update(policy) on chosen and rejected."""
    lengths = common.lengths(request)
    update = Stage(StageKind.TRAIN, "policy", lengths, SEQUENCES_PER_PAIR, updates=request.job.updates_per_step)
    return Workload(
        NAME,
        (Role("policy", models["policy"], True, outputs=SCORE),),
        (update,),
        request.job.prompts_per_step,
        (1,),
        common.steps_by_group_size(request, (1,)),
        evaluation=common.evaluation(request, lengths),
        loads=common.load(lengths),
    )
