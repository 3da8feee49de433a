"""Seconds of a micro-batch on its slowest stage: GEMMs, attention, experts, memory traffic.

A GEMM reaches ceiling · w / (w + w0) · t / (t + t0) of the peak, t the tokens and w the geometric mean of a matrix's
whole and split side (half-saturation in both); low precisions saturate later. Attention and the output matrix stay
in 16 bits.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Layout, Stack, Tokens, Training, Values, Words
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.experts import experts_s
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.states import stage_layers
from rlopt.estimates.training.worker import Worker
from rlopt.facts.calibration import Calibration
from rlopt.units import GIGA

HEAD_DIM = 128.0
"""Head dimension that attention kernels are tuned for."""
FOUR_OVER_EIGHT = 2.0
"""Peak of fp4 over fp8 that training reaches: parts with three times the nameplate gain no more than those with two."""
ALIGNED = 64
"""Columns per rank that GEMM kernels tile without a remainder."""
SQUARE = 2.0
"""Pairs that attention computes without causal skipping, against those that count."""


def gemm_ceiling(hardware: Hardware, precision: str | Words, calibration: Calibration) -> tuple[Floats, Values]:
    """FLOP/s of a GEMM at saturation, and how much later than 16 bits the precision saturates.

    NaN where the peak is unknown. A device without fp4 tensor cores has no fp4 peak.
    """
    if not isinstance(precision, str):
        names, which = np.unique(precision, return_inverse=True)
        found = [np.broadcast_arrays(*gemm_ceiling(hardware, str(name), calibration)) for name in names]
        rows = np.arange(len(which))
        ceilings, later = (np.stack([one[part] for one in found])[which, rows] for part in (0, 1))
        return ceilings, later
    share = calibration.by_generation("training", "gemm_ceiling", hardware.generation)
    peak = hardware.peak(precision)
    if precision == "fp4":
        peak = np.minimum(peak, FOUR_OVER_EIGHT * hardware.peak("fp8"))
    key = {"fp8": "gain_8", "fp4": "gain_4"}.get(precision)
    if key is not None:
        share = share * calibration.by_generation("training", key, hardware.generation)
    return peak * share, float(calibration.training["saturates_later"].get(precision, 1.0))


def gemm_rate(
    ceiling: tuple[Floats, Values], hidden: Values, tp: Values, count: Values, calibration: Calibration
) -> Floats:
    """Achieved FLOP/s of a GEMM of ``count`` rows under `gemm_ceiling`, one of its sides split over ``tp`` ranks."""
    peak, later = ceiling
    ragged = np.asarray(hidden / tp) % ALIGNED != 0
    width = hidden / np.sqrt(tp)
    if np.any(ragged):
        peak = peak * np.where(ragged, calibration.value("training", "ragged_factor"), 1.0)
    half_width = later * calibration.value("training", "half_width")
    half_tokens = later * calibration.value("training", "half_tokens")
    return np.asarray(peak * ((width / (width + half_width)) * (count / (count + half_tokens))))


def hbm_bytes_s(hardware: Hardware, calibration: Calibration) -> Floats:
    """Achieved bytes/s of device memory."""
    return hardware.hbm_gb_s * (calibration.value("training", "hbm_share") * GIGA)


def stage_compute_s(worker: Worker, hardware: Hardware, tokens: Tokens, count: Floats) -> Floats:
    """Seconds of the fullest stage for a micro-batch of ``count`` tokens per rank, without host and FSDP.

    Shape (n,).
    """
    shape, training, layout, stack = worker.shape, worker.training, worker.layout, worker.stack
    precision, calibration = worker.precision, worker.calibration
    passes = Passes.of(training, layout)
    tp = np.asarray(layout.tp, dtype=np.float64)
    local = count / tp
    hbm = hbm_bytes_s(hardware, calibration)
    ceiling = gemm_ceiling(hardware, precision, calibration)
    layer = local * (2.0 / shape.layers * shape.dense_active) * passes.gemm
    layer = layer / gemm_rate(ceiling, shape.hidden, tp, count, calibration)
    layer = layer + passes.attention * attention_s(shape, hardware, tokens, local, stack, calibration)
    moved = _traffic_bytes(shape, training, stack, calibration)
    layer = layer + local * moved * passes.traffic / hbm
    if training is not None and np.any(np.less(training.base_bytes, 2.0)):
        held = (shape.dense / tp + shape.experts_total / (layout.etp * layout.ep)) / shape.layers
        unpacked = np.where(np.less(training.base_bytes, 2.0), calibration.value("training", "dequantise_bytes"), 0.0)
        layer = layer + held * unpacked * passes.gemm / hbm
    if np.any(shape.moe):
        layer = layer + experts_s(worker, hardware, passes, count, ceiling, hbm)
    sixteen = ceiling if isinstance(precision, str) and precision == "bf16" else None
    sixteen = sixteen or gemm_ceiling(hardware, "bf16", calibration)
    head = local * (2.0 * shape.head) * passes.head / gemm_rate(sixteen, shape.hidden, tp, count, calibration)
    head = head + local * (calibration.value("training", "logits_bytes") / 3.0 * shape.vocab * passes.head) / hbm
    return _slowest_stage(shape, layout, layer, head)


def _traffic_bytes(shape: ModelShape, training: Training | None, stack: Stack, calibration: Calibration) -> Values:
    """Bytes of norms, activations, residuals and state-space scans per token, layer and forward pass.

    Adapters add their own inputs and outputs to those of the layer.
    """
    moved = calibration.by_engine("training", "elementwise_bytes", stack.engine) / 3.0 * shape.hidden
    scanned = np.maximum(shape.layers - shape.attention_layers - shape.window_layers, 0.0) / shape.layers
    if np.any(scanned):
        moved = moved + calibration.value("training", "state_space_bytes") / 3.0 * shape.hidden * scanned
    if training is not None and training.lora is not False:
        own = calibration.value("training", "adapter_bytes") / 3.0 * shape.activation_units
        moved = moved + np.where(training.lora, own, 0.0)
    return moved


def _slowest_stage(shape: ModelShape, layout: Layout, layer: Floats, head: Floats) -> Floats:
    """Seconds of the slowest stage from a layer's and the head's.

    Layers that divide evenly leave the head on top of the last stage's share; else the last stage holds fewer
    layers and the rest may take the head's place.
    """
    held = stage_layers(shape, layout)
    even = held * layout.pp == shape.layers
    spread = np.maximum(held * layer, (shape.layers * layer + head) / layout.pp)
    return np.asarray(np.where(even, held * layer + head, spread))


def attention_s(
    shape: ModelShape,
    hardware: Hardware,
    tokens: Tokens,
    local: Floats,
    stack: Stack,
    calibration: Calibration,
) -> Floats:
    """One layer's forward attention over ``local`` tokens.

    4 · pairs · heads · head dim FLOPs, at the kernels' share of the 16-bit peak. Unfused, all pairs are computed
    and heads · length scores a token cross the memory several times.
    """
    attended = tokens.attended
    share = calibration.by_both("training", "attention_share", stack.engine, hardware.generation)
    saturation = attended / (attended + calibration.value("training", "attention_half_length"))
    narrow = np.minimum(1.0, shape.attention_width / (shape.heads * HEAD_DIM))
    narrow = narrow ** calibration.by_generation("training", "head_dim_power", hardware.generation)
    pairs = _pairs(shape, attended, calibration) / shape.layers
    flops = 4.0 * pairs * shape.attention_width / (saturation * narrow)
    seconds = local * flops / (hardware.peak("bf16") * share)
    if np.all(stack.fused_attention):
        return np.asarray(seconds)
    scores = shape.heads * attended * ((shape.attention_layers + shape.window_layers) / shape.layers)
    moved = calibration.by_engine("training", "unfused_bytes", stack.engine)
    moved = local * scores * moved / hbm_bytes_s(hardware, calibration)
    return np.where(stack.fused_attention, seconds, SQUARE * seconds + moved)


def _pairs(shape: ModelShape, attended: Values, calibration: Calibration) -> Values:
    """Token pairs per token over all layers, causal; kernels skip only a share of what a window leaves out."""
    full = (shape.attention_layers + shape.window_layers) * attended / 2.0
    if not np.any(shape.window_layers):
        return full
    skipped = shape.window_layers * np.maximum(attended / 2.0 - shape.window, 0.0)
    return full - calibration.value("training", "window_skipped") * skipped
