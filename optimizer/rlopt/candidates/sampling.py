"""Sampling candidates: rollout engines on their own pool, and on the pool that also trains.

Replicas are independent, so a rollout pool may span nodes without a cluster network as long as each replica stays
on one node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rlopt.candidates.context import Context, margin
from rlopt.candidates.layouts import POWERS, node_counts
from rlopt.estimates import (
    GenerationTime,
    Hardware,
    generation_seconds,
    kv_room_gib,
    lagging_sample,
    quantise_seconds,
    rollout_other_gib,
    rollout_weights_gib,
    sample_factor,
    serving_engine,
)
from rlopt.problem import Floats, Ints

SIXTEEN_BITS = ("bf16", "fp16")
WHOLE_NODE = 8
"""Replicas span nodes only where a node is a full board: smaller ones share a switch with strangers."""


@dataclass(frozen=True, slots=True)
class SamplingTable:
    """Rollout engines that fit, shape (rows,), before the environment is counted in.

    Seconds by group size and which number of environment instances: in step (with the tail) and steady.
    """

    topology: Ints
    nodes: Ints
    tp: Ints
    ep: Ints
    precision: Ints
    """Index into the request's rollout precisions."""
    engine_seconds: Mapping[tuple[int, int], Floats]
    engine_steady_seconds: Mapping[tuple[int, int], Floats]
    tried: int
    unknown: int
    """Rows left out because the device's peak at a precision is not known."""

    def __len__(self) -> int:
        return int(self.topology.shape[0])


def engines(context: Context, gpus_per_node: int, cluster: bool, gpus: int) -> list[tuple[int, int]]:
    """(tp, ep) of a replica of max(tp, ep) GPUs: ep 1 is tensor parallel alone, ep > tp attention data-parallel.

    A replica stays on one node, or on up to four (tp) or eight (ep) where a cluster network is known.
    """
    model = context.workload.role("policy").model
    nodes = (4, 8) if cluster and gpus_per_node >= WHOLE_NODE else (1, 1)

    def whole(size: int, most: int) -> bool:
        return (
            size <= min(most * gpus_per_node, gpus)
            and gpus % size == 0
            and (size <= gpus_per_node or size % gpus_per_node == 0)
        )

    found = [(tp, 1) for tp in POWERS if whole(tp, nodes[0]) and model.heads % tp == 0]
    if model.experts:
        found += [(1, ep) for ep in POWERS if ep > 1 and whole(ep, nodes[1]) and model.experts % ep == 0]
    return found


def sample(
    context: Context,
    hardware: Hardware,
    tp: Ints,
    ep: Ints,
    gpus: Ints,
    precision: str,
    kv_gib: Floats,
    size: int,
    steady: bool,
    colocated: bool = False,
    share: Floats | float = 1.0,
    instances: int = 0,
) -> GenerationTime:
    """One step's sampling on pools of ``gpus`` GPUs inside the loop of the framework planned with.

    ``share`` of the samples falls to the pool (the rest to another of a mixed one). Steady pools hold (1 + staleness)
    steps' sequences in flight, and wait for the longest responses as far as their lag does not hide them. Weights are
    brought to an engine's lower precision before it samples.
    """
    shape, calibration = context.shapes["policy"], context.calibration
    stage = context.workload.of_kind("generate")[0]
    lengths, total = stage.lengths, context.sequences(stage, size)

    def engines_alone(tail: bool) -> GenerationTime:
        return generation_seconds(
            shape,
            hardware,
            tp,
            precision,
            kv_gib,
            (lengths.prompt_mean, lengths.prompt_max),
            (lengths.response_mean, lengths.response_max),
            np.ceil(share * total / (gpus / np.maximum(tp, ep))),
            total,
            size,
            tail,
            calibration,
            ep=ep,
            in_flight=1.0 if tail else 1.0 + context.staleness,
            p99=(lengths.prompt_p99, lengths.response_p99),
            family=context.workload.role("policy").model.name,
            engine=serving_engine(context.framework, calibration),
        )

    found = engines_alone(tail=not steady)
    width = np.where(shape.moe, shape.expert_ffn / np.where(ep > tp, 1, tp), np.inf)
    slower = sample_factor(context.framework, hardware.generation, calibration, width)
    seconds = found.seconds
    if steady:
        waiting = engines_alone(tail=True).seconds
        seconds = lagging_sample(waiting, seconds, context.staleness, context.framework, calibration)
    seconds = slower * seconds
    if precision not in SIXTEEN_BITS:
        seconds = seconds + quantise_seconds(context.framework, shape.params, colocated, calibration)
    return replace(found, seconds=seconds)


Engine = tuple[Hardware, Ints, Ints, Ints, str, Floats]
"""Arguments of `sample` that say which engine runs where: hardware, tp, ep, GPUs, precision, cache room."""


def sampled(
    context: Context, engine: Engine, size: int, steady: bool, colocated: bool = False
) -> list[tuple[int, Floats]]:
    """Seconds of one step's sampling for each number of environment instances; infinite where it cannot run.

    Tools work beside the engine, whose own seconds do not depend on them (`with_tools` counts them in).
    """
    found: list[tuple[int, Floats]] = []
    for instances in context.instances:
        if found and context.workload.acting is None:
            found.append((instances, found[0][1]))
            continue
        seconds = sample(context, *engine, size, steady, colocated, instances=instances).seconds
        found.append((instances, np.where(np.isnan(seconds), np.inf, seconds)))
    return found


def room_gib(
    context: Context, hardware: Hardware, tp: Ints, ep: Ints, precision: str, resident: Floats | float, colocated: bool
) -> Floats:
    """Cache room per GPU: within the engine's share of the memory and within what is left of the pool's capacity."""
    weights = rollout_weights_gib(context.shapes["policy"], precision, tp, ep, context.calibration)
    given = kv_room_gib(hardware.memory_gib, weights, resident, colocated, context.calibration)
    capacity = hardware.memory_gib * (1.0 - margin(context))
    fragmentation = 1.0 + float(context.calibration.memory["fragmentation"])
    left = capacity - (weights + resident) * fragmentation - rollout_other_gib(context.calibration)
    return np.asarray(np.minimum(given, left))


def with_tools(context: Context, seconds: Floats, size: int, instances: int) -> Floats:
    """Sampling with tool calls: calls overlap across samples, and the last sample waits for its own calls."""
    tools = context.workload.tools
    if tools is None:
        return seconds
    throughput = tools_seconds(context, size, instances)
    return np.maximum(seconds, throughput) + tools.calls_mean * tools.seconds_mean


def tools_seconds(context: Context, size: int, instances: int) -> float:
    """Seconds the environment machines need for one step's calls."""
    tools = context.workload.tools
    if tools is None:
        return 0.0
    samples = context.sequences(context.workload.of_kind("generate")[0], size)
    return samples * tools.calls_mean * tools.seconds_mean / instances


def sampling_table(context: Context) -> SamplingTable | None:
    """Every rollout pool that fits; None where there is no topology at all."""
    market, rows = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        for nodes in node_counts(most):
            gpus = topology.gpus_per_node * nodes
            for tp, ep in engines(context, topology.gpus_per_node, topology.cluster, gpus):
                rows += [(number, nodes, tp, p, ep) for p in range(len(context.request.choices.precision.rollout))]
    if not rows:
        return None
    table = np.array(rows, dtype=np.int64)
    found: dict[bool, dict[tuple[int, int], Floats]] = {False: {}, True: {}}
    unknown = 0
    for p, precision in enumerate(context.request.choices.precision.rollout):
        index = np.flatnonzero(table[:, 3] == p)
        hardware = context.hardware.take(table[index, 0])
        tp, ep, gpus_ = table[index, 2], table[index, 4], (table[index, 1] * hardware.gpus_per_node).astype(np.int64)
        unknown += int(np.isnan(hardware.peak(precision)).sum()) * len(context.sizes)
        engine = (hardware, tp, ep, gpus_, precision, room_gib(context, hardware, tp, ep, precision, 0.0, False))
        for size in context.sizes:
            for steady, store in found.items():
                for option, (_, seconds) in enumerate(sampled(context, engine, size, steady)):
                    store.setdefault((size, option), np.full(len(table), np.inf))[index] = seconds
    fits = np.any([np.isfinite(values) for values in found[False].values()], axis=0)
    return SamplingTable(
        table[fits, 0],
        table[fits, 1],
        table[fits, 2],
        table[fits, 4],
        table[fits, 3],
        {key: values[fits] for key, values in found[False].items()},
        {key: values[fits] for key, values in found[True].items()},
        len(table),
        unknown,
    )
