"""Layouts with degrees that a launcher does not know: their GPUs become data-parallel ranks that shard fully."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rlopt.launchers.exports.contract import Gap
from rlopt.launchers.exports.run import Run

DEGREES: Final = ("tp", "pp", "cp", "ep")


def merges(run: Run, kept: Sequence[str]) -> bool:
    """Whether the plan has a degree above 1 that is not among those kept."""
    return any(run.degree(name) > 1 for name in DEGREES if name not in kept)


def merged_gaps(run: Run, kept: Sequence[str]) -> list[Gap]:
    """The gap that such a layout is; none where the launcher knows all of it."""
    lost = [f"{name} {run.degree(name)}" for name in DEGREES if name not in kept and run.degree(name) > 1]
    if not lost:
        return []
    do = "everything is sharded over all GPUs instead (zero3): another plan; verl and nemo-rl know these degrees"
    return [Gap(f"a layout with {', '.join(lost)}", do, True)]
