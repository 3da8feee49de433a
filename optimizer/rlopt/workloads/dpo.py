"""Direct preference optimisation: reference log-probabilities and an update, both on chosen and rejected."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Role, Stage, Workload

NAME = "dpo"
SEQUENCES_PER_PAIR = 2.0


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy (trained), reference; forward(reference), update(policy). Rafailov et al. (2023), section 4."""
    lengths = common.lengths(request)
    roles, stages = [Role("policy", models["policy"], True)], []
    if "reference" in models:
        roles.append(common_reference(request, models))
        stages.append(Stage(StageKind.SCORE, "reference", lengths, SEQUENCES_PER_PAIR))
    stages.append(Stage(StageKind.TRAIN, "policy", lengths, SEQUENCES_PER_PAIR, updates=request.job.updates_per_step))
    return Workload(
        NAME,
        tuple(roles),
        tuple(stages),
        request.job.prompts_per_step,
        (1,),
        common.steps_by_group_size(request, (1,)),
        evaluation=common.evaluation(request, lengths),
        loads=common.load(lengths),
    )


def common_reference(request: Request, models: Mapping[str, Model]) -> Role:
    """The reference role; under LoRA the policy with its adapters off, so it holds no weights of its own."""
    shared = request.job.trainable.kind == "lora" and models["reference"] is models["policy"]
    return Role("reference", models["reference"], False, weights=not shared)
