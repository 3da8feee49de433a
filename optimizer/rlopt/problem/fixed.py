"""What of a configuration is given, not searched: sizes, layouts and engines.

Some is stated before anything is estimated, and alone looked at (`FixedSizes`): a layout that is stated is estimated as
it is, though another would be better or it does not fit at all; what it lacks is then known (`closest`). Some is held
of the estimated rows (`Fixed`): which of those that fit may become pools at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rlopt.estimates import Layout
from rlopt.table import Bools, Ints
from rlopt.words import Sharding


@dataclass(frozen=True, slots=True)
class StatedLayout:
    """A layout as far as it is stated: columns of `Layout` by name, and its sharding, by code."""

    columns: Mapping[str, int]
    sharding: int | None = None

    def meant(self, layout: Layout, gpus: Ints) -> Bools:
        """Which layouts are the stated one, by layout and the GPUs of their pool, shape (rows,)."""
        kept = _alike(layout, self.columns)
        if self.sharding is None:
            return kept
        alone = _single(layout)
        if self.sharding == Sharding.DDP.code:
            return kept & alone
        meant_alone = alone & ((gpus == 1) | bool({"tp", "pp", "dp"} & set(self.columns)))
        return np.asarray(kept & (meant_alone | (~alone & (layout.sharding == self.sharding))))


@dataclass(frozen=True, slots=True)
class FixedSizes:
    """Everything empty or None: nothing is stated."""

    training_gpus: tuple[int, ...] = ()
    """GPUs of the pool that trains."""
    sampling_gpus: tuple[int, ...] = ()
    scoring_gpus: tuple[int, ...] = ()
    layouts: StatedLayout | None = None
    """Of the pool that trains, recomputation and offload apart."""
    scorers: StatedLayout | None = None
    recompute: int | None = None
    """Recomputation of the pool that trains, by its code."""
    engines: tuple[tuple[int | None, int | None], ...] = ()
    """(tp, ep) of rollout engines; None where one of the two is free."""

    def engine(self, tp: int, ep: int) -> bool:
        """Whether such an engine is meant."""
        return not self.engines or any(a in (None, tp) and b in (None, ep) for a, b in self.engines)


def stated_counts(stated: tuple[int, ...], gpus_per_node: int, most: int, grid: tuple[int, ...]) -> tuple[int, ...]:
    """Node counts to estimate: those of the stated GPUs, also where no search would look; ``grid`` where none are."""
    if not stated:
        return grid
    whole = {gpus // gpus_per_node for gpus in stated if gpus % gpus_per_node == 0}
    return tuple(sorted(count for count in whole if count <= most))


EVERYTHING: Final = FixedSizes()
"""Nothing is stated."""


@dataclass(frozen=True, slots=True)
class FixedTraining:
    """Estimated layouts that may train; what is None or empty is any."""

    gpus: tuple[int, int] | None = None
    """Least and most of a pool."""
    nodes: int | None = None
    layout: Mapping[str, int] = field(default_factory=dict)
    """Columns of `Layout` by name."""
    sharding: int | None = None

    def kept(self, layout: Layout, nodes: Ints, gpus: Ints) -> Ints:
        """Row numbers of these pools, of layouts by the nodes and GPUs of their pools."""
        found = _alike(layout, self.layout) & _within(self.gpus, gpus)
        if self.nodes is not None:
            found &= nodes == self.nodes
        if self.sharding is not None:
            found &= _single(layout) | (layout.sharding == self.sharding)
        return np.flatnonzero(found)


@dataclass(frozen=True, slots=True)
class FixedEngine:
    """A rollout engine, and how many nodes its pool has; None where that is free."""

    tp: int
    ep: int | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class FixedSampling:
    """Estimated engines that may sample on pools of their own."""

    gpus: tuple[int, int] | None = None
    engines: tuple[FixedEngine, ...] | None = None
    """None = any."""

    def kept(self, tp: Ints, ep: Ints, nodes: Ints, gpus: Ints) -> Ints:
        """Row numbers of these engines, by the nodes and GPUs of their pools."""
        found = _within(self.gpus, gpus)
        if self.engines is not None:
            known = np.zeros(len(tp), dtype=np.bool_)
            for one in self.engines:
                same = tp == one.tp
                for stated, values in ((one.ep, ep), (one.nodes, nodes)):
                    same = same if stated is None else same & (values == stated)
                known |= same
            found &= known
        return np.flatnonzero(found)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Part of a configuration that is given: what alone is estimated, and which estimated rows may become pools."""

    sizes: FixedSizes = EVERYTHING
    training: FixedTraining = FixedTraining()
    sampling: FixedSampling = FixedSampling()


def _alike(layout: Layout, columns: Mapping[str, int]) -> Bools:
    found = np.ones(len(layout), dtype=np.bool_)
    for name, value in columns.items():
        found &= getattr(layout, name) == value
    return found


def _single(layout: Layout) -> Bools:
    """Single ranks, which have no state to share."""
    return np.asarray(layout.dp * layout.cp == 1, dtype=np.bool_)


def _within(bounds: tuple[int, int] | None, gpus: Ints) -> Bools:
    if bounds is None:
        return np.ones(len(gpus), dtype=np.bool_)
    return np.asarray((gpus >= bounds[0]) & (gpus <= bounds[1]), dtype=np.bool_)
