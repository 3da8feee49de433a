"""Seconds of updates and scoring passes in one step.

    step = updates · [ (m + (pp - 1) / vp) · slowest stage + gradients + optimizer + loop ] · straggler · measured

m micro-batches per data-parallel rank; Narayanan et al. (2021), section 2.2, for the bubble. A stage sums its
arithmetic and exposed collectives; ZeRO-3's gathers and the host's launches join by p-norms. Gradients are reduced
once, and the loop around a step costs a stack's own time. Measured are the effects of stack and GPU type that the
terms leave open, near 1.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Layout, Tokens, Training, Values
from rlopt.estimates.communication import (
    context_parallel_s,
    sharded_bytes_s,
    stage_boundary_s,
    tensor_parallel_s,
)
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.compute import hbm_bytes_s, stage_compute_s
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.states import Shards, adapter_shards, shards, stage_layers
from rlopt.estimates.training.worker import Worker
from rlopt.facts.calibration import Calibration
from rlopt.units import GIGA
from rlopt.words import OPTIMIZER_OFF, ZERO1, ZERO2, ZERO3

STRAGGLE_FROM = 8.0
"""GPUs up to which no straggler is counted: one node."""
GATHERED = 2.0
"""Bytes of a gathered weight and of a scattered gradient."""


def micro_batches(tokens: Tokens, sequences: Floats | float, updates: int, layout: Layout) -> tuple[Floats, Floats]:
    """Micro-batches per data-parallel rank and update, and counted tokens in each (before cp); shape (n,).

    The slowest rank counts. Padded, it is one that holds whole sequences more than others; packed, ranks are
    balanced by tokens, but one of them holds the longest sequence, which no packing splits.
    """
    all_ranks = np.asarray(sequences, dtype=np.float64) / updates
    per_rank = np.maximum(all_ranks / layout.dp, 1.0)
    if tokens.packed:
        held = np.maximum(per_rank * tokens.mean, tokens.expected_longest(float(np.max(all_ranks))))
        count = np.maximum(np.ceil(held / (layout.micro_batch * tokens.longest)), 1.0)
        return count, held / count
    per_rank = np.ceil(per_rank)
    count = np.ceil(per_rank / layout.micro_batch)
    return count, per_rank * tokens.longest / count


def micro_batch_seconds(worker: Worker, hardware: Hardware, tokens: Tokens, rows: Floats) -> Floats:
    """Slowest stage's seconds for one micro-batch of ``rows`` counted tokens."""
    shape, layout, engine, calibration = worker.shape, worker.layout, worker.stack.engine, worker.calibration
    passes, count, layers = Passes.of(worker.training, layout), rows / layout.cp, stage_layers(shape, layout)
    seconds = stage_compute_s(worker, hardware, tokens, count)
    pairs = 2.0 * np.asarray(passes.collective) * layers
    seconds = seconds + tensor_parallel_s(hardware, layout, shape.hidden, count, pairs, engine, calibration)
    per_layer = shape.kv_values_per_token / (shape.attention_layers + shape.window_layers)
    seconds = seconds + context_parallel_s(hardware, layout, per_layer, count, passes.collective * layers, calibration)
    calls = _directions(worker.training)
    seconds = seconds + stage_boundary_s(hardware, layout, shape.hidden, count, calls, calibration)
    seconds = _joined(seconds, _gather_s(worker, hardware), engine, calibration)
    seconds = seconds + _streamed_s(worker, hardware)
    return _fourth_norm(seconds, _host_s(worker, passes, layers))


def _host_s(worker: Worker, passes: Passes, layers: Floats) -> Floats:
    """Seconds the host takes to launch a stage's kernels; experts and adapters bring launches of their own."""
    shape, training, calibration = worker.shape, worker.training, worker.calibration
    per_layer = calibration.by_engine("training", "host_s", worker.stack.engine)
    if training is not None and training.lora is not False:
        per_layer = per_layer * np.where(training.lora, calibration.value("training", "adapter_launches"), 1.0)
    if np.any(shape.moe):
        routed = calibration.by_engine("training", "moe_host_s", worker.stack.engine)
        per_layer = per_layer + shape.moe_layers / shape.layers * routed
    return np.asarray(per_layer * layers * passes.gemm)


def _directions(training: Training | None) -> Values:
    """Passes through the layers: forward, and backward where gradients flow."""
    if training is None:
        return 1.0
    return 2.0 if training.backward is True else 1.0 + np.asarray(training.backward, dtype=np.float64)


def _fourth_norm(device: Floats, host: Floats) -> Floats:
    """(a⁴ + b⁴)^¼: launches hide behind the device's work unless they take as long."""
    device, host = device * device, host * host
    return np.sqrt(np.sqrt(device * device + host * host))


def _streamed_s(worker: Worker, hardware: Hardware) -> Floats | float:
    """Weights that a stack keeps in host memory and copies for each of two passes, a share per rank."""
    training, calibration = worker.training, worker.calibration
    passes = calibration.by_engine("training", "streamed_passes", worker.stack.engine)
    if training is None or not np.any(passes):
        return 0.0
    slot = hardware.pcie_gb_s * (calibration.value("links", "copy_share") * GIGA)
    whole = shards(worker.shape, worker.layout)
    own = whole.dense / whole.ranks + whole.experts / whole.expert_ranks
    return np.asarray(passes * np.minimum(training.base_bytes, GATHERED) * own / slot)


def _joined(seconds: Floats, gathers: Floats, engine: Ints, calibration: Calibration) -> Floats:
    """Compute and the gathers of full sharding, by the p-norm of an almost serial overlap."""
    busy = np.flatnonzero(gathers > 0.0)
    if not len(busy):
        return seconds
    joined = np.array(np.broadcast_to(seconds, np.broadcast_shapes(seconds.shape, gathers.shape)))
    norm = np.broadcast_to(calibration.by_engine("training", "fsdp_norm", engine), joined.shape)[busy]
    a, b = joined[busy], np.broadcast_to(gathers, joined.shape)[busy]
    most = np.maximum(a, b)
    finite = np.isfinite(most)
    ratio = np.divide(np.minimum(a, b), most, out=np.zeros_like(most), where=finite)
    joined[busy] = np.where(finite, most * (1.0 + ratio**norm) ** (1.0 / norm), most)
    return joined


def _gather_s(worker: Worker, hardware: Hardware) -> Floats:
    """Seconds of full sharding per micro-batch.

    ZeRO-3 gathers weights for each pass and scatters gradients; ZeRO-2 scatters gradients.
    """
    training, layout = worker.training, worker.layout
    if not np.any(layout.sharding >= ZERO2):
        return np.zeros(1)
    whole = shards(worker.shape, layout)
    dense_s, expert_s = sharded_bytes_s(hardware, layout, worker.calibration)
    zero3, zero2 = layout.sharding == ZERO3, layout.sharding == ZERO2
    weight_bytes = GATHERED if training is None else np.minimum(GATHERED, training.base_bytes)
    gathers = _directions(training) * weight_bytes
    scatters: Values = 0.0
    if training is not None:
        scatters = np.where(training.lora, 0.0, GATHERED * training.trainable_share)
    moved = np.where(zero3, gathers + scatters, np.where(zero2, scatters, 0.0))
    return np.where(moved > 0.0, moved, 0.0) * _finite(whole, dense_s, expert_s, moved)


def _finite(counts: Shards, dense_s: Floats, expert_s: Floats, moved: Floats) -> Floats:
    """Seconds per byte of a parameter through the data-parallel rings.

    0 where nothing moves (an absent link is inf).
    """
    active = moved > 0.0
    experts = np.where(active & (counts.experts > 0.0), expert_s, 0.0)
    return np.where(active, dense_s, 0.0) * counts.dense + experts * counts.experts


def _measured(worker: Worker, hardware: Hardware) -> Floats:
    """Stragglers beyond one node, and what was measured of a stack and of a GPU type beyond the terms."""
    layout, calibration = worker.layout, worker.calibration
    doublings = np.log2(np.maximum(np.asarray(layout.gpus, dtype=np.float64) / STRAGGLE_FROM, 1.0))
    slower = 1.0 + calibration.value("training", "straggler_per_doubling") * doublings
    effect = calibration.by_engine("training", "engine_factor", worker.stack.engine)
    return np.asarray(slower * effect * hardware.effect(calibration.training["device_factor"]))


def optimizer_seconds(worker: Worker, hardware: Hardware) -> Floats:
    """Gradient reduction, parameter gathering and the optimizer's own step, once per update; shape (n,).

    Offloaded, CPU Adam runs on each node's share and gradients and weights cross the slot (Ren et al., 2021).
    """
    shape, training, layout, calibration = worker.shape, worker.trained, worker.layout, worker.calibration
    counts = _trained(shape, training, layout)
    share = 1.0 if training.lora is True else np.where(training.lora, 1.0, training.trainable_share)
    dense_s, expert_s = sharded_bytes_s(hardware, layout, calibration)
    whole_step = calibration.value("training", "reduction_bytes")
    reduced = np.select([layout.sharding == ZERO3, layout.sharding == ZERO2], [0.0, GATHERED], whole_step) * share
    exposed = calibration.by_engine("training", "dp_exposed", worker.stack.engine)
    reduction = exposed * reduced * _finite(counts, dense_s, expert_s, reduced)
    one = layout.sharding >= ZERO1
    own = share * (
        counts.dense / np.where(one, counts.ranks, 1.0) + counts.experts / np.where(one, counts.expert_ranks, 1.0)
    )
    on_gpu = own * calibration.value("training", "optimizer_bytes") / hbm_bytes_s(hardware, calibration)
    away = layout.offload >= OPTIMIZER_OFF
    if not np.any(away):
        return reduction + on_gpu
    here = np.minimum(layout.gpus, hardware.gpus_per_node)
    slot = hardware.pcie_gb_s * (calibration.value("links", "copy_share") * GIGA)
    on_host = own * here / calibration.value("training", "cpu_adam_params_per_s")
    on_host = on_host + own * calibration.value("training", "offload_bytes") / slot
    return reduction + np.where(away, on_host, on_gpu)


def _trained(shape: ModelShape, training: Training, layout: Layout) -> Shards:
    """Parameters per GPU that are trained: the adapters, or all of the model."""
    if training.lora is True:
        return adapter_shards(shape, training, layout)
    whole = shards(shape, layout)
    if not np.any(training.lora):
        return whole
    own = adapter_shards(shape, training, layout)
    dense, experts, tables = (
        np.where(training.lora, getattr(own, part), getattr(whole, part)) for part in ("dense", "experts", "tables")
    )
    return Shards(dense, experts, tables, whole.ranks, whole.expert_ranks)


def update_seconds(
    worker: Worker, hardware: Hardware, tokens: Tokens, sequences: Floats | float, updates: int = 1, epochs: int = 1
) -> Floats:
    """One step's ``updates`` optimizer steps over ``sequences``, ``epochs`` times; shape (n,).

    NaN where the device's peak at the precision is unknown, inf where a group spans nodes without a known network.
    """
    layout = worker.layout
    count, rows = micro_batches(tokens, sequences, updates, layout)
    stage = micro_batch_seconds(worker, hardware, tokens, rows)
    working = (count + (layout.pp - 1) / layout.vp) * stage
    once = optimizer_seconds(worker, hardware)
    once = once + worker.calibration.by_engine("training", "step_s", worker.stack.engine)
    return updates * epochs * (working + once) * _measured(worker, hardware)


def forward_seconds(worker: Worker, hardware: Hardware, tokens: Tokens, sequences: Floats | float) -> Floats:
    """One scoring pass over ``sequences`` sequences. Shape (n,); NaN and inf as for updates."""
    layout = worker.layout
    count, rows = micro_batches(tokens, sequences, 1, layout)
    stage = micro_batch_seconds(worker, hardware, tokens, rows)
    return (count + (layout.pp - 1) / layout.vp) * stage * _measured(worker, hardware)
