"""What a checkpoint holds, and the intervals to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.estimates import ModelShape, load_calibration
from rlopt.problem import Checkpoint
from rlopt.request import Request
from rlopt.workloads import Variant, Workload

INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def checkpoint_sizes(request: Request, workload: Workload) -> Checkpoint:
    """Bytes of a resumable copy (all trained models) and of a weights-only copy (the policy)."""
    kept = load_calibration().memory
    weight, optimizer = float(kept["saved_weight_bytes"]), float(kept["saved_optimizer_bytes"][request.job.optimizer])
    trained = []
    for role in workload.roles:
        if role.trained:
            trainable, count = request.job.trainable, role.model.params
            if role.name == "policy" and trainable.kind == "lora":
                count = float(ModelShape.of(role.model).lora_params(trainable.lora_rank or 1))
            trained.append((role.name, count))
    weights = next(count for name, count in trained if name == "policy") * weight
    return Checkpoint(sum(count for _, count in trained) * (weight + optimizer), weights)


def intervals(request: Request, variants: Sequence[Variant]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Checkpoint intervals by variant and group size: divisors of history_every, or a geometric grid without one."""
    every = request.floors.checkpoints.history_every
    found = {}
    for number, variant in enumerate(variants):
        for size, steps in variant.steps.items():
            grid = [d for d in range(1, every + 1) if every % d == 0] if every else [*INTERVALS, steps]
            found[number, size] = tuple(sorted({d for d in grid if d <= steps})) or (steps,)
    return found
