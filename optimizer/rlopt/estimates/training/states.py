"""Weights, gradients and optimizer states of one GPU.

Degrees: a stage's dense weights / tp, its expert weights / (etp · ep); ZeRO shards over dp · cp, experts over
edp = dp · cp · tp / (ep · etp) (Rajbhandari et al., 2020). Dividing experts by ep *and* dp would say "fits"
where it runs out. Stages hold whole layers: the fullest has ceil(L / pp).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates.arrays import Floats, Hardware, Ints, Layout, Stack, Training, Values, Words
from rlopt.estimates.codes import FSDP, MEGATRON, TORCHTUNE
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.units import GIB
from rlopt.words import LOW_PRECISIONS, OPTIMIZER_OFF, PARAMETERS_OFF, ZERO1, ZERO2, ZERO3

ADAPTER_WEIGHT, ADAPTER_GRADIENT, ADAPTER_OPTIMIZER = 2.0, 2.0, 12.0
"""Bytes an adapter parameter takes in bf16 weights and gradients, and in an fp32 master with two moments."""
PURE_BF16 = 2.0
"""Bytes of weights and of gradients where training keeps no fp32 master (adamw_bf16)."""


def training_engine(layout: Layout, training: Training | None = None) -> Ints:
    """Engine that a plan assumes, index into `PLANNED_ENGINES` and the calibration's engines, shape (n,).

    FSDP where parameters are fully sharded, torchtune for adapters on models that no GPU shares, else Megatron.
    """
    found = np.where(layout.sharding == ZERO3, FSDP, MEGATRON)
    if training is not None and training.lora is not False:
        whole = (layout.tp * layout.pp * layout.ep == 1) & (layout.sharding != ZERO3)
        found = np.where(np.asarray(training.lora) & whole, TORCHTUNE, found)
    return np.asarray(found, dtype=np.int64)


def planned_stack(layout: Layout, training: Training | None = None, **kernels: bool) -> Stack:
    """The stack that a plan counts with: the engine that the layout tells, with the given kernels."""
    return Stack(training_engine(layout, training), **kernels)


def stage_layers(shape: ModelShape, layout: Layout) -> Floats:
    """Layers of the fullest stage, whole layers per virtual stage; shape (n,)."""
    chunks = np.asarray(layout.pp * layout.vp, dtype=np.float64)
    return np.ceil(shape.layers / chunks) * layout.vp


def expert_share(shape: ModelShape, held: Floats) -> Floats:
    """Share of all routed experts in a stage of ``held`` layers, none of them dense; shape of ``held``."""
    return np.minimum(held / np.maximum(shape.moe_layers, 1), 1.0)


@dataclass(frozen=True, slots=True)
class Shards:
    """Parameters of the fullest GPU before data-parallel sharding, and the ranks to shard over; (n,)."""

    dense: Floats
    experts: Floats
    tables: Floats
    """Part of `dense` that are embedding tables."""
    ranks: Floats
    expert_ranks: Floats

    def gib(self, bytes_per_param: Floats | float, sharded: NDArray[np.bool_]) -> Floats:
        """GiB at ``bytes_per_param``, over the data-parallel ranks where ``sharded``."""
        over, expert_over = np.where(sharded, self.ranks, 1.0), np.where(sharded, self.expert_ranks, 1.0)
        return (self.dense / over + self.experts / expert_over) * (np.asarray(bytes_per_param) / GIB)


def shards(shape: ModelShape, layout: Layout) -> Shards:
    """Parameters per GPU of the fullest stage."""
    held = stage_layers(shape, layout)
    share = held / shape.layers
    tp = np.asarray(layout.tp, dtype=np.float64)
    ends = np.maximum(shape.embedding, shape.head)  # with stages, the first holds one table and the last the other
    tables = np.where(layout.pp > 1, ends, shape.tables) / tp
    ranks = np.asarray(layout.dp * layout.cp, dtype=np.float64)
    split = np.asarray(layout.etp * layout.ep, dtype=np.float64)
    return Shards(
        shape.dense * share / tp + tables,
        shape.experts_total * expert_share(shape, held) / split,
        tables,
        ranks,
        np.maximum(ranks * tp / split, 1.0),
    )


def adapter_shards(shape: ModelShape, training: Training, layout: Layout) -> Shards:
    """Adapter parameters per GPU of the fullest stage, split as the weights they adapt."""
    count, whole = training.lora_rank, shards(shape, layout)
    share = stage_layers(shape, layout) / shape.layers
    return Shards(
        count * shape.adapters_dense * share / layout.tp,
        count * shape.adapters_experts * expert_share(shape, stage_layers(shape, layout)) / (layout.etp * layout.ep),
        np.zeros_like(whole.ranks),
        whole.ranks,
        whole.expert_ranks,
    )


@dataclass(frozen=True, slots=True)
class States:
    """GiB per GPU of weights, gradients and optimizer states, wherever they live; (n,) each."""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    trained: Floats
    """Trained parameters whose update this GPU computes."""


def training_states(
    shape: ModelShape,
    training: Training,
    layout: Layout,
    calibration: Calibration,
    precision: str | Words = "bf16",
    engine: Ints | None = None,
) -> States:
    """States of one trained model, before any offload. Adapters train beside a frozen base."""
    which = training_engine(layout, training) if engine is None else engine
    whole = shards(shape, layout)
    at = [layout.sharding >= code for code in (ZERO1, ZERO2, ZERO3)]
    copies: Values = 0.0
    if not isinstance(precision, str) or precision in LOW_PRECISIONS:
        copied = calibration.by_engine("memory", "low_precision_copy_bytes", which)
        copies = np.where(np.isin(precision, LOW_PRECISIONS), copied, 0.0)
    lora = training.lora
    if lora is True:
        return _adapter_states(shape, training, layout, calibration, whole, copies, which)
    full = _full_states(training, calibration, whole, copies, at, which)
    if lora is False or not np.any(lora):
        return full
    adapters = _adapter_states(shape, training, layout, calibration, whole, copies, which)
    return States(*(np.where(lora, getattr(adapters, f.name), getattr(full, f.name)) for f in fields(States)))


def _full_states(
    training: Training,
    calibration: Calibration,
    whole: Shards,
    copies: Values,
    at: list[NDArray[np.bool_]],
    engine: Ints,
) -> States:
    """Everything trained, or a share of it."""
    share, optimizer = training.trainable_share, training.optimizer
    gradient = state_bytes("gradient_bytes", optimizer, calibration, engine)
    if training.in_loop is not False:
        looped = state_bytes("gradient_bytes_rl", optimizer, calibration, engine)
        gradient = np.where(training.in_loop, looped, gradient)
    weight = state_bytes("weight_bytes", optimizer, calibration, engine)
    if training.frozen_bytes is not None:
        weight = share * weight + (1.0 - np.asarray(share)) * training.frozen_bytes
    return States(
        whole.gib(weight + copies, at[2]),
        whole.gib(share * gradient, at[1]),
        whole.gib(share * state_bytes("optimizer_bytes", optimizer, calibration, engine), at[0]),
        share * _own(whole, at[0]),
    )


def _adapter_states(
    shape: ModelShape,
    training: Training,
    layout: Layout,
    calibration: Calibration,
    whole: Shards,
    copies: Values,
    engine: Ints,
) -> States:
    """A frozen base, and adapters with all their states."""
    at = [layout.sharding >= code for code in (ZERO1, ZERO2, ZERO3)]
    adapters = adapter_shards(shape, training, layout)
    weights = whole.gib(training.base_bytes + copies, at[2])
    k_bit = np.less(training.base_bytes, PURE_BF16)
    if np.any(k_bit):  # k-bit loaders keep the embedding tables at 16 bits or cast them to fp32
        extra = calibration.by_engine("memory", "quantised_table_bytes", engine) - training.base_bytes
        tables = whole.tables * extra / np.where(at[2], whole.ranks, 1.0) / GIB
        weights = weights + np.where(k_bit, tables, 0.0)
    return States(
        weights + adapters.gib(ADAPTER_WEIGHT, at[2]),
        adapters.gib(ADAPTER_GRADIENT, at[1]),
        adapters.gib(ADAPTER_OPTIMIZER, at[0]),
        _own(adapters, at[0]),
    )


def state_bytes(key: str, optimizer: str | Words, calibration: Calibration, engine: Ints) -> Floats:
    """Bytes of a trained parameter's weight, gradient or optimizer state; shape of ``engine``.

    By engine in the table ``key`` of memory.yaml, unless ``key``_``optimizer`` stands there.
    """
    if isinstance(optimizer, str):
        own = f"{key}_{optimizer}"
        return calibration.by_engine("memory", own if own in calibration.memory else key, engine)
    names, which = np.unique(optimizer, return_inverse=True)
    held = [np.broadcast_to(state_bytes(key, str(name), calibration, engine), np.shape(which)) for name in names]
    return np.asarray(np.stack(held)[which, np.arange(len(which))])


def _own(counts: Shards, sharded: NDArray[np.bool_]) -> Floats:
    return counts.gib(GIB, sharded)


def resident_gib(shape: ModelShape, training: Training, layout: Layout, calibration: Calibration) -> Floats:
    """Training state that stays on the GPU while a colocated engine samples, GiB.

    Gradients are freed between updates. Nothing offloaded: weights and optimizer; optimizer offloaded:
    weights; parameters offloaded: nothing.
    """
    states = training_states(shape, training, layout, calibration)
    optimizer = np.where(layout.offload >= OPTIMIZER_OFF, 0.0, states.optimizer)
    return np.where(layout.offload >= PARAMETERS_OFF, 0.0, states.weights + optimizer)


def host_gib(
    shape: ModelShape, training: Training, layout: Layout, hardware: Hardware, calibration: Calibration
) -> Floats:
    """Host memory per node that offload takes, GiB: optimizer states, fp32 gradients, offloaded weights, buffers.

    CPU Adam keeps master, moments and a copy of the gradients in host memory (Ren et al., 2021, section 4); what
    moves passes through pinned buffers of each GPU.
    """
    states = training_states(shape, training, layout, calibration)
    gradients = states.trained * calibration.value("memory", "host_gradient_bytes") / GIB
    moved = np.where(layout.offload >= OPTIMIZER_OFF, states.optimizer + gradients, 0.0)
    moved = moved + np.where(layout.offload >= PARAMETERS_OFF, states.weights, 0.0)
    moved = moved + np.where(layout.offload >= OPTIMIZER_OFF, calibration.value("memory", "host_pinned_gib"), 0.0)
    return np.asarray(moved * np.minimum(layout.gpus, hardware.gpus_per_node))


def frozen_host_gib(
    shape: ModelShape, layout: Layout, hardware: Hardware, calibration: Calibration, precision: str = "bf16"
) -> Floats:
    """Host memory per node that a frozen model (a reference) takes where parameters are offloaded, GiB."""
    weights = shards(shape, layout).gib(calibration.size_bytes(precision), layout.sharding == ZERO3)
    moved = np.where(layout.offload >= PARAMETERS_OFF, weights, 0.0)
    return np.asarray(moved * np.minimum(layout.gpus, hardware.gpus_per_node))
