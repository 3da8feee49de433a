"""Estimates of training with every input by itself, so that a test names those alone that it speaks of."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlopt.estimates import Calibration, Hardware, Layout, MemoryParts, ModelShape, Stack, Tokens, Training
from rlopt.estimates.training import activations, compute, memory, update
from rlopt.estimates.training.worker import Worker

Floats = np.ndarray


def worker(
    shape: ModelShape,
    training: Training | None,
    layout: Layout,
    precision: Any,
    calibration: Calibration,
    stack: Stack | None = None,
) -> Worker:
    """A model on ``stack``, or on the one that plans assume."""
    if stack is None:
        return Worker.planned(shape, training, layout, precision, calibration)
    return Worker(shape, training, layout, precision, stack, calibration)


def update_seconds(
    shape: ModelShape, training: Training, hardware: Hardware, layout: Layout, tokens: Tokens, precision: Any,
    sequences: Any, updates: int, epochs: int, calibration: Calibration, stack: Stack | None = None,
) -> Floats:  # fmt: skip
    one = worker(shape, training, layout, precision, calibration, stack)
    return update.update_seconds(one, hardware, tokens, sequences, updates, epochs)


def forward_seconds(
    shape: ModelShape, hardware: Hardware, layout: Layout, tokens: Tokens, precision: Any, sequences: Any,
    calibration: Calibration, stack: Stack | None = None,
) -> Floats:  # fmt: skip
    return update.forward_seconds(
        worker(shape, None, layout, precision, calibration, stack), hardware, tokens, sequences
    )


def optimizer_seconds(
    shape: ModelShape, training: Training, hardware: Hardware, layout: Layout, calibration: Calibration,
    stack: Stack | None = None,
) -> Floats:  # fmt: skip
    return update.optimizer_seconds(worker(shape, training, layout, "bf16", calibration, stack), hardware)


def micro_batch_seconds(
    shape: ModelShape, training: Training | None, hardware: Hardware, layout: Layout, tokens: Tokens, rows: Floats,
    precision: Any, calibration: Calibration, stack: Stack | None = None,
) -> Floats:  # fmt: skip
    one = worker(shape, training, layout, precision, calibration, stack)
    return update.micro_batch_seconds(one, hardware, tokens, rows)


def stage_compute_s(
    shape: ModelShape, training: Training | None, hardware: Hardware, layout: Layout, tokens: Tokens, count: Floats,
    precision: Any, stack: Stack, calibration: Calibration,
) -> Floats:  # fmt: skip
    one = worker(shape, training, layout, precision, calibration, stack)
    return compute.stage_compute_s(one, hardware, tokens, count)


def update_parts(
    shape: ModelShape, training: Training, hardware: None, layout: Layout, tokens: Tokens, precision: Any,
    calibration: Calibration, stack: Stack | None = None,
) -> MemoryParts:  # fmt: skip
    return memory.update_parts(worker(shape, training, layout, precision, calibration, stack), tokens)


def update_tensors(
    shape: ModelShape, training: Training, layout: Layout, tokens: Tokens, precision: Any, calibration: Calibration,
    stack: Stack,
) -> MemoryParts:  # fmt: skip
    return memory.update_tensors(worker(shape, training, layout, precision, calibration, stack), tokens)


def activation_gib(
    shape: ModelShape, training: Training, layout: Layout, tokens: Tokens, stack: Stack, calibration: Calibration,
    last_stage: bool = False,
) -> tuple[Floats, Floats]:  # fmt: skip
    one = worker(shape, training, layout, "bf16", calibration, stack)
    return activations.activation_gib(one, tokens, last_stage)


def forward_parts(
    shape: ModelShape, hardware: None, layout: Layout, tokens: Tokens, precision: Any, calibration: Calibration,
    stack: Stack | None = None,
) -> MemoryParts:  # fmt: skip
    return memory.forward_parts(worker(shape, None, layout, precision, calibration, stack), tokens)


def scoring_memory(
    shape: ModelShape, layout: Layout, tokens: Tokens, precision: Any, calibration: Calibration
) -> MemoryParts:
    return memory.forward_parts(worker(shape, None, layout, precision, calibration), tokens)
