"""Activations and logits of one GPU (Korthikanti et al., 2022, sections 4 and 5).

There is no s² term: attention is fused.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Ints, Layout, Tokens, Training
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import FULL, SELECTIVE
from rlopt.estimates.shape import ModelShape
from rlopt.units import GIB

VALUE = 2.0
"""Bytes of an activation value in 16 bits; half of those in fp32."""


def micro_batch_tokens(layout: Layout, tokens: Tokens) -> Floats:
    """Tokens a rank holds of one micro-batch: the budget micro_batch · longest, split over cp."""
    return np.asarray(layout.micro_batch * (tokens.longest / layout.cp))


def layer_gib(
    shape: ModelShape,
    layout: Layout,
    count: Floats,
    engine: Ints,
    calibration: Calibration,
    value_bytes: float = VALUE,
) -> Floats:
    """What one average layer keeps for its backward pass, GiB.

    Sequence parallelism splits all of it over tp.
    """
    routed = shape.routed_units + shape.routed_copies * shape.hidden * calibration.value("memory", "routed_copies")
    units = shape.activation_units + routed
    factor = calibration.by_engine("memory", "activation_factor", engine)
    return factor * count / layout.tp * (value_bytes * units / GIB)


def in_flight_layers(layers: int, layout: Layout) -> tuple[Floats, Floats]:
    """Layers' worth of micro-batches that the first and the last stage hold at once.

    1F1B keeps pp micro-batches in the first stage and one in the last; interleaved with vp chunks per stage,
    2 (pp - 1) + (vp - 1) pp + 1 and (vp - 1) pp + 1 chunks (Narayanan et al., 2021, section 2.2).
    """
    pp, vp = np.asarray(layout.pp, dtype=np.float64), np.asarray(layout.vp, dtype=np.float64)
    chunk = np.ceil(layers / (pp * vp))
    tail = (vp - 1.0) * pp + 1.0
    first = np.where(vp > 1, 2.0 * (pp - 1.0) + tail, pp)
    return chunk * first, chunk * tail


def activation_gib(
    shape: ModelShape,
    training: Training,
    layout: Layout,
    tokens: Tokens,
    engine: Ints,
    calibration: Calibration,
    chunked_loss: bool,
    value_bytes: float = VALUE,
) -> tuple[Floats, Floats]:
    """Activations and logits at the peak.

    The first stage with its micro-batches in flight, or the last with logits.
    """
    count = micro_batch_tokens(layout, tokens)
    local = count / layout.tp
    layer = layer_gib(shape, layout, count, engine, calibration, value_bytes)
    full = layout.recompute == FULL
    kept = np.where(layout.recompute == SELECTIVE, calibration.value("memory", "selective_factor") * layer, layer)
    if training.lora:  # inputs of the adapters' own products
        width = 5.0 * shape.hidden + shape.ffn + shape.routed_copies * shape.expert_ffn
        kept = kept + local * (calibration.value("memory", "lora_activation_bytes") * width / GIB)
    kept = np.where(full, local * (value_bytes * shape.hidden / GIB), kept)
    workspace = np.where(full, calibration.value("memory", "full_workspace") * layer, 0.0)
    first, last = in_flight_layers(shape.layers, layout)
    logits = logits_gib(shape, layout, count, engine, calibration, chunked_loss)
    at_first, at_last = kept * first + workspace, kept * last + workspace
    at_end = (layout.pp == 1) | (at_last + logits > at_first)
    return np.where(at_end, at_last, at_first), np.where(at_end, logits, 0.0)


def logits_gib(
    shape: ModelShape,
    layout: Layout,
    count: Floats,
    engine: Ints,
    calibration: Calibration,
    chunked_loss: bool,
) -> Floats:
    """Logits, their gradient and the loss's temporaries of one micro-batch, vocabulary split over tp."""
    key = "logits_bytes_chunked" if chunked_loss else "logits_bytes"
    per_value = calibration.by_engine("memory", key, engine)
    return count / layout.tp * per_value * (shape.vocab / GIB)
