"""Roles and scoring passes that the algorithms with online sampling share."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import Model
from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.contract import Role, Stage
from rlopt.workloads.dpo import common_reference
from rlopt.workloads.lengths import Lengths
from rlopt.workloads.rm import SCORE


def sampled_share(request: Request) -> float:
    """Share of samples that are generated anew; the rest comes from the cache of earlier results."""
    return 1.0 - request.job.cache_hit_rate


def scoring(
    request: Request, models: Mapping[str, Model], lengths: Lengths
) -> tuple[tuple[Role, ...], tuple[Stage, ...]]:
    """Policy, reference and reward roles and their forward passes over every sample."""
    roles = [Role("policy", models["policy"], True)]
    stages = [Stage(StageKind.SCORE, "policy", lengths)]
    if "reference" in models:
        roles.append(common_reference(request, models))
        stages.append(Stage(StageKind.SCORE, "reference", lengths))
    if "reward" in models:
        roles.append(Role("reward", models["reward"], False, outputs=SCORE))
        stages.append(Stage(StageKind.SCORE, "reward", lengths))
    return tuple(roles), tuple(stages)
