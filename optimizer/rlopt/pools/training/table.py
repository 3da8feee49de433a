"""Tables of pools that train: the candidates that fit, with the seconds of their stages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rlopt.estimates import Layout
from rlopt.estimates.loop.run_average import averaged
from rlopt.pools.context import Context, context_of
from rlopt.pools.run_points import at_points
from rlopt.pools.training.candidates import candidates
from rlopt.pools.training.room import offloaded_gib, room
from rlopt.pools.training.seconds import forward_times, stage_seconds, update_times
from rlopt.problem import Floats, Ints
from rlopt.problem.detail import Nearest
from rlopt.table import Table
from rlopt.words import PARAMETERS_OFF, StageKind
from rlopt.workloads.variants import Variant

CHUNK = 16_384


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


def training_tables(
    context: Context, variants: Sequence[Variant]
) -> tuple[list[tuple[Context, TrainingTable]], list[list[int]]]:
    """Tables of every structure, scoring and update precision, and which of them serve each variant.

    A variant whose models score elsewhere has them neither in memory nor in time; structures met twice are estimated
    once, and stand twice where what samples on the same pool differs.
    """
    tables = list[tuple[Context, TrainingTable]]()
    known: dict[Hashable, list[TrainingTable]] = {}
    serving: dict[Hashable, list[int]] = {}
    found = []
    for variant in variants:
        here = context_of(context, variant.training, variant)
        key = (variant.structure_key, variant.once, variant.once_sequences, variant.kernels)
        if key not in known:
            known[key] = _of_every_precision(here)
        at = (key, variant.sampler)
        if at not in serving:
            serving[at] = list(range(len(tables), len(tables) + len(known[key])))
            tables += [(here, table) for table in known[key]]
        found.append(serving[at])
    return tables, found


def _of_every_precision(context: Context) -> list[TrainingTable]:
    """Tables by scoring and update precision; what swaps with an engine alone may move parameters off the GPUs."""
    offloads = context.offloads if context.in_loop else tuple(o for o in context.offloads if o < PARAMETERS_OFF)
    precision = context.request.choices.precision
    scores = precision.score if context.scores_frozen else ("bf16",)
    ways = [(score, update) for score in scores for update in precision.update]
    return [table for way in ways if (table := training_table(context, offloads, *way)) is not None]


def training_table(
    context: Context, offloads: tuple[int, ...], score_precision: str, update_precision: str = "bf16"
) -> TrainingTable | None:
    """Every training candidate that fits at its precisions; None where there is no topology at all."""
    known = candidates(context)
    if known is None:
        return None
    distinct, every = known
    found = room(context, distinct, every, offloads, (update_precision, score_precision))
    rows, picked = found.rows, every.take(found.rows.candidate)
    layout = replace(distinct.take(picked.layout), recompute=rows.recompute, offload=rows.offload)
    tried = len(every) * len(offloads)
    table = TrainingTable(
        topology=picked.topology,
        nodes=picked.nodes,
        layout=layout,
        resident_gib=rows.resident_gib,
        headroom_gib=rows.headroom_gib,
        host_gib=offloaded_gib(context, layout, picked.topology, score_precision),
        seconds={},
        tried=tried,
        misfits=tried - found.fitting,
        unknown=0,
        score_precision=score_precision,
        update_precision=update_precision,
        nearest=found.nearest,
    )
    points = {(size, update_precision): _seconds(context, table, size) for size in context.sizes}
    seconds = {key: averaged(values) for key, values in points.items()}
    unknown = sum(int(np.isinf(values).sum()) for values in seconds.values())
    return replace(table, seconds=seconds, points=points, unknown=unknown)


def _seconds(context: Context, table: TrainingTable, size: int) -> Floats:
    """Seconds of one step at each point of the run, shape (rows, points)."""
    run, hardware = at_points(context), context.hardware.take(table.topology)
    precisions = table.update_precision, table.score_precision
    total = np.zeros((len(table), len(run)))
    for start in range(0, len(table), CHUNK):
        part = slice(start, start + CHUNK)
        machines, layout = hardware.take(part), table.layout.take(part)
        for point, here in enumerate(run):
            stages = stage_seconds(here, machines, layout, size, *precisions)
            total[part, point] = np.sum([seconds for _, _, seconds in stages], axis=0)
    return np.where(np.isnan(total), np.inf, total)  # an unknown peak: the candidate cannot be judged, so it is out


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
