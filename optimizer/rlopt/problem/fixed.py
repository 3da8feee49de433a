"""What of a configuration is stated before anything is estimated: sizes, layouts and engines that alone are looked at.

A layout that is stated is estimated as it is, though another would be better or it does not fit at all: what it lacks
is then known (`closest`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates import Layout

Mask = Callable[[Layout, NDArray[np.int64]], NDArray[np.bool_]]
"""Which layouts are meant, by layout and the GPUs of their pool, shape (rows,)."""


@dataclass(frozen=True, slots=True)
class FixedSizes:
    """Everything empty or None: nothing is stated."""

    training_gpus: tuple[int, ...] = ()
    """GPUs of the pool that trains."""
    sampling_gpus: tuple[int, ...] = ()
    scoring_gpus: tuple[int, ...] = ()
    layouts: Mask | None = None
    """Of the pool that trains, recomputation and offload apart."""
    scorers: Mask | None = None
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
