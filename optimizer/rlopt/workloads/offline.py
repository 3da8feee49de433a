"""A value model that is trained on stored trajectories before the first step (`job.offline`).

As RECAP begins (arXiv 2511.14759, algorithm 1): the value function is learned from data that are there before the
policy collects any. Batches are of `prompts_per_step` trajectories; a head on the policy's backbone runs that first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from rlopt.request import Request
from rlopt.words import StageKind
from rlopt.workloads.contract import Role, Stage, Workload
from rlopt.workloads.shared_value import shares


@dataclass(frozen=True, slots=True)
class OfflineWork:
    """Stages before the first step, the roles they need, and the sequences that one pass over the data has."""

    stages: tuple[Stage, ...]
    roles: tuple[Role, ...]
    sequences: float


def offline_work(request: Request, workload: Workload) -> OfflineWork | None:
    """What the value model learns from stored data; None without such data or without a value model."""
    stored, acts = request.job.offline, workload.acting
    update = next((s for s in workload.of_kind(StageKind.TRAIN) if s.role == "value"), None)
    if stored is None or acts is None or update is None:
        return None
    batches = ceil(stored.samples / request.job.prompts_per_step)
    learns = replace(update, per_sample=1.0, share=1.0, updates=batches, epochs=stored.epochs)
    names, stages = ["value"], [learns]
    if shares(request):
        names, stages = (
            ["policy", *names],
            [Stage(StageKind.SCORE, "policy", update.lengths, epochs=stored.epochs), *stages],
        )
    return OfflineWork(tuple(stages), tuple(workload.role(name) for name in names), stored.samples * acts.frames)
