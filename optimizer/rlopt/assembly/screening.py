"""What a plan says of samples that are screened before they are stored: what that takes and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlopt.market.volumes import frame_bytes
from rlopt.pools.sampling.detail import SCREENING
from rlopt.problem import Problem
from rlopt.problem.detail import PoolDetail
from rlopt.units import bytes_to_gb
from rlopt.words import StageKind
from rlopt.workloads.online import sampled_share
from rlopt.workloads.screening import screens
from rlopt.workloads.variants import Variant


def screening(
    variant: Variant, details: Sequence[PoolDetail], group_size: int, problem: Problem
) -> dict[str, Any] | None:
    """Seconds of a step that screening takes and updates it spares, GB not stored and not moved; None without it."""
    request, workload, acts = problem.request, variant.workload, variant.workload.acting
    if acts is None or not screens(request, workload):
        return None
    stages = [(stage.stage, stage.model, stage.seconds) for detail in details for stage in detail.stages]
    apart = [seconds for stage, _, seconds in stages if stage == SCREENING]
    together = [seconds for stage, model, seconds in stages if (stage, model) == (StageKind.SCORE, "value")]
    frame = frame_bytes(request, workload, problem.operations) * (1.0 - request.job.data.duplicate_share)
    dropped = workload.samples(group_size) * sampled_share(request) * acts.frames * request.job.filter.drop
    stored = bytes_to_gb(dropped * frame)
    return {
        "pool": "rollout" if apart else "main",
        "seconds": sum(apart or together),
        "stored_gb": stored,
        "traffic_gb": 2.0 * stored,  # written once and read once
        "update_seconds": sum(detail.spared_seconds for detail in details),
    }
