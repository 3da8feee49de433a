"""Memory per GPU, by part, in GiB.

Degrees: dense weights / (tp · pp), over dp · cp under ZeRO-3; expert weights / (etp · pp · ep), over
edp = dp · cp · tp / (ep · etp). Rajbhandari et al. (2020) for the states, Korthikanti et al. (2022) for activations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import BYTES, Floats, Hardware, Ints, Layout, Tokens, Training
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.shape import ModelShape
from rlopt.units import GIB

ZERO1, ZERO2, ZERO3 = 1, 2, 3
FSDP_LAYERS = 2.0
"""Layers gathered at once: the running one and the one being prefetched."""


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
        return (self.weights + self.gradients + self.optimizer + self.activations + self.logits + self.kv_cache
                + self.buffers + self.runtime)


def training_engine(layout: Layout) -> Ints:
    """Engine constants that apply: 0 Megatron (ZeRO-1, stages, experts), 1 FSDP (ZeRO-3)."""
    return np.where(layout.sharding == ZERO3, 1, 0)


def shards(shape: ModelShape, layout: Layout) -> tuple[Floats, Floats, Floats, Floats]:
    """Parameters per GPU before data-parallel sharding (dense, experts) and the ranks each is sharded over."""
    model_ways = layout.tp * layout.pp
    ends = max(shape.embedding, shape.head)  # with stages, the first holds one table and the last the other
    tables = np.where(layout.pp > 1, ends, shape.tables) / layout.tp
    dense = shape.dense / model_ways + tables
    experts = shape.experts_total / (layout.etp * layout.pp * layout.ep)
    ranks = (layout.dp * layout.cp).astype(np.float64)
    expert_ranks = np.maximum(layout.dp * layout.cp * layout.tp / (layout.ep * layout.etp), 1.0)
    return dense, experts, ranks, expert_ranks


def _state(dense: Floats, experts: Floats, ranks: Floats, expert_ranks: Floats, bytes_per_param: Floats,
           sharded: np.ndarray) -> Floats:
    full = dense + experts
    split = dense / ranks + experts / expert_ranks
    return np.where(sharded, split, full) * bytes_per_param / GIB


def update_parts(shape: ModelShape, training: Training, hardware: Hardware, layout: Layout, tokens: Tokens,
                 precision: str, calibration: Calibration, chunked_loss: bool = False) -> MemoryParts:
    """Peak of forward, backward and optimizer step: states, gradients and activations together.

    ``offload``: optimizer states (and the fp32 master) live in host memory (Ren et al., 2021).
    """
    del hardware, precision
    constants, engine = calibration.memory, training_engine(layout)
    dense, experts, ranks, expert_ranks = shards(shape, layout)
    zero3, any_zero = layout.sharding == ZERO3, layout.sharding >= ZERO1
    on_gpu = layout.offload == 0
    if training.kind == "full":
        weights = _state(dense, experts, ranks, expert_ranks, calibration.by_engine("memory", "weight_bytes", engine), zero3)
        kept = calibration.by_engine("memory", "gradient_bytes_rl" if training.in_loop else "gradient_bytes", engine)
        gradients = _state(dense, experts, ranks, expert_ranks, kept, layout.sharding >= ZERO2)
        key = {"adamw": "optimizer_bytes", "adamw_bf16": "optimizer_bytes_bf16"}.get(training.optimizer, "optimizer_bytes_8bit")
        optimizer = np.where(on_gpu, _state(dense, experts, ranks, expert_ranks,
                                            calibration.by_engine("memory", key, engine), any_zero), 0.0)
    else:
        base = np.full(len(layout.tp), training.base_bytes)
        weights = _state(dense, experts, ranks, expert_ranks, base, zero3)
        adapters = shape.lora_params(training.lora_rank) / (layout.tp * layout.pp)
        split = np.where(zero3, ranks, 1.0)
        weights = weights + adapters * 2.0 / split / GIB
        gradients = adapters * 2.0 / split / GIB
        optimizer = np.where(on_gpu, adapters * 12.0 / np.where(any_zero, ranks, 1.0) / GIB, 0.0)
    activations, logits = _activations(shape, training, layout, tokens, calibration, chunked_loss)
    buffers = _buffers(shape, layout, constants)
    body = weights + gradients + optimizer + activations + logits
    buffers = buffers + constants["fragmentation"] * body
    runtime = np.full(len(layout.tp), float(constants["runtime_gib"]))
    return MemoryParts(weights, gradients, optimizer, activations, logits, np.zeros_like(weights), buffers, runtime)


def _activations(shape: ModelShape, training: Training, layout: Layout, tokens: Tokens, calibration: Calibration,
                 chunked_loss: bool) -> tuple[Floats, Floats]:
    """First stage with its micro-batches in flight, or the last with the logits, whichever is larger."""
    constants, engine = calibration.memory, training_engine(layout)
    count = layout.micro_batch * tokens.longest / layout.cp
    layer = calibration.by_engine("memory", "activation_factor", engine) * 2.0 * shape.activation_units * count / layout.tp
    if training.kind == "lora":
        layer = layer + np.where(layout.recompute == 2, 0.0, constants["lora_activation_bytes"]
                                 * (5 * shape.hidden + shape.model.ffn) * count / layout.tp)
    kept = np.where(layout.recompute == 2, 2.0 * shape.hidden * count / layout.tp,
                    np.where(layout.recompute == 1, constants["selective_factor"] * layer, layer))
    workspace = np.where(layout.recompute == 2, constants["full_workspace"] * layer, 0.0)
    pp, vp = layout.pp, layout.vp
    in_flight = np.where(vp > 1, ((pp - 1) * 2 + (vp - 1) * pp + 1) / (pp * vp), 1.0)
    last = np.where(vp > 1, ((vp - 1) * pp + 1) / (pp * vp), 1.0 / pp)
    per_value = float(constants["logits_bytes_chunked"]) if chunked_loss else \
        calibration.by_engine("memory", "logits_bytes", engine)
    logits = count * shape.vocab * per_value / layout.tp / GIB
    first_stage = (kept * shape.layers * in_flight + workspace) / GIB
    last_stage = (kept * shape.layers * last + workspace) / GIB
    logits_peak = np.where(pp > 1, last_stage + logits > first_stage, True)
    return np.where(logits_peak, last_stage, first_stage), np.where(logits_peak, logits, 0.0)


def _buffers(shape: ModelShape, layout: Layout, constants: dict[str, float] | object) -> Floats:
    gathered = FSDP_LAYERS * shape.largest_layer + np.maximum(shape.embedding, shape.head)
    fsdp = np.where(layout.sharding == ZERO3, 2.0 * gathered / layout.tp / GIB, 0.0)
    return fsdp + np.where(layout.gpus > 1, float(constants["nccl_gib"]), 0.0)  # type: ignore[index]


def forward_parts(shape: ModelShape, hardware: Hardware, layout: Layout, tokens: Tokens, precision: str,
                  calibration: Calibration) -> MemoryParts:
    """A scoring pass: weights at ``precision``, one layer's activations, log-probabilities from the logits."""
    del hardware
    constants, engine = calibration.memory, training_engine(layout)
    dense, experts, ranks, expert_ranks = shards(shape, layout)
    size = np.full(len(layout.tp), BYTES[precision])
    weights = _state(dense, experts, ranks, expert_ranks, size, layout.sharding == ZERO3)
    count = layout.micro_batch * tokens.longest / layout.cp
    layer = calibration.by_engine("memory", "activation_factor", engine) * 2.0 * shape.activation_units * count / layout.tp
    logits = count * shape.vocab * BYTES["fp32"] * 1.0 / layout.tp / GIB
    activations = (layer + 2.0 * shape.hidden * count) / GIB
    buffers = _buffers(shape, layout, constants) + constants["fragmentation"] * (weights + activations + logits)
    zero = np.zeros_like(weights)
    return MemoryParts(weights, zero, zero, activations, logits, zero, buffers,
                       np.full(len(layout.tp), float(constants["runtime_gib"])))


def host_gib(shape: ModelShape, training: Training, layout: Layout, hardware: Hardware, calibration: Calibration) -> Floats:
    """Host memory per node that offload takes, GiB."""
    trained = shape.params if training.kind == "full" else shape.lora_params(training.lora_rank)
    nodes = np.maximum(layout.gpus / hardware.gpus_per_node, 1.0)
    states = np.where(layout.offload > 0, trained * float(calibration.memory["master_offload_host_bytes"]), 0.0)
    parameters = np.where(layout.offload == 2, shape.params * 2.0, 0.0)
    return (states + parameters) / nodes / GIB


def rollout_weights_gib(shape: ModelShape, precision: str, tp: Floats | Ints) -> Floats:
    """Weights of one rollout rank; the embedding tables stay at 16 bits (quantised checkpoints keep them)."""
    size = BYTES[precision]
    return ((shape.dense + shape.experts_total) * size + shape.tables * max(size, 2.0)) / np.asarray(tp, dtype=float) / GIB


def kv_gib_per_token(shape: ModelShape, tp: Floats | Ints) -> Floats:
    """Cache of one token per GPU: heads replicated beyond kv_heads, a latent held in full on every rank."""
    ways = np.asarray(tp, dtype=float)
    ways = np.ones_like(ways) if shape.model.mla is not None else np.minimum(ways, float(shape.model.kv_heads))
    return shape.kv_values_per_token * 2.0 / ways / GIB


def rollout_other_gib(calibration: Calibration) -> float:
    """Runtime and activation buffers of a rollout engine, GiB per GPU."""
    return float(calibration.memory["runtime_gib"]) + float(calibration.memory["rollout_activation_gib"])


def memory_margin(calibration: Calibration) -> float:
    """Share of usable memory that stays free for the memory model's own error."""
    return float(calibration.memory["margin"])
