"""Seconds of pools in one step: median and confident, in step and asynchronous, and over a run that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rlopt.table import Floats, Table
from rlopt.words import ASYNC


@dataclass(frozen=True, slots=True)
class Seconds(Table):
    """Seconds of pools, shape (rows,), or (rows, points) at each point of a run."""

    median: Floats
    confident: Floats
    """With every stage at the request's confidence quantile: errors of stages are fully correlated."""

    @staticmethod
    def zero(rows: int) -> Seconds:
        """Pools that take no time."""
        none = np.zeros(rows)
        return Seconds(none, none)

    @staticmethod
    def banded(median: Floats, band: Floats) -> Seconds:
        """Confident seconds are ``band`` times the median, shape (rows,)."""
        return Seconds(median, median * (band if median.ndim == 1 else band[:, None]))

    @property
    def both(self) -> tuple[Floats, Floats]:
        """Median and confident seconds."""
        return self.median, self.confident

    def with_other(self, other: Seconds, put_together: Callable[[Floats, Floats], Floats]) -> Seconds:
        """Those of these pools and others together, median with median and confident with confident."""
        return Seconds(put_together(self.median, other.median), put_together(self.confident, other.confident))


@dataclass(frozen=True, slots=True)
class Growth(Table):
    """Seconds at each point of a run whose lengths change (`pools.run_points`), shape (rows, points)."""

    in_step: Floats
    asynchronous: Seconds


@dataclass(frozen=True, slots=True)
class Times(Table):
    """Seconds of one step where pools wait for each other, and where they run asynchronously, shape (rows,).

    Averages over the run where lengths change.
    """

    in_step: Seconds
    asynchronous: Seconds
    """Nothing waits for the longest response."""
    growth: Growth | None = None
    """None where no length changes."""

    @staticmethod
    def same(seconds: Seconds, growth: Growth | None = None) -> Times:
        """Of pools that take as long either way."""
        return Times(seconds, seconds, growth)

    def at(self, placement: int) -> Seconds:
        """Those of a placement."""
        return self.asynchronous if placement == ASYNC else self.in_step


@dataclass(frozen=True, slots=True)
class Mix(Table):
    """Two pools of one kind that share the samples out, shape (pairs,).

    ``split`` and ``async_split`` are the shares that the first takes, in step and asynchronously.
    """

    split: Floats
    async_split: Floats
    times: Times
