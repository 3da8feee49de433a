"""Seconds of a micro-batch on its slowest stage: GEMMs, attention, experts, memory traffic.

A GEMM reaches ceiling · w / (w + w0) · t / (t + t0) of the peak, w the width per tensor-parallel rank and t
the tokens (half-saturation in both); low precisions saturate later. Attention and the output matrix stay in
16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Layout, Tokens, Training
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import FULL, SELECTIVE
from rlopt.estimates.communication import expert_parallel_s
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.states import stage_layers
from rlopt.units import GIGA

GEMM_BACKWARD = 2.0
"""Backward GEMMs per forward one: gradients of the inputs and of the weights."""
ATTENTION_BACKWARD = 2.5
"""Flash attention's backward against its forward (Dao, 2023, section 4.1)."""
HEAD_DIM = 128.0


@dataclass(frozen=True, slots=True)
class Passes:
    """How often each kind of work runs per micro-batch, in forward passes; scalars or (n,)."""

    gemm: Floats | float
    attention: Floats | float
    traffic: Floats | float
    collective: Floats | float
    """Tensor-parallel pairs and all-to-all pairs of a layer, in units of a forward pass's two."""
    head: float

    @staticmethod
    def of(training: Training | None, layout: Layout) -> Passes:
        """Of a scoring pass (None), or of forward, backward and what is recomputed."""
        if training is None:
            return Passes(1.0, 1.0, 1.0, 1.0, 1.0)
        full = np.asarray(layout.recompute == FULL, dtype=np.float64)
        partly = np.asarray(layout.recompute == SELECTIVE, dtype=np.float64)
        weights = 0.0 if training.lora else training.trainable_share
        backward = 1.0 + (GEMM_BACKWARD - 1.0) * weights
        return Passes(
            1.0 + backward + full,
            1.0 + ATTENTION_BACKWARD + full + partly,
            3.0 + full,
            2.0 + full,
            1.0 + backward,
        )


def gemm_rate(hardware: Hardware, precision: str, width: Floats, count: Floats, calibration: Calibration) -> Floats:
    """Achieved FLOP/s of a GEMM of ``count`` rows and ``width`` columns per rank.

    NaN where the peak is unknown.
    """
    ceiling, later = _ceiling(hardware, precision, calibration)
    half_width = later * calibration.value("training", "half_width")
    half_tokens = later * calibration.value("training", "half_tokens")
    return ceiling * (width / (width + half_width)) * (count / (count + half_tokens))


def _ceiling(hardware: Hardware, precision: str, calibration: Calibration) -> tuple[Floats, float]:
    """FLOP/s at saturation, and how much later than 16 bits a precision saturates."""
    share = calibration.by_generation("training", "gemm_ceiling", hardware.generation)
    key = {"fp8": "gain_8", "fp4": "gain_4"}.get(precision)
    later = calibration.training["saturates_later"].get(precision, 1.0)
    if key is not None:
        share = share * calibration.by_generation("training", key, hardware.generation)
    if precision == "fp4":  # a device without fp4 tensor cores computes in 16 bits
        share = np.where(np.isnan(hardware.tflops["fp4"]), 1.0, share)
        share = np.minimum(share, calibration.by_generation("training", "gemm_ceiling", hardware.generation))
    return hardware.peak(precision) * share, float(later)


def stage_compute_s(
    shape: ModelShape,
    training: Training | None,
    hardware: Hardware,
    layout: Layout,
    tokens: Tokens,
    count: Floats,
    precision: str,
    engine: Ints,
    calibration: Calibration,
) -> Floats:
    """Seconds of the fullest stage for a micro-batch of ``count`` tokens per rank, without host and FSDP.

    Shape (n,).
    """
    passes = Passes.of(training, layout)
    tp = np.asarray(layout.tp, dtype=np.float64)
    local, width = count / tp, shape.hidden / tp
    hbm = hardware.hbm_gb_s * (calibration.value("training", "hbm_share") * GIGA)
    rate = gemm_rate(hardware, precision, width, count, calibration)
    layer = local * (2.0 * shape.dense_active / shape.layers) * passes.gemm / rate
    layer = layer + _attention_s(shape, hardware, tokens, local, engine, calibration) * passes.attention
    traffic = calibration.value("training", "elementwise_bytes") / 3.0 * shape.hidden
    layer = layer + local * traffic * passes.traffic / hbm
    if training is not None and training.base_bytes < 2.0:
        held = (shape.dense / tp + shape.experts_total / (layout.etp * layout.ep)) / shape.layers
        layer = layer + held * calibration.value("training", "dequantise_bytes") * passes.gemm / hbm
    if shape.moe:
        layer = layer + _experts_s(shape, hardware, layout, count, passes, precision, hbm, calibration)
    head_rate = gemm_rate(hardware, "bf16", width, count, calibration)
    head = local * (2.0 * shape.head) * passes.head / head_rate
    head = head + local * (calibration.value("training", "logits_bytes") / 3.0 * shape.vocab * passes.head) / hbm
    return _slowest_stage(shape, layout, layer, head)


def _slowest_stage(shape: ModelShape, layout: Layout, layer: Floats, head: Floats) -> Floats:
    """Seconds of the slowest stage from a layer's and the head's.

    Layers that divide evenly leave the head on top of the last stage's share; else the last stage holds fewer
    layers and the rest may take the head's place.
    """
    held = stage_layers(shape, layout)
    even = held * layout.pp == shape.layers
    spread = np.maximum(held * layer, (shape.layers * layer + head) / layout.pp)
    return np.asarray(np.where(even, held * layer + head, spread))


def _attention_s(
    shape: ModelShape,
    hardware: Hardware,
    tokens: Tokens,
    local: Floats,
    engine: Ints,
    calibration: Calibration,
) -> Floats:
    """One layer's forward attention.

    4 · pairs · heads · head dim FLOPs, at the kernels' share of the 16-bit peak.
    """
    attended = tokens.attended
    share = calibration.by_both("training", "attention_share", engine, hardware.generation)
    saturation = attended / (attended + calibration.value("training", "attention_half_length"))
    head_dim = shape.attention_width / shape.heads
    narrow = np.minimum(1.0, (head_dim / HEAD_DIM) ** calibration.value("training", "head_dim_power"))
    pairs = shape.attended_pairs(attended) / shape.layers
    flops = 4.0 * pairs * shape.attention_width / (saturation * narrow)
    return np.asarray(local * flops / (hardware.peak("bf16") * share))


def _experts_s(
    shape: ModelShape,
    hardware: Hardware,
    layout: Layout,
    count: Floats,
    passes: Passes,
    precision: str,
    hbm: Floats,
    calibration: Calibration,
) -> Floats:
    """One layer's routed experts (averaged over all layers).

    Grouped GEMMs, permutation, all-to-alls, launch overhead.
    """
    local = count / layout.tp
    ceiling, later = _ceiling(hardware, precision, calibration)
    per_expert = local * layout.etp * layout.ep * (shape.active_experts / shape.experts)
    half = later * calibration.value("training", "half_expert_tokens")
    wide = np.minimum(float(shape.hidden), shape.expert_ffn / layout.etp)
    half_width = later * calibration.value("training", "half_width")
    rate = ceiling * calibration.value("training", "expert_factor") * (per_expert / (per_expert + half))
    rate = rate * (wide / (wide + half_width))
    share = shape.moe_layers / shape.layers
    seconds = local * (2.0 * shape.experts_active / shape.moe_layers) * passes.gemm / rate
    moved = (
        calibration.value("training", "permute_bytes") / 3.0 * shape.active_experts * (shape.hidden + shape.expert_ffn)
    )
    seconds = seconds + local * moved * passes.traffic / hbm
    calls = 2.0 * np.asarray(passes.collective)
    seconds = seconds + expert_parallel_s(
        hardware, layout, shape.hidden, shape.active_experts, local, calls, calibration
    )
    return share * (seconds + calibration.value("training", "moe_overhead_s") * passes.gemm)
