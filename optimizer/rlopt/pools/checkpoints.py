"""What a checkpoint holds, and the intervals to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlopt.estimates import Calibration
from rlopt.estimates.roles import POLICY, trained_params
from rlopt.problem.recovery import Checkpoint
from rlopt.request import Request
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant

INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def checkpoint_sizes(request: Request, workload: Workload, calibration: Calibration) -> Checkpoint:
    """Bytes of a resumable copy (all trained models) and of a weights-only copy (the policy)."""
    kept = calibration.memory
    weight, optimizer = float(kept["saved_weight_bytes"]), float(kept["saved_optimizer_bytes"][request.job.optimizer])
    trained = {role.name: trained_params(role, request.job.trainable) for role in workload.roles if role.trained}
    policy = sum(trained.get(name, 0.0) for name in POLICY)
    return Checkpoint(sum(trained.values()) * (weight + optimizer), policy * weight)


def checkpoint_of(request: Request, variants: Sequence[Variant], calibration: Calibration) -> Checkpoint:
    """The same of every way to run the job: they differ where a model that is trained is chosen."""
    sizes = [checkpoint_sizes(request, variant.workload, calibration) for variant in variants]
    states, weights = tuple(size.resumable_bytes for size in sizes), tuple(size.weights_bytes for size in sizes)
    found = sizes[0] if len(set(states)) == 1 else replace(sizes[0], by_variant=states)
    return found if len(set(weights)) == 1 else replace(found, weights_by_variant=weights)


def intervals(request: Request, variants: Sequence[Variant]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Checkpoint intervals by variant and group size: divisors of history_every, or a geometric grid without one."""
    every = request.floors.checkpoints.history_every
    found = {}
    for number, variant in enumerate(variants):
        for size, steps in variant.steps.items():
            grid = [d for d in range(1, every + 1) if every % d == 0] if every else [*INTERVALS, steps]
            found[number, size] = tuple(sorted({d for d in grid if d <= steps})) or (steps,)
    return found
