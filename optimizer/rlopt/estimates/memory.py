"""Memory per GPU, by part, in GiB: the peak of a training or scoring stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.activations import activation_gib, layer_gib, micro_batch_tokens
from rlopt.estimates.arrays import Floats, Hardware, Ints, Layout, Tokens, Training
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import OPTIMIZER_OFF, ZERO3
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.states import shards, training_engine, training_states
from rlopt.units import GIB

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


def update_parts(
    shape: ModelShape,
    training: Training,
    hardware: Hardware | None,
    layout: Layout,
    tokens: Tokens,
    precision: str,
    calibration: Calibration,
    chunked_loss: bool = False,
    engine: Ints | None = None,
) -> MemoryParts:
    """Peak of forward and backward or of the optimizer step, whichever is larger. Shape of the layouts.

    With ``offload`` optimizer states and the fp32 master live in host memory (Ren et al., 2021). ``hardware``
    is not read: memory depends on the layout alone. ``chunked_loss`` says that logits are never held whole;
    ``engine`` overrides the family of constants (index into the calibration's engines).
    """
    del hardware
    which = training_engine(layout, training) if engine is None else engine
    states = training_states(shape, training, layout, calibration, precision, which)
    optimizer = np.where(layout.offload >= OPTIMIZER_OFF, 0.0, states.optimizer)
    value_bytes = 4.0 if precision == "fp32" else 2.0
    activations, logits = activation_gib(shape, training, layout, tokens, which, calibration, chunked_loss, value_bytes)
    gathered = _gathered(shape, layout, gradient_too=not training.lora)
    step = np.where(
        layout.offload >= OPTIMIZER_OFF,
        0.0,
        states.trained * calibration.value("memory", "optimizer_step_bytes") / GIB,
    )
    stepping = step > activations + logits + gathered
    activations, logits = np.where(stepping, 0.0, activations), np.where(stepping, 0.0, logits)
    working = np.where(stepping, step, gathered)
    body = states.weights + states.gradients + optimizer + activations + logits + working
    return MemoryParts(
        states.weights,
        states.gradients,
        optimizer,
        activations,
        logits,
        np.zeros_like(body),
        working + _overhead(layout, body, calibration),
        _runtime(layout, calibration),
    )


def forward_parts(
    shape: ModelShape,
    hardware: Hardware | None,
    layout: Layout,
    tokens: Tokens,
    precision: str,
    calibration: Calibration,
    engine: Ints | None = None,
) -> MemoryParts:
    """Peak of a scoring pass: weights at ``precision``, one layer's activations, fp32 logits.

    Shape of the layouts; ``hardware`` is not read.
    """
    del hardware
    which = training_engine(layout) if engine is None else engine
    weights = shards(shape, layout).gib(calibration.size_bytes(precision), layout.sharding == ZERO3)
    count = micro_batch_tokens(layout, tokens)
    activations = layer_gib(shape, layout, count, which, calibration) + count / layout.tp * (2.0 * shape.hidden / GIB)
    logits = count / layout.tp * (calibration.value("memory", "score_logits_bytes") * shape.vocab / GIB)
    gathered = _gathered(shape, layout, gradient_too=False)
    zero = np.zeros_like(weights)
    body = weights + activations + logits + gathered
    return MemoryParts(
        weights,
        zero,
        zero,
        activations,
        logits,
        zero,
        gathered + _overhead(layout, body, calibration),
        _runtime(layout, calibration),
    )


def _gathered(shape: ModelShape, layout: Layout, gradient_too: bool) -> Floats:
    """Layers and tables that full sharding holds whole, and a layer's (or table's) gradient."""
    tp = np.asarray(layout.tp, dtype=np.float64)
    layer = shape.largest_body / tp + shape.layer_experts / (layout.etp * layout.ep)
    gradient = np.maximum(layer, shape.head / tp) if gradient_too else 0.0
    held = (GATHERED_LAYERS * layer + shape.tables / tp + gradient) * (GATHERED_BYTES / GIB)
    return np.where((layout.sharding == ZERO3) & (layout.dp * layout.cp > 1), held, 0.0)


def _overhead(layout: Layout, body: Floats, calibration: Calibration) -> Floats:
    """Allocator fragmentation, and communicator buffers of a pool of several GPUs."""
    nccl = np.where(layout.gpus > 1, calibration.value("memory", "nccl_gib"), 0.0)
    return calibration.value("memory", "fragmentation") * body + nccl


def _runtime(layout: Layout, calibration: Calibration) -> Floats:
    return np.full(np.shape(layout.tp), calibration.value("memory", "runtime_gib"))


def memory_margin(calibration: Calibration, engine: Ints | None = None) -> float:
    """Share of usable memory that stays free for the memory model's own error.

    The widest of the engines in play.
    """
    table = calibration.memory["margin"]
    if engine is None:
        return float(max(table.values()))
    return float(np.max(calibration.by_engine("memory", "margin", engine)))
