"""Memory per GPU, by part, in GiB: the peak of a training or scoring stage.

    device = tensors · (1 + fragmentation) + communicators + runtime

Tensors are weights, gradients, optimizer states, and the largest of what forward and backward, the loss or the
optimizer step need on top of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates.arrays import Flags, Floats, Ints, Layout, Stack, Tokens
from rlopt.estimates.codes import PLANNED_ENGINES
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.activations import activation_gib, layer_gib, micro_batch_tokens
from rlopt.estimates.training.states import shards, training_states
from rlopt.estimates.training.worker import Worker
from rlopt.facts.calibration import Calibration
from rlopt.units import GIB
from rlopt.words import OPTIMIZER_OFF, ZERO1, ZERO3

GATHERED_LAYERS = 2.0
"""Layers that full sharding holds at once: the running one and the one being prefetched."""
GATHERED_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """GiB per GPU by part, shape (n,) each."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    activations: Floats
    logits: Floats
    kv_cache: Floats
    buffers: Floats
    runtime: Floats

    def total(self) -> Floats:
        """All parts together."""
        return (
            self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.logits
            + self.kv_cache
            + self.buffers
            + self.runtime
        )


def update_parts(worker: Worker, tokens: Tokens) -> MemoryParts:
    """Peak of forward and backward or of the optimizer step, whichever is larger. Shape of the layouts."""
    return with_overhead(update_tensors(worker, tokens), worker.layout, worker.stack, worker.calibration)


def update_tensors(worker: Worker, tokens: Tokens, last_stage: Flags = False) -> MemoryParts:
    """What the tensors of an update take at its peak; fragmentation, communicators and runtime come on top.

    With ``offload`` optimizer states and the fp32 master live in host memory (Ren et al., 2021). ``last_stage``
    counts the last pipeline stage alone.
    """
    shape, training, layout, stack = worker.shape, worker.trained, worker.layout, worker.stack
    calibration = worker.calibration
    states = training_states(shape, training, layout, calibration, worker.precision, stack.engine)
    off = layout.offload >= OPTIMIZER_OFF
    optimizer = np.where(off, 0.0, states.optimizer)
    activations, logits = activation_gib(worker, tokens, last_stage)
    frozen = training.lora
    if np.any(np.equal(training.trainable_share, 0.0)):
        frozen = np.logical_or(frozen, np.equal(training.trainable_share, 0.0))
    gathered = _gathered(shape, layout, frozen, stack, calibration) + _buckets(layout, stack, calibration)
    kept = 1.0 - calibration.by_engine("memory", "streamed_weights", stack.engine)
    step = calibration.by_engine("memory", "optimizer_step_bytes", stack.engine) / GIB * states.trained
    step = np.where(off, 0.0, step)
    stepping = step > activations + logits + gathered
    body = np.where(stepping, step, gathered)
    zero = np.zeros_like(body)
    return MemoryParts(
        states.weights * kept,
        states.gradients,
        optimizer,
        np.where(stepping, 0.0, activations),
        np.where(stepping, 0.0, logits),
        zero,
        body,
        zero,
    )


def forward_parts(worker: Worker, tokens: Tokens) -> MemoryParts:
    """Peak of a scoring pass: weights at its precision, one layer's activations, fp32 logits. Shape of the layouts."""
    shape, layout, stack, calibration = worker.shape, worker.layout, worker.stack, worker.calibration
    weights = shards(shape, layout).gib(calibration.size_bytes(worker.precision), layout.sharding == ZERO3)
    count = micro_batch_tokens(layout, tokens)
    activations = layer_gib(shape, layout, count, stack, calibration) + count / layout.tp * (2.0 * shape.hidden / GIB)
    logits = count / layout.tp * (calibration.value("memory", "score_logits_bytes") * shape.vocab / GIB)
    gathered = _gathered(shape, layout, True, stack, calibration)
    zero = np.zeros_like(weights)
    tensors = MemoryParts(weights, zero, zero, activations, logits, zero, gathered, zero)
    return with_overhead(tensors, layout, stack, calibration)


def with_overhead(parts: MemoryParts, layout: Layout, stack: Stack, calibration: Calibration) -> MemoryParts:
    """Tensors with what the device holds besides: fragmentation, communicator buffers of several GPUs, the runtime.

    Never less than the engine's own published peaks count besides tensors.
    """
    tensors = parts.total()
    nccl = np.where(layout.gpus > 1, calibration.value("memory", "nccl_gib"), 0.0)
    loose = calibration.value("memory", "fragmentation") * tensors + nccl
    runtime = calibration.value("memory", "runtime_gib")
    loose = np.maximum(loose, observed_gib(tensors, stack, calibration) - tensors - runtime)
    return replace(parts, buffers=parts.buffers + loose, runtime=np.full(np.shape(tensors), runtime))


def observed_gib(tensors: Floats, stack: Stack, calibration: Calibration) -> Floats:
    """A peak of ``tensors`` GiB as an engine's published figures count it, GiB: share · tensors + gib.

    Allocated by tensors, reserved by the allocator, or taken on the device: by engine, for each publishes its own.
    """
    share = calibration.by_engine("memory", "reading_share", stack.engine)
    return share * tensors + calibration.by_engine("memory", "reading_gib", stack.engine)


def _gathered(shape: ModelShape, layout: Layout, frozen: Flags, stack: Stack, calibration: Calibration) -> Floats:
    """What full sharding holds whole: two layers, the tables and, where they are trained, a layer's gradient.

    Some engines gather all of a model and keep whole gradients while they accumulate (``gathered_whole``); in a
    pipeline all do so with their stage, whose micro-batches follow one another.
    """
    split = (layout.sharding == ZERO3) & (layout.dp * layout.cp > 1)
    tp = np.asarray(layout.tp, dtype=np.float64)
    layer = shape.largest_body / tp + shape.layer_experts / (layout.etp * layout.ep)
    gradient = np.where(frozen, 0.0, np.maximum(layer, shape.head / tp))
    held = GATHERED_LAYERS * layer + shape.tables / tp + gradient
    share = np.where(layout.pp > 1, 1.0, calibration.by_engine("memory", "gathered_whole", stack.engine))
    if np.any(split & (share > 0.0)):
        whole = shards(shape, layout)
        held = held + share * ((whole.dense + whole.experts) * np.where(frozen, 1.0, 2.0) - held)
    return np.where(split, held * (GATHERED_BYTES / GIB), 0.0)


def _buckets(layout: Layout, stack: Stack, calibration: Calibration) -> Floats:
    """Flat buffers of fixed size that some engines keep for sharded reductions and gathers."""
    sharded = (layout.sharding >= ZERO1) & (layout.dp * layout.cp > 1)
    return np.where(sharded, calibration.by_engine("memory", "bucket_gib", stack.engine), 0.0)


def memory_margin(calibration: Calibration, engine: Ints | None = None) -> float:
    """Share of usable memory that stays free for the memory model's own error.

    The widest of the engines in play; those that plans assume where none is named.
    """
    which = np.arange(len(PLANNED_ENGINES)) if engine is None else engine
    return float(np.max(calibration.by_engine("memory", "margin", which)))
