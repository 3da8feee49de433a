"""Host memory of a node: what every pool holds there, and which machines have room for it.

GiB = system + processes + samples of a step + staged checkpoint + offloaded states + weights of a sleeping engine

A process stands for each GPU. The samples of a step are held padded, in as many copies as the loop makes: whole on a
node of a training pool, where the driver may run, and in equal parts on the nodes of the others. A checkpoint is
copied from the GPUs to the memory of the nodes that train, and uploaded from there. An engine that sleeps at level 1
keeps its weights in host memory (vLLM, "Sleep Mode", docs.vllm.ai/en/latest/features/sleep_mode).
"""

from __future__ import annotations

import numpy as np

from rlopt.pools.checkpoints import checkpoint_sizes
from rlopt.pools.context import Context
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Floats, Ints, Market
from rlopt.table import group_ids
from rlopt.units import bytes_to_gib
from rlopt.words import PoolRole, StageKind


def sample_bytes(context: Context, group_size: int) -> float:
    """Bytes of one step's samples as the loop holds them, one copy: padded tokens, and raw frames of what was seen."""
    workload = context.workload
    stages = next(filter(None, map(workload.of_kind, (StageKind.SAMPLE, StageKind.TRAIN, StageKind.SCORE))))
    lengths, samples = stages[0].lengths, workload.samples(group_size)
    if not workload.generates and workload.acting is None:
        samples *= stages[0].per_sample  # a pair is two sequences
    text = (lengths.prompt_max + lengths.response_max) * context.catalog.nodes.sample_bytes_per_token
    acts = workload.acting
    if acts is None:
        return samples * text
    seen = max(acts.frames, acts.inferences_mean)
    return samples * seen * (text + acts.frame_bytes)


def staged_gib(context: Context, offload: Ints) -> Floats:
    """GiB of one checkpoint that is copied from the GPUs, shape of ``offload``; what is in host memory is saved there.

    ``offload``: 0 nothing, 1 the optimizer's states, 2 the parameters too.
    """
    saved = bytes_to_gib(checkpoint_sizes(context.request, context.workload, context.calibration).resumable_bytes)
    kept = context.calibration.memory
    weight, states = kept["saved_weight_bytes"], kept["saved_optimizer_bytes"][context.request.job.optimizer]
    on_gpus = np.array([1.0, float(weight) / (float(weight) + float(states)), 0.0])
    return np.asarray(context.catalog.nodes.staged_checkpoints * saved * on_gpus[offload])


def base_gib(context: Context, kind: PoolRole, topology: Ints, nodes: Ints, group_size: int) -> Floats:
    """GiB per node that a pool holds whatever its layout and without a checkpoint, shape of ``nodes``."""
    constants = context.catalog.nodes
    per_node = context.hardware.gpus_per_node[topology]
    held = constants.host_system_gib + constants.host_process_gib * per_node
    samples = bytes_to_gib(constants.sample_copies * sample_bytes(context, group_size))
    return np.asarray(held + (samples if kind == PoolRole.TRAIN else samples / nodes))


def training_gib(context: Context, table: TrainingTable, group_size: int) -> Floats:
    """GiB per node of a pool that trains, engines apart: base, staged checkpoint and what is offloaded; (rows,)."""
    base = base_gib(context, PoolRole.TRAIN, table.topology, table.nodes, group_size)
    return np.asarray(base + staged_gib(context, table.layout.offload) / table.nodes + table.host_gib)


def node_memory_gib(market: Market) -> Floats:
    """Host memory of one node of each offer that a plan may use, GiB; NaN where unknown and not limited.

    ``limits.host_memory`` bounds what a machine states, and stands for what one does not state.
    """
    stated = np.array([np.nan if o.shape.host_memory_gib is None else o.shape.host_memory_gib for o in market.offers])
    allowed = market.host_memory_gib[: len(stated)]
    nothing = bool(np.any((stated > 0.0) & (allowed == 0.0)))  # a limit of 0 holds for every offer
    return np.asarray(np.fmin(stated, np.where((allowed > 0.0) | nothing, allowed, np.nan)), dtype=np.float64)


def has_room(market: Market, capacity: Floats, offer: Ints, host_gib: Floats, offload_gib: Floats) -> np.ndarray:
    """Which (row, offer) pairs have the host memory, shape of ``offer``.

    ``capacity`` as `node_memory_gib` gives it. What is offloaded is known to fit; where a machine's memory is neither
    known nor limited, what every pool needs is let pass.
    """
    return np.asarray((offload_gib <= market.host_memory_gib[offer]) & ~(host_gib > capacity[offer]))


def levels(market: Market, topology: Ints, host_gib: Floats, offload_gib: Floats) -> Ints:
    """A number per row: rows of one machine kind with equal numbers have room on the same offers."""
    found = np.zeros(len(topology), dtype=np.int64)
    capacity = node_memory_gib(market)
    for number in np.unique(topology):
        here, rows = market.topology == number, topology == number
        there = np.unique(capacity[here & ~np.isnan(capacity)])
        limits = np.unique(market.host_memory_gib[here])
        total = np.searchsorted(there, host_gib[rows], side="left")
        moved = np.searchsorted(limits, offload_gib[rows], side="left")
        found[rows] = group_ids(total, moved)
    return found
