"""Group relative policy optimisation: K samples a prompt, scored and trained on. Shao et al. (2024), section 4."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Stage, Workload
from rlopt.workloads.online import sampled_share, scoring

NAME = "grpo"


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy (trained), reference and reward where they are models.

    generate(policy), forward(policy, reference, reward), update(policy).
    """
    lengths, job = common.lengths(request), request.job
    roles, forwards = scoring(request, models, lengths)
    kept = common.kept_share(request)
    stages = (
        Stage(StageKind.SAMPLE, "policy", lengths, per_sample=sampled_share(request)),
        *forwards,
        Stage(StageKind.TRAIN, "policy", lengths, updates=job.updates_per_step, epochs=job.ppo_epochs, share=kept),
    )
    sizes = request.group_sizes
    steps = common.steps_by_group_size(request, sizes)
    return Workload(
        NAME,
        roles,
        stages,
        job.prompts_per_step,
        sizes,
        steps,
        common.tools(request),
        instances=common.instances(request),
        evaluation=common.evaluation(request, lengths),
        fallback_share=common.fallback_share(request),
    )
