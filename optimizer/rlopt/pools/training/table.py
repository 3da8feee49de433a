"""Training candidates: every layout of every machine kind and node count that fits, with the seconds of its stages.

Memory does not depend on the machine, so it is computed once per layout and compared with each device's capacity.
Per layout and offload the least recomputation that fits is kept: more of it only adds time. Where the pool may sample
as well, the least that fits beside a sleeping engine is kept too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import gcd

import numpy as np

from rlopt.estimates import Hardware, Layout, host_gib
from rlopt.estimates.loop.run_average import averaged
from rlopt.estimates.training.states import frozen_host_gib
from rlopt.pools.context import Context, margins
from rlopt.pools.layouts import LayoutSpace, layouts, node_counts
from rlopt.pools.run_points import at_points
from rlopt.pools.training.closest import closest
from rlopt.pools.training.memory import TrainingMemory, role_layout, training_memory, with_choices
from rlopt.pools.training.seconds import forward_times, stage_seconds, update_times
from rlopt.problem import Floats, Ints
from rlopt.problem.detail import Nearest
from rlopt.problem.fixed import stated_counts
from rlopt.table import Table
from rlopt.words import Recompute, StageKind

CHUNK = 16_384
RECOMPUTES = tuple(recompute.code for recompute in Recompute)


@dataclass(frozen=True, slots=True)
class TrainingTable(Table):
    """Rows that fit, shape (rows,). ``seconds`` by (group size, update precision): all stages of training, one step."""

    topology: Ints
    nodes: Ints
    layout: Layout
    resident_gib: Floats
    """Training state that stays on the GPU while a colocated engine samples."""
    headroom_gib: Floats
    """Memory of a GPU that training leaves free at its peak, margin apart."""
    host_gib: Floats
    """Host memory per node that offload takes."""
    seconds: Mapping[tuple[int, str], Floats]
    tried: int
    """Layouts that were estimated, fitting or not."""
    misfits: int
    unknown: int
    """Rows left out because the device's peak at a precision is not known."""
    score_precision: str
    update_precision: str
    """Memory differs by precision, so a table is of one of each."""
    nearest: Nearest | None = None
    """The layout that comes closest to fitting; None where one fits."""
    points: Mapping[tuple[int, str], Floats] = field(default_factory=dict)
    """Seconds at each point of the run, shape (rows, points); one point where no length changes."""


def node_options(context: Context) -> list[tuple[int, ...]]:
    """Node counts per topology: a training pool spans nodes only where a cluster network is known."""
    market, found = context.market, []
    for number, topology in enumerate(market.topologies):
        here = market.topology == number
        most = int(min(market.max_nodes[here].max(initial=0), context.gpu_limit // topology.gpus_per_node))
        most = most if topology.cluster else min(most, 1)
        found.append(stated_counts(context.only.training_gpus, topology.gpus_per_node, most, node_counts(most)))
    return found


def _space(context: Context) -> LayoutSpace:
    """Bounds on the layouts: the shapes of all models that share them, and the sequences of the largest step.

    Degrees of tensor and expert parallelism divide what every model has. Where the policy has no experts, those of a
    frozen model are split over tensor parallelism (`role_layout`).
    """
    stages = context.workload.of_kind(StageKind.TRAIN)
    longest = max(context.tokens(stage).longest for stage in stages)
    sequences = max(context.sequences(stage, size) / stage.updates for stage in stages for size in context.sizes)
    policy, models = context.workload.role("policy").model, [role.model for role in context.workload.roles]
    experts = gcd(*(model.experts for model in models if model.experts)) if policy.experts else 0
    bounds = LayoutSpace.of(policy, longest, sequences)
    return replace(bounds, heads=gcd(*(model.heads for model in models)), experts=experts)


def _groups(context: Context) -> tuple[Layout, dict[tuple[int, int], slice]]:
    """All layouts of every (GPUs per node, nodes), one after another, and where each group stands."""
    space, parts, where, at = _space(context), [], {}, 0
    for topology, counts in zip(context.market.topologies, node_options(context), strict=True):
        for nodes in counts:
            key = (topology.gpus_per_node, nodes)
            if key not in where:
                part = layouts(key[0] * nodes, key[0], space)
                where[key] = slice(at, at + len(part.tp))
                at += len(part.tp)
                parts.append(part)
    return Layout.join(parts), where


def known_layouts(context: Context) -> Layout | None:
    """Every layout of the sizes in question, whether it is meant and fits or not; None without any."""
    return _groups(context)[0] if any(node_options(context)) else None


def training_table(
    context: Context, offloads: tuple[int, ...], score_precision: str, update_precision: str = "bf16"
) -> TrainingTable | None:
    """Every training candidate that fits at its precisions; None where there is no topology at all."""
    if not any(node_options(context)):
        return None
    table, where = _groups(context)
    rows, topology, nodes = [], [], []
    for number, (kind, counts) in enumerate(zip(context.market.topologies, node_options(context), strict=True)):
        for count in counts:
            part = where[(kind.gpus_per_node, count)]
            rows.append(np.arange(part.start, part.stop))
            topology.append(np.full(part.stop - part.start, number))
            nodes.append(np.full(part.stop - part.start, count))
    index, topology_of, nodes_of = _meant(
        context, table, np.concatenate(rows), np.concatenate(topology), np.concatenate(nodes)
    )
    if not len(index):
        return None
    capacity = context.hardware.memory_gib[topology_of] * (1.0 - margins(context, table)[index])
    asleep, recomputes = context.asleep_gib, RECOMPUTES
    if context.only.recompute is not None:
        recomputes = (context.only.recompute,)
    chosen: list[tuple[np.ndarray, int, np.ndarray, Floats]] = []
    fitting = 0
    residents: dict[int, Floats] = {}
    misses: list[Nearest] = []
    for offload in offloads:
        memories = [
            _memory(context, table, recompute, offload, update_precision, score_precision) for recompute in recomputes
        ]
        resident = memories[0].resident
        residents[offload] = resident["weights"] + resident["optimizer"]
        free = np.stack([capacity - memory.peak()[index] for memory in memories])
        least = [np.argmax(free >= kept, axis=0) for kept in (0.0, asleep)]
        fits, beside = ((free >= kept).any(axis=0) for kept in (0.0, asleep))
        fitting += int(fits.sum())
        if not fits.any():
            misses.append(closest(context, memories, capacity, free, index, topology_of, nodes_of))
        for rows_, first in ((fits, least[0]), (beside & (least[1] != least[0]), least[1])):
            at = np.flatnonzero(rows_)
            chosen.append((at, offload, first[at], free[first[at], at]))
    pick, headroom = (np.concatenate([part[n] for part in chosen]) for n in (0, 3))
    offload_of = np.concatenate([np.full(len(part[0]), part[1]) for part in chosen])
    recompute_of = np.array(recomputes)[np.concatenate([part[2] for part in chosen])]
    layout = replace(table.take(index[pick]), recompute=recompute_of, offload=offload_of)
    resident_gib = np.zeros(len(pick))
    for code, values in residents.items():
        resident_gib[offload_of == code] = values[index[pick[offload_of == code]]]
    tried = len(index) * len(offloads)
    result = TrainingTable(
        topology_of[pick],
        nodes_of[pick],
        layout,
        resident_gib,
        headroom,
        np.zeros(len(pick)),
        {},
        tried,
        tried - fitting,
        0,
        score_precision,
        update_precision,
    )
    hardware = context.hardware.take(result.topology)
    host = np.zeros(len(pick))
    for name, training in context.trainings.items():
        host += host_gib(context.shapes[name], training, layout, hardware, context.calibration)
    for role in context.workload.roles:
        if not role.trained and role.weights:
            own, held = role_layout(context, role.name, layout), context.held(score_precision)
            host += frozen_host_gib(context.shapes[role.name], own, hardware, context.calibration, held)
    points = {
        (size, update_precision): _seconds(context, result, hardware, size, update_precision) for size in context.sizes
    }
    seconds = {key: averaged(values) for key, values in points.items()}
    unknown = sum(int(np.isinf(values).sum()) for values in seconds.values())
    return TrainingTable(
        result.topology,
        result.nodes,
        layout,
        resident_gib,
        headroom,
        host,
        seconds,
        tried,
        result.misfits,
        unknown,
        score_precision,
        update_precision,
        None if fitting or not misses else min(misses, key=lambda miss: miss.missing_gib),
        points,
    )


def _meant(context: Context, table: Layout, index: Ints, topology: Ints, nodes: Ints) -> tuple[Ints, Ints, Ints]:
    """The rows of the layouts that are meant: all where none is stated."""
    if context.only.layouts is None:
        return index, topology, nodes
    gpus = np.asarray(nodes * context.hardware.gpus_per_node[topology], dtype=np.int64)
    meant = context.only.layouts(table.take(index), gpus)
    return index[meant], topology[meant], nodes[meant]


def _memory(
    context: Context, layout: Layout, recompute: int, offload: int, update_precision: str, score_precision: str
) -> TrainingMemory:
    return training_memory(
        context, with_choices(layout, recompute, offload), context.hardware, update_precision, score_precision
    )


def once_seconds(context: Context, table: TrainingTable, precision: str) -> Floats:
    """Seconds of what a variant runs before its first step, outside the sampling loop; shape (rows,)."""
    total = np.zeros(len(table))
    hardware, alone = context.hardware.take(table.topology), replace(context, in_loop=False)
    for stage in context.once:
        if stage.kind == StageKind.TRAIN:
            total += update_times(alone, hardware, table.layout, stage, context.once_sequences, precision)
            continue
        scored = precision if stage.role in context.trainings else table.score_precision
        once = forward_times(alone, hardware, table.layout, stage, context.once_sequences, scored)
        total += stage.epochs * once
    return total


def _seconds(context: Context, table: TrainingTable, hardware: Hardware, size: int, precision: str) -> Floats:
    """Seconds of one step at each point of the run, shape (rows, points)."""
    run = at_points(context)
    total = np.zeros((len(table), len(run)))
    for start in range(0, len(table), CHUNK):
        part = slice(start, start + CHUNK)
        machines, layout = hardware.take(part), table.layout.take(part)
        for point, here in enumerate(run):
            stages = stage_seconds(here, machines, layout, size, precision, table.score_precision)
            total[part, point] = np.sum([seconds for _, _, seconds in stages], axis=0)
    return np.where(np.isnan(total), np.inf, total)  # an unknown peak: the candidate cannot be judged, so it is out
