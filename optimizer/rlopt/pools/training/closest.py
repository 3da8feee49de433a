"""How far the closest training layout is from fitting, where none fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlopt.pools.context import Context
from rlopt.pools.training.memory import TrainingMemory
from rlopt.problem import Floats, Ints
from rlopt.problem.detail import Nearest

if TYPE_CHECKING:
    from rlopt.pools.training.table import TrainingTable


def closest(
    context: Context,
    memories: Sequence[TrainingMemory],
    capacity: Floats,
    free: Floats,
    index: Ints,
    topology: Ints,
    nodes: Ints,
) -> Nearest:
    """The row that comes closest to its device's memory, at its fullest stage.

    ``free`` has shape (recomputations, rows); ``index`` gives each row's layout.
    """
    recompute, row = np.unravel_index(int(np.argmax(free)), free.shape)
    at, machine = int(index[row]), context.market.topologies[int(topology[row])]
    fullest = max(memories[int(recompute)].stages, key=lambda stage: float(stage.total()[at]))
    parts = {name: float(values[at]) for name, values in fullest.parts.items()}
    part = max(parts, key=parts.__getitem__)
    gpus = machine.gpus_per_node * int(nodes[row])
    return Nearest(
        float(fullest.total()[at]), float(capacity[row]), fullest.stage, part, parts[part], gpus, machine.device
    )


def closest_of(tables: Sequence[TrainingTable]) -> Nearest | None:
    """The closest layout of all tables; None where a layout of any of them fits."""
    known = [table.nearest for table in tables if table.nearest is not None]
    if not known or len(known) < len(tables):
        return None
    return min(known, key=lambda nearest: nearest.missing_gib)
