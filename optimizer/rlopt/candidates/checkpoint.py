"""What a checkpoint holds, and the intervals to choose from."""

from __future__ import annotations

from rlopt.estimates import ModelShape
from rlopt.problem import Checkpoint
from rlopt.request import Request
from rlopt.workloads import Workload

OPTIMIZER_BYTES = {"adamw": 12.0, "adamw_bf16": 4.0, "adamw_8bit": 6.0}
"""Saved beside 2 B of weights: fp32 master and moments; bf16 moments; fp32 master and 8-bit moments."""
INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def checkpoint_sizes(request: Request, workload: Workload) -> Checkpoint:
    """Bytes of a resumable copy (all trained models) and of a weights-only copy (the policy)."""
    optimizer = OPTIMIZER_BYTES[request.job.optimizer]
    trained = []
    for role in workload.roles:
        if role.trained:
            trainable, count = request.job.trainable, role.model.params
            if role.name == "policy" and trainable.kind == "lora":
                count = float(ModelShape.of(role.model).lora_params(trainable.lora_rank or 1))
            trained.append((role.name, count))
    weights = next(count for name, count in trained if name == "policy") * 2.0
    return Checkpoint(sum(count for _, count in trained) * (2.0 + optimizer), weights)


def intervals(request: Request, workload: Workload) -> dict[int, tuple[int, ...]]:
    """Checkpoint intervals by group size: divisors of history_every, or a geometric grid without one."""
    every = request.floors.checkpoints.history_every
    found = {}
    for size, steps in workload.steps.items():
        grid = [d for d in range(1, every + 1) if every % d == 0] if every else [*INTERVALS, steps]
        found[size] = tuple(sorted({d for d in grid if d <= steps})) or (steps,)
    return found
