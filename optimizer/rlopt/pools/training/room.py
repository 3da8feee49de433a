"""Which training candidates fit their device, with the least recomputation that does; the closest where none fits.

Memory does not depend on the machine, so it is computed once per layout and compared with each device's capacity. More
recomputation only adds time. Where the pool may sample as well, the least that fits beside a sleeping engine is kept
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Layout, host_gib
from rlopt.estimates.training.states import frozen_host_gib
from rlopt.pools.context import Context, margins
from rlopt.pools.training.candidates import Candidates
from rlopt.pools.training.memory import TrainingMemory, role_layout, training_memory, with_choices
from rlopt.problem import Floats, Ints
from rlopt.problem.detail import Nearest
from rlopt.table import Table
from rlopt.words import Recompute

RECOMPUTES: tuple[int, ...] = tuple(word.code for word in Recompute)


@dataclass(frozen=True, slots=True)
class FittingLayouts(Table):
    """Candidates that fit, shape (rows,) each; one may stand twice, with more recomputation and more room."""

    candidate: Ints
    """Row among the candidates."""
    offload: Ints
    recompute: Ints
    resident_gib: Floats
    """Training state that stays on the GPU while a colocated engine samples."""
    headroom_gib: Floats
    """Memory of a GPU that training leaves free at its peak, margin apart."""


@dataclass(frozen=True, slots=True)
class Room:
    """What fits of one set of candidates and precisions."""

    rows: FittingLayouts
    fitting: int
    """Candidates and offloads that fit."""
    nearest: Nearest | None
    """The one that comes closest; None where one fits."""


@dataclass(frozen=True, slots=True)
class _Free:
    """Memory that one offload leaves: by recomputation for the distinct layouts, GiB free for the candidates."""

    memories: Sequence[TrainingMemory]
    gib: Floats
    """Shape (recomputations, candidates)."""


def room(
    context: Context, distinct: Layout, every: Candidates, offloads: Sequence[int], precisions: tuple[str, str]
) -> Room:
    """What fits of the candidates; ``precisions`` of updates and of scoring."""
    stated = context.only.recompute
    recomputes = RECOMPUTES if stated is None else (stated,)
    capacity = context.hardware.memory_gib[every.topology] * (1.0 - margins(context, distinct)[every.layout])
    found, misses, fitting = list[FittingLayouts](), list[Nearest](), 0
    for offload in offloads:
        ways = [with_choices(distinct, recompute, offload) for recompute in recomputes]
        memories = [training_memory(context, way, *precisions) for way in ways]
        free = _Free(memories, np.stack([capacity - memory.peak()[every.layout] for memory in memories]))
        fits = (free.gib >= 0.0).any(axis=0)
        fitting += int(fits.sum())
        if not fits.any():
            misses.append(_closest(context, every, free, capacity))
        found += _least(context, every, free, offload, recomputes)
    nearest = None if fitting or not misses else min(misses, key=lambda miss: miss.missing_gib)
    return Room(FittingLayouts.join(found), fitting, nearest)


def _least(
    context: Context, every: Candidates, free: _Free, offload: int, recomputes: Sequence[int]
) -> Iterator[FittingLayouts]:
    """Candidates with the least recomputation that fits, and those that need more of it beside a sleeping engine."""
    resident = free.memories[0].resident
    stays = resident["weights"] + resident["optimizer"]
    alone, beside = (free.gib >= kept for kept in (0.0, context.asleep_gib))
    first, second = np.argmax(alone, axis=0), np.argmax(beside, axis=0)
    for rows, least in ((alone.any(axis=0), first), (beside.any(axis=0) & (second != first), second)):
        at = np.flatnonzero(rows)
        yield FittingLayouts(
            at,
            np.full(len(at), offload),
            np.array(recomputes)[least[at]],
            stays[every.layout[at]],
            free.gib[least[at], at],
        )


def _closest(context: Context, every: Candidates, free: _Free, capacity: Floats) -> Nearest:
    """The candidate that comes closest to its device's memory, at its fullest stage."""
    recompute, row = np.unravel_index(int(np.argmax(free.gib)), free.gib.shape)
    at, machine = int(every.layout[row]), context.market.topologies[int(every.topology[row])]
    fullest = max(free.memories[int(recompute)].stages, key=lambda stage: float(stage.total()[at]))
    parts = {name: float(values[at]) for name, values in fullest.parts.items()}
    part = max(parts, key=parts.__getitem__)
    gpus = machine.gpus_per_node * int(every.nodes[row])
    return Nearest(
        float(fullest.total()[at]), float(capacity[row]), fullest.stage, part, parts[part], gpus, machine.device
    )


def closest_of(found: Sequence[Nearest | None]) -> Nearest | None:
    """The closest of all sets of candidates; None where one of any of them fits."""
    known = [nearest for nearest in found if nearest is not None]
    if not known or len(known) < len(found):
        return None
    return min(known, key=lambda nearest: nearest.missing_gib)


def offloaded_gib(context: Context, layout: Layout, topology: Ints, score_precision: str) -> Floats:
    """Host memory per node that the offload of layouts takes, frozen models' weights among it; (rows,)."""
    hardware, found = context.hardware.take(topology), np.zeros(len(layout))
    for name, training in context.trainings.items():
        found += host_gib(context.shapes[name], training, layout, hardware, context.calibration)
    for role in context.workload.roles:
        if not role.trained and role.weights:
            own, held = role_layout(context, role.name, layout), context.held(score_precision)
            found += frozen_host_gib(context.shapes[role.name], own, hardware, context.calibration, held)
    return found
