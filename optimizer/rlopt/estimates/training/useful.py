"""Arithmetic that a job needs whatever it runs on: FLOPs of its passes without recomputation, padding or attention.

    forward = 2 N a token        full update = 6 N        with adapters = 4 N        N = parameters that multiply

Kaplan et al. (2020), arXiv 2001.08361, section 2.1: 2 N forward, twice that backward. Chowdhery et al. (2022, PaLM),
arXiv 2204.02311, appendix B, leave recomputation out in the same way. Of a mixture of experts N is what one token
visits. A frozen weight needs no gradient of its own, but passes on that of its inputs:
two thirds of an update, as long as anything below it is trained; adapters' own 6 FLOPs a weight are left out, and so
are attention's products of activations (12 · layers · width · length of PaLM's 6 N + 12 L H Q T).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlopt.estimates.arrays import Training
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.passes import GEMM_BACKWARD
from rlopt.words import StageKind
from rlopt.workloads import Stage, Workload
from rlopt.workloads.tokens import read_tokens, sampled_tokens

FLOPS = 2.0
"""A multiplication and an addition."""


def forward_flops(shape: ModelShape) -> float:
    """FLOPs of one token's pass through a model."""
    return FLOPS * float(shape.active)


def update_flops(shape: ModelShape, training: Training) -> float:
    """FLOPs of one token's forward and backward pass."""
    weights = training.trainable_share if training.gemm_share is None else training.gemm_share
    head = weights if training.head_share is None else training.head_share
    if training.lora is not False:
        weights, head = 0.0, 0.0
    flows, own = float(np.asarray(training.backward, dtype=np.float64)), GEMM_BACKWARD - 1.0
    body = float(shape.dense_active + shape.experts_active) * (1.0 + flows * (1.0 + own * float(weights)))
    return FLOPS * (body + float(shape.head) * (1.0 + flows + own * float(head)))


def sampling_flops(workload: Workload, shapes: Mapping[str, ModelShape], group_size: int, most_shared: float) -> float:
    """FLOPs of one step's sampling; a prompt is read once for as many samples as share it in an engine."""
    prompt, response = sampled_tokens(workload, group_size)
    policy, acts = shapes["policy"], workload.acting
    if acts is None:
        shared = min(float(group_size), most_shared)
        return (prompt / shared + response) * forward_flops(policy)
    vision = workload.role("policy").model.vision
    tower = 0.0 if vision is None else vision.params * workload.role("policy").patches_per_token
    head = shapes.get("action")
    each = forward_flops(policy) - FLOPS * tower if head is None else forward_flops(head)
    passes = 1 if acts.head == "tokens" else acts.passes
    return prompt * forward_flops(policy) + response * passes * each


def step_flops(
    workload: Workload,
    shapes: Mapping[str, ModelShape],
    trainings: Mapping[str, Training],
    group_size: int,
    most_shared: float,
) -> float:
    """FLOPs of one step: sampling, scoring, screening and updates; what is evaluated is left out.

    ``most_shared``: samples of a prompt that an engine reads it for at once, at most.
    """
    found = sampling_flops(workload, shapes, group_size, most_shared) if workload.generates else 0.0
    for stage in (*workload.stages, *workload.screening):
        if stage.kind in (StageKind.SCORE, StageKind.TRAIN):
            found += read_tokens(workload, stage, group_size) * _of_token(stage, shapes, trainings)
    return found


def once_flops(
    stages: tuple[Stage, ...], sequences: float, shapes: Mapping[str, ModelShape], trainings: Mapping[str, Training]
) -> float:
    """FLOPs of what runs before the first step, over ``sequences`` of each stage."""
    return sum(sequences * stage.lengths.mean * stage.epochs * _of_token(stage, shapes, trainings) for stage in stages)


def _of_token(stage: Stage, shapes: Mapping[str, ModelShape], trainings: Mapping[str, Training]) -> float:
    if stage.kind == StageKind.TRAIN:
        return update_flops(shapes[stage.role], trainings[stage.role])
    return forward_flops(shapes[stage.role])
