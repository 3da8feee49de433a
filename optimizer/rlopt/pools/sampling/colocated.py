"""Colocated candidates: one pool that trains and samples in turn.

While it samples, the training state that is not offloaded stays on the GPU and takes cache room. Per machine kind,
node count and offload only the layouts on the staircase of seconds against resident memory can be the best: sampling
is never faster with less room.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.estimates import colocated_swap_s
from rlopt.estimates.loop.run_average import averaged
from rlopt.pools.context import Context
from rlopt.pools.node.host import levels
from rlopt.pools.run_points import at_points
from rlopt.pools.sampling.engine import Engine, weights_gib
from rlopt.pools.sampling.seconds import sampled, with_tools
from rlopt.pools.sampling.table import engines
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Floats, Ints
from rlopt.table import Table, group_ids, groups, starts_of

PARAMETERS_OFF = 2


@dataclass(frozen=True, slots=True)
class ColocatedTable(Table):
    """Rows by (group size, update precision): training row, engine, seconds of both halves. Shape (rows,) each."""

    train: Ints
    tp: Ints
    ep: Ints
    precision: Ints
    environment: Ints
    """Which number of environment instances."""
    train_seconds: Floats
    sample_seconds: Floats
    asleep_gib: Floats
    """Host memory per node that the engine's weights take while the pool trains."""


def staircase(group: Ints, first: Floats, second: Floats) -> Ints:
    """Indices of the rows that no other row of their group beats in both values."""
    if not len(group):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((second, first, group))
    levels, level = np.unique(second, return_inverse=True)  # whole numbers: no difference is lost to rounding
    values, grouped = level[order], group[order]
    start = starts_of(grouped)
    # a running minimum that restarts with each group: offset every group below the one before it
    shifted = values - np.cumsum(start) * len(levels)
    before = np.concatenate([[0], np.minimum.accumulate(shifted)[:-1]])
    keep = start | (shifted < before)
    return np.asarray(order[keep], dtype=np.int64)


def colocated_table(
    context: Context, training: TrainingTable, size: int, precision: str, host: Floats, once: Floats
) -> ColocatedTable:
    """Best engines for the layouts that matter, for one group size and update precision.

    ``host`` is the host memory per node of each training row beside the engine, ``once`` a step's part of what runs
    before the first one, which decides with its seconds; shape (training rows,).
    """
    seconds = training.seconds[(size, precision)] + once
    rows = np.flatnonzero(np.isfinite(seconds) & (training.headroom_gib >= context.asleep_gib))
    moved = np.round(training.host_gib[rows], 2)
    group = group_ids(training.topology[rows], training.nodes[rows], training.layout.offload[rows], moved)
    rows = rows[staircase(group, seconds[rows], training.resident_gib[rows])]
    found: list[tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats]] = []
    pools = groups(training.topology[rows], training.nodes[rows])
    kinds = [(context.market.topologies[topology], nodes) for topology, nodes in pools]
    ways = [engines(context, kind.gpus_per_node, kind.cluster, kind.gpus_per_node * nodes) for kind, nodes in kinds]
    for tp, ep in sorted({way for options in ways for way in options}):
        able = [at for at, options in zip(pools.values(), ways, strict=True) if (tp, ep) in options]
        here = rows[np.sort(np.concatenate(able))]
        hardware = context.hardware.take(training.topology[here])
        gpus = (training.nodes[here] * hardware.gpus_per_node).astype(np.int64)
        degree, experts = np.full(len(here), tp), np.full(len(here), ep)
        for p, rollout in enumerate(context.request.choices.precision.rollout):
            engine = Engine(hardware, degree, experts, gpus, rollout, training.resident_gib[here], colocated=True)
            swap = np.where(
                training.layout.offload[here] == PARAMETERS_OFF,
                colocated_swap_s(context.state, gpus.astype(float), context.calibration),
                0.0,
            )
            asleep = weights_gib(context, engine) * hardware.gpus_per_node
            run = [sampled(one, engine, size, asynchronous=False) for one in at_points(context)]
            for option, instances in enumerate(context.instances):
                points = [with_tools(context, one[option][1], size, instances, asynchronous=False) for one in run]
                time = averaged(np.stack(points, axis=1)) + swap
                fits = np.isfinite(time)
                count = int(fits.sum())
                which = np.full(count, p), np.full(count, option)
                found.append((here[fits], degree[fits], experts[fits], *which, time[fits], asleep[fits]))
    none = np.zeros(0, dtype=np.int64)
    columns = [np.concatenate([none, *(part[n] for part in found)]) for n in range(5)]
    sampling, asleep = (np.concatenate([np.zeros(0), *(part[n] for part in found)]) for n in (5, 6))
    offload = training.host_gib[columns[0]]
    level = levels(context.market, training.topology[columns[0]], host[columns[0]] + asleep, offload)
    best = _best(context, training, columns, level, seconds[columns[0]], sampling, asleep)
    return replace(best, train_seconds=best.train_seconds - once[best.train])


def _best(
    context: Context,
    training: TrainingTable,
    columns: list[Ints],
    level: Ints,
    first: Floats,
    second: Floats,
    asleep: Floats,
) -> ColocatedTable:
    """Per machine kind, node count, offload, offers with room, and environment: rows not beaten in either time."""
    train, tp, ep, precision, environment = columns
    topology = training.topology[train]
    median = first + second
    confident = first * context.train_band[topology] + second * context.rollout_band[topology]
    group = group_ids(topology, training.nodes[train], training.layout.offload[train], level, environment)
    keep = staircase(group, median, confident)
    every = ColocatedTable(train, tp, ep, precision, environment, first, second, asleep)
    return every.take(keep)
