"""Why a job has no pools at all on some machines: memory of the GPU or of the host, too many GPUs, facts that lack."""

from __future__ import annotations

import numpy as np

from rlopt.answers.explanation import Over
from rlopt.pools.node.host import node_memory_gib
from rlopt.pools.pricing import NO_HOST_MEMORY
from rlopt.problem import Problem
from rlopt.problem.detail import Nearest
from rlopt.reports import words

UNKNOWN_HOST_MEMORY = (
    "its GPUs alone do not hold the job, and no source states the host memory of its machines for the rest: "
    "give limits.host_memory once you know it"
)


def empty(problem: Problem) -> bool:
    """Whether no pool, or no two that go together, can take the job."""
    return not len(problem.colocated) and not (len(problem.training) and len(problem.rollout))


def too_large(problem: Problem) -> Over | None:
    """The limit on GPUs that every single machine breaks; None where some machine keeps it, or there is none."""
    least = min((offer.shape.gpus for offer in problem.market.offers), default=0)
    limit = problem.request.limits.max_gpus
    if limit is None or least <= limit:
        return None
    return Over(constraint="limits.max_gpus", value=float(least), limit=float(limit), unit="GPUs")


def lack(nearest: Nearest) -> list[str]:
    """What the closest training layout lacks: stage, GiB of each GPU, and the largest part."""
    stage, _, model = nearest.stage.partition(" ")
    return [
        f"{words.doing(stage, model, ())} takes {nearest.needed_gib:.1f} GiB of each GPU in the layout that comes "
        f"closest, on {nearest.gpus} {nearest.device}: {nearest.capacity_gib:.1f} GiB can be used, "
        f"{nearest.missing_gib:.1f} GiB are missing",
        f"the largest part is {words.spelled(nearest.part)} with {nearest.part_gib:.1f} GiB",
    ]


def why_empty(problem: Problem) -> str:
    """What else than memory of the GPU leaves nothing."""
    if problem.excluded.get(NO_HOST_MEMORY):
        stated = node_memory_gib(problem.market)
        if np.all(np.isnan(stated)):
            return UNKNOWN_HOST_MEMORY
        have = float(np.nanmax(stated))
        return f"it needs more host memory than a machine has ({have:,.0f} GiB), whatever is offloaded"
    of_market = problem.market.left_out
    known = [reason for reason, count in problem.excluded.items() if count and reason not in of_market]
    return "no way to run it is left: " + ("; ".join(known) if known else "its decisions do not go together")
