"""Sampling candidates: rollout engines on their own pool, and on the pool that also trains.

Replicas are independent, so a rollout pool may span nodes without a cluster network as long as each replica stays
on one node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rlopt.candidates.context import Context, margin
from rlopt.candidates.layouts import POWERS, node_counts
from rlopt.estimates import (
    GenerationTime,
    Hardware,
    generation_seconds,
    rollout_other_gib,
    rollout_weights_gib,
)
from rlopt.problem import Floats, Ints


@dataclass(frozen=True, slots=True)
class SamplingTable:
    """Rollout pools that fit, shape (rows,). Seconds by group size: synchronous (with the tail) and steady."""

    topology: Ints
    nodes: Ints
    tp: Ints
    precision: Ints
    """Index into the request's rollout precisions."""
    seconds: Mapping[int, Floats]
    steady_seconds: Mapping[int, Floats]
    tried: int
    unknown: int
    """Rows left out because the device's peak at a precision is not known."""

    def __len__(self) -> int:
        return int(self.topology.shape[0])


def engine_ways(context: Context, gpus_per_node: int, cluster: bool, gpus: int) -> list[int]:
    """Tensor-parallel degrees of a replica: inside a node, and two or four nodes where a cluster network is known."""
    heads = context.workload.role("policy").model.heads
    most = gpus_per_node * (4 if cluster and gpus_per_node >= 8 else 1)
    return [
        tp
        for tp in POWERS
        if tp <= min(most, gpus)
        and heads % tp == 0
        and gpus % tp == 0
        and (tp <= gpus_per_node or tp % gpus_per_node == 0)
    ]


def sample(
    context: Context, hardware: Hardware, tp: Ints, gpus: Ints, precision: str, kv_gib: Floats, size: int, steady: bool
) -> GenerationTime:
    """One step's sampling on pools of ``gpus`` GPUs. Steady pools hold (1 + staleness) steps' sequences in flight."""
    steps = 1 + context.staleness if steady else 1
    stage = context.workload.of_kind("generate")[0]
    lengths = stage.lengths
    total = context.sequences(stage, size)
    replicas = gpus / tp
    per_replica = np.ceil(total / replicas)
    found = generation_seconds(
        context.shapes["policy"],
        hardware,
        tp,
        precision,
        kv_gib,
        (lengths.prompt_mean, lengths.prompt_max),
        (lengths.response_mean, lengths.response_max),
        per_replica * steps,
        total,
        size,
        not steady,
        context.calibration,
    )
    return GenerationTime(found.seconds / steps, found.running, found.utilization)


def room_gib(context: Context, hardware: Hardware, tp: Ints, precision: str, resident: Floats | float) -> Floats:
    """Cache room per GPU beside weights, engine and whatever stays resident; negative where it does not fit."""
    capacity = hardware.memory_gib * (1.0 - margin(context))
    weights = rollout_weights_gib(context.shapes["policy"], precision, tp)
    fragmentation = 1.0 + float(context.calibration.memory["fragmentation"])
    return capacity - weights * fragmentation - rollout_other_gib(context.calibration) - resident * fragmentation


def with_tools(context: Context, seconds: Floats, size: int) -> Floats:
    """Sampling with tool calls: calls overlap across samples, and the last sample waits for its own calls."""
    tools = context.workload.tools
    if tools is None:
        return seconds
    throughput = tools_seconds(context, size)
    return np.maximum(seconds, throughput) + tools.calls_mean * tools.seconds_mean


def tools_seconds(context: Context, size: int) -> float:
    """Seconds the environment machines need for one step's calls."""
    tools = context.workload.tools
    if tools is None:
        return 0.0
    samples = context.sequences(context.workload.of_kind("generate")[0], size)
    return samples * tools.calls_mean * tools.seconds_mean / tools.instances


def sampling_table(context: Context) -> SamplingTable | None:
    """Every rollout pool that fits; None where there is no topology at all."""
    market, rows = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        for nodes in node_counts(most):
            for tp in engine_ways(context, topology.gpus_per_node, topology.cluster, topology.gpus_per_node * nodes):
                rows += [(number, nodes, tp, p) for p in range(len(context.request.choices.precision.rollout))]
    if not rows:
        return None
    table = np.array(rows, dtype=np.int64)
    seconds: dict[int, Floats] = {}
    steady: dict[int, Floats] = {}
    unknown = 0
    for p, precision in enumerate(context.request.choices.precision.rollout):
        index = np.flatnonzero(table[:, 3] == p)
        hardware = context.hardware.take(table[index, 0])
        tp, gpus = table[index, 2], (table[index, 1] * hardware.gpus_per_node).astype(np.int64)
        room = room_gib(context, hardware, tp, precision, 0.0)
        for size in context.sizes:
            for store, flag in ((seconds, False), (steady, True)):
                found = sample(context, hardware, tp, gpus, precision, room, size, flag).seconds
                unknown += int(np.isnan(found).sum())
                found = np.where(np.isnan(found), np.inf, found)
                store.setdefault(size, np.full(len(table), np.inf))[index] = with_tools(context, found, size)
    fits = np.any([np.isfinite(values) for values in seconds.values()], axis=0)
    return SamplingTable(
        table[fits, 0],
        table[fits, 1],
        table[fits, 2],
        table[fits, 3],
        {size: values[fits] for size, values in seconds.items()},
        {size: values[fits] for size, values in steady.items()},
        len(table),
        unknown,
    )
