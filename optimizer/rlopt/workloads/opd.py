"""On-policy distillation: a teacher scores what the student samples, and the student learns from its log-probabilities.

Agarwal et al. (2023), arXiv 2306.13649, algorithm 1 with every sequence the student's own. The teacher gives the
log-probability of each sampled token, not of the whole vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads import common
from rlopt.workloads.contract import Role, Stage, Workload
from rlopt.workloads.online import sampled_share

NAME = "opd"


def build(request: Request, models: Mapping[str, Model]) -> Workload:
    """Policy (trained, the student) and teacher (frozen).

    generate(policy), forward(policy, teacher), update(policy).
    """
    lengths, job = common.lengths(request), request.job
    stages = (
        Stage(StageKind.SAMPLE, "policy", lengths, per_sample=sampled_share(request)),
        Stage(StageKind.SCORE, "policy", lengths),
        Stage(StageKind.SCORE, "teacher", lengths),
        Stage(
            StageKind.TRAIN,
            "policy",
            lengths,
            updates=job.updates_per_step,
            epochs=job.ppo_epochs,
            share=common.kept_share(request),
        ),
    )
    sizes = request.group_sizes
    return Workload(
        NAME,
        (Role("policy", models["policy"], True), Role("teacher", models["teacher"], False)),
        stages,
        job.prompts_per_step,
        sizes,
        common.steps_by_group_size(request, sizes),
        common.tools(request),
        instances=common.instances(request),
        evaluation=common.evaluation(request, lengths),
        fallback_share=common.fallback_share(request),
    )
