"""Seconds of updates and scoring passes in one step.

    step = updates · [ (m + (pp - 1) / vp) · slowest stage + gradient reduction + optimizer ] · straggler

A stage of one micro-batch sums GEMMs (with saturation by width and tokens), attention, experts, memory-bound parts
and exposed collectives; under ZeRO-3 the gathers join by a p-norm. Narayanan et al. (2021) for the bubble.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates import communication
from rlopt.estimates.arrays import Floats, Hardware, Layout, Tokens, Training
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.memory import ZERO3, shards, training_engine
from rlopt.estimates.shape import ModelShape

GEMM_BACKWARD, ATTENTION_BACKWARD = 2.0, 2.5
HOST_NORM = 4.0


def micro_batches(tokens: Tokens, sequences: Floats | float, updates: int, layout: Layout) -> tuple[Floats, Floats]:
    """Micro-batches per data-parallel rank and update, and real tokens in each (before cp)."""
    per_rank = np.asarray(sequences, dtype=np.float64) / (updates * layout.dp)
    if tokens.packed:
        budget = layout.micro_batch * tokens.longest
        count = np.maximum(np.ceil(per_rank * tokens.mean / budget), 1.0)
    else:
        count = np.maximum(np.ceil(per_rank / layout.micro_batch), 1.0)
    most = np.maximum(per_rank, 1.0)  # a rank with less than one sequence still waits for the ranks that hold one
    return count, most * tokens.counted / count


def _efficiency(hardware: Hardware, precision: str, calibration: Calibration) -> tuple[Floats, float]:
    """GEMM FLOP/s at saturation and the factor on both half-saturation sizes."""
    constants = calibration.training
    ceiling = calibration.by_generation("training", "gemm_ceiling", hardware.generation)
    peak = hardware.peak(precision)
    if precision in ("fp8", "int8"):
        return peak * ceiling * calibration.by_generation("training", "low_precision_gain", hardware.generation, 0.78), 2.0
    if precision in ("fp4", "int4"):
        return peak * ceiling * 0.59, 4.0
    if precision == "fp32":
        return peak * ceiling, 1.0
    del constants
    return peak * ceiling, 1.0


def micro_batch_seconds(shape: ModelShape, training: Training | None, hardware: Hardware, layout: Layout,
                        tokens: Tokens, rows: Floats, precision: str, calibration: Calibration) -> Floats:
    """Slowest stage's seconds for one micro-batch of ``rows`` real tokens; ``training`` None is a forward pass only."""
    constants = calibration.training
    count, tp, pp = rows / layout.cp, layout.tp, layout.pp
    full = (layout.recompute == 2).astype(np.float64)
    partial = (layout.recompute == 1).astype(np.float64)
    backward = 0.0 if training is None else (GEMM_BACKWARD if training.kind == "full" else 1.0)
    passes = 1.0 + (backward + full if training is not None else 0.0)
    rate, wide = _efficiency(hardware, precision, calibration)
    width = shape.hidden / tp
    saturation = width / (width + wide * constants["half_width"]) * count / (count + wide * constants["half_tokens"])
    body = 2.0 * shape.dense * count / tp / pp * passes / (rate * saturation)
    head_passes = 1.0 + backward
    half = hardware.peak("bf16") * calibration.by_generation("training", "gemm_ceiling", hardware.generation)
    head_rate = half * width / (width + constants["half_width"]) * count / (count + constants["half_tokens"])
    head = 2.0 * shape.head * count / tp * head_passes / head_rate
    attended = tokens.attended
    flash = hardware.peak("bf16") * calibration.by_generation("training", "attention_share", hardware.generation)
    flash = flash * attended / (attended + constants["attention_half_length"])
    attention_passes = 1.0 if training is None else 1.0 + ATTENTION_BACKWARD + full + partial
    attention = 2.0 * attended * shape.attention_width * count * shape.attention_layers / tp / pp * attention_passes / flash
    bytes_moved = constants["elementwise_bytes"] * (1.0 if training is not None else 1.0 / 3.0) * shape.hidden * shape.layers / pp
    bytes_moved = bytes_moved * count / tp + constants["logits_bytes"] * shape.vocab * count / tp
    memory = bytes_moved / (hardware.hbm_gb_s * 1e9 * constants["hbm_share"])
    if training is not None and training.base_bytes < 1.0:
        quantised = constants["qlora_dequant_bytes"] * (shape.dense + shape.experts_total) / tp / pp * passes
        memory = memory + quantised / (hardware.hbm_gb_s * 1e9 * constants["hbm_share"])
    seconds = body + head + attention + memory
    layer_passes = shape.layers / pp * (passes if training is not None else 1.0)
    if shape.moe:
        seconds = seconds + _experts(shape, hardware, layout, count, passes, rate, calibration, training is not None)
    seconds = seconds + communication.tensor_parallel_s(
        hardware, layout, shape.hidden, count, (4.0 + 2.0 * full if training is not None else 2.0) * shape.layers / pp, calibration)
    seconds = seconds + communication.context_parallel_s(hardware, layout, shape.kv_values_per_token, count, passes, calibration)
    host = calibration.by_engine("training", "host_s", training_engine(layout)) * layer_passes
    seconds = (seconds**HOST_NORM + host**HOST_NORM) ** (1.0 / HOST_NORM)
    norm = float(constants["fsdp_norm"])
    gather = communication.fully_sharded_s(
        hardware, layout, shape.params, 1.0 if training is None else np.full(len(tp), 2.0),
        0.0 if training is None or training.kind == "lora" else np.ones(len(tp)), calibration)
    sharded = layout.sharding == ZERO3
    return np.where(sharded, (seconds**norm + np.where(sharded, gather, 0.0)**norm) ** (1.0 / norm), seconds)


def _experts(shape: ModelShape, hardware: Hardware, layout: Layout, count: Floats, passes: Floats | float, rate: Floats,
             calibration: Calibration, training: bool) -> Floats:
    """Routed experts: grouped GEMMs, dispatch and combine, and the overhead of each layer."""
    constants, model = calibration.training, shape.model
    per_expert = count * model.active_experts * layout.ep / model.experts
    wide = np.minimum(float(shape.hidden), model.expert_ffn / layout.etp)
    speed = rate * constants["expert_factor"] * per_expert / (per_expert + constants["half_expert_tokens"])
    speed = speed * wide / (wide + constants["half_width"])
    layers = shape.moe_layers / layout.pp
    compute = 2.0 * shape.experts_active * count / layout.tp / layout.pp * passes / speed
    exchange = communication.expert_parallel_s(hardware, layout, shape.hidden, model.active_experts, count / layout.tp,
                                               (4.0 if training else 2.0) * layers, calibration)
    return compute + exchange + constants["moe_overhead_s"] * layers * passes


def _straggler(layout: Layout, calibration: Calibration) -> Floats:
    doublings = np.log2(np.maximum(layout.gpus / 8.0, 1.0))
    return 1.0 + float(calibration.training["straggler_per_doubling"]) * doublings


def update_seconds(shape: ModelShape, training: Training, hardware: Hardware, layout: Layout, tokens: Tokens,
                   precision: str, sequences: Floats | float, updates: int, epochs: int,
                   calibration: Calibration) -> Floats:
    """One step: ``updates`` optimizer steps over ``sequences`` sequences, ``epochs`` passes. Shape of the layouts.

    NaN where the device's peak at ``precision`` is unknown.
    """
    constants = calibration.training
    count, rows = micro_batches(tokens, sequences, updates, layout)
    stage = micro_batch_seconds(shape, training, hardware, layout, tokens, rows, precision, calibration)
    working = (count + (layout.pp - 1) / layout.vp) * stage
    dense, experts, ranks, expert_ranks = shards(shape, layout)
    trained = shape.params if training.kind == "full" else shape.lora_params(training.lora_rank)
    share = trained / shape.params
    reduction = np.where(layout.sharding == ZERO3, 0.0,
                         communication.data_parallel_s(hardware, layout, dense * share, calibration))
    own = (dense / ranks + experts / expert_ranks) * share
    on_gpu = constants["optimizer_bytes"] * own / (hardware.hbm_gb_s * 1e9)
    nodes = np.maximum(layout.gpus / hardware.gpus_per_node, 1.0)
    on_host = trained / nodes / constants["cpu_adam_params_per_s"] + 6.0 * own / (hardware.pcie_gb_s * 1e9)
    optimizer = np.where(layout.offload > 0, on_host, on_gpu)
    return updates * epochs * (working + reduction + optimizer) * _straggler(layout, calibration)


def forward_seconds(shape: ModelShape, hardware: Hardware, layout: Layout, tokens: Tokens, precision: str,
                    sequences: Floats | float, calibration: Calibration) -> Floats:
    """One scoring pass over ``sequences`` sequences. Shape of the layouts."""
    count, rows = micro_batches(tokens, sequences, 1, layout)
    stage = micro_batch_seconds(shape, None, hardware, layout, tokens, rows, precision, calibration)
    return (count + (layout.pp - 1) / layout.vp) * stage * _straggler(layout, calibration)
