"""Sampling candidates: rollout engines on their own pool, and on the pool that also trains.

Replicas are independent, so a rollout pool may span nodes without a cluster network as long as each replica stays
on one node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates.loop.run_average import averaged
from rlopt.pools.context import Context, context_of
from rlopt.pools.layouts import POWERS, node_counts
from rlopt.pools.run_points import at_points
from rlopt.pools.sampling.engine import Engine
from rlopt.pools.sampling.seconds import sampled
from rlopt.problem import Floats, Ints
from rlopt.problem.fixed import stated_counts
from rlopt.table import Table
from rlopt.workloads.variants import Variant

WHOLE_NODE = 8
"""Replicas span nodes only where a node is a full board: smaller ones share a switch with strangers."""


@dataclass(frozen=True, slots=True)
class SamplingTable(Table):
    """Rollout engines that fit, shape (rows,), before tool calls are counted in.

    Seconds by group size and which number of environment instances: in step (with the tail) and asynchronous.
    """

    topology: Ints
    nodes: Ints
    tp: Ints
    ep: Ints
    precision: Ints
    """Index into the request's rollout precisions."""
    engine_seconds: Mapping[tuple[int, int], Floats]
    engine_async_seconds: Mapping[tuple[int, int], Floats]
    tried: int
    unknown: int
    """Rows left out because the device's peak at a precision is not known."""
    points: Mapping[tuple[int, int], Floats]
    """Seconds in step at each point of the run, shape (rows, points); one point where no length changes."""
    async_points: Mapping[tuple[int, int], Floats]


def engines(context: Context, gpus_per_node: int, cluster: bool, gpus: int) -> list[tuple[int, int]]:
    """(tp, ep) of a replica of max(tp, ep) GPUs: ep 1 is tensor parallel alone, ep > tp attention data-parallel.

    A replica divides a node, or spans up to four (tp) or eight (ep) whole ones where a cluster network is known.
    Tensor parallelism divides the heads of all models that run in it: a value model that screens does too.
    """
    model = context.workload.role("policy").model
    beside = {stage.role for stage in context.workload.screening}
    heads = [model.heads, *(role.model.heads for role in context.workload.roles if role.name in beside)]
    nodes = (4, 8) if cluster and gpus_per_node >= WHOLE_NODE else (1, 1)

    def whole(size: int, most: int) -> bool:
        if size <= gpus_per_node:
            return gpus_per_node % size == 0
        return size <= most * gpus_per_node and size % gpus_per_node == 0 and gpus % size == 0

    found = [(tp, 1) for tp in POWERS if whole(tp, nodes[0]) and not any(count % tp for count in heads)]
    if model.experts:
        found += [(1, ep) for ep in POWERS if ep > 1 and whole(ep, nodes[1]) and model.experts % ep == 0]
    return [(tp, ep) for tp, ep in found if context.only.engine(tp, ep)]


def sampling_tables(
    context: Context, variants: Sequence[Variant], apart: bool
) -> dict[int, tuple[Context, SamplingTable]]:
    """Rollout pools by the first variant that samples so, with what they are estimated with.

    Where no pool samples apart the first variant's alone, which says what was tried.
    """
    samplers = {variant.sampler for variant in variants if variant.runs_apart}
    found = {}
    for number in sorted(samplers) if apart else [0]:
        variant = variants[number]
        here = context if number == 0 else context_of(context, variant.workload, variant)
        table = sampling_table(here)
        if table is not None:
            found[number] = (here, table)
    return found


def sampling_table(context: Context) -> SamplingTable | None:
    """Every rollout pool that fits; None where there is no topology at all."""
    market, rows = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        for nodes in stated_counts(context.only.sampling_gpus, topology.gpus_per_node, most, node_counts(most)):
            gpus = topology.gpus_per_node * nodes
            for tp, ep in engines(context, topology.gpus_per_node, topology.cluster, gpus):
                rows += [(number, nodes, tp, p, ep) for p in range(len(context.request.choices.precision.rollout))]
    if not rows:
        return None
    table = np.array(rows, dtype=np.int64)
    found: dict[bool, dict[tuple[int, int], Floats]] = {False: {}, True: {}}
    run = at_points(context)
    unknown = 0
    for p, precision in enumerate(context.request.choices.precision.rollout):
        index = np.flatnonzero(table[:, 3] == p)
        hardware = context.hardware.take(table[index, 0])
        gpus = (table[index, 1] * hardware.gpus_per_node).astype(np.int64)
        unknown += int(np.isnan(hardware.peak(precision)).sum()) * len(context.sizes)
        engine = Engine(hardware, table[index, 2], table[index, 4], gpus, precision)
        for size in context.sizes:
            for asynchronous, store in found.items():
                for point, here in enumerate(run):
                    for option, (_, seconds) in enumerate(sampled(here, engine, size, asynchronous)):
                        empty = np.full((len(table), len(run)), np.inf)
                        store.setdefault((size, option), empty)[index, point] = seconds
    fits = np.any([np.isfinite(values).all(axis=1) for values in found[False].values()], axis=0)
    points, async_points = (
        {key: values[fits] for key, values in found[asynchronous].items()} for asynchronous in (False, True)
    )
    return SamplingTable(
        table[fits, 0],
        table[fits, 1],
        table[fits, 2],
        table[fits, 4],
        table[fits, 3],
        {key: averaged(values) for key, values in points.items()},
        {key: averaged(values) for key, values in async_points.items()},
        len(table),
        unknown,
        points,
        async_points,
    )
