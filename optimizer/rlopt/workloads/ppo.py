"""Proximal policy optimisation from a reward model: policy and critic both trained.

Ouyang et al. (2022), section 3.5.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Role, Stage, Workload
from rlopt.workloads.online import sampled_share, scoring
from rlopt.workloads.rm import SCORE

NAME = "ppo"


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy and critic (trained), reference, reward.

    generate(policy), forward(policy, reference, critic, reward), update(policy) and update(critic), ppo_epochs each.
    """
    lengths, job = common.lengths(request), request.job
    roles, forwards = scoring(request, models, lengths)
    critic = Role("critic", models["critic"], True, outputs=SCORE)
    kept = common.kept_share(request)
    stages = (
        Stage(StageKind.SAMPLE, "policy", lengths, per_sample=sampled_share(request)),
        *forwards,
        Stage(StageKind.SCORE, "critic", lengths),
        Stage(StageKind.TRAIN, "policy", lengths, updates=job.updates_per_step, epochs=job.ppo_epochs, share=kept),
        Stage(StageKind.TRAIN, "critic", lengths, updates=job.updates_per_step, epochs=job.ppo_epochs),
    )
    sizes = request.group_sizes
    steps = common.steps_by_group_size(request, sizes)
    return Workload(
        NAME,
        (*roles, critic),
        stages,
        job.prompts_per_step,
        sizes,
        steps,
        common.tools(request),
        instances=common.instances(request),
        evaluation=common.evaluation(request, lengths),
        fallback_share=common.fallback_share(request),
    )
