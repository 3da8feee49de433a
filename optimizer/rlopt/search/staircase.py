"""Staircases: points that no other beats in two things at once, and virtual pools that bound a set of real ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Floats, Pools, SidePools
from rlopt.table import Table
from rlopt.words import ASYNC


def pareto_index(first: Floats, second: Floats) -> NDArray[np.int64]:
    """Indices of the points that no other beats in both, by ``first`` ascending."""
    order = np.lexsort((second, first))
    values = second[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(values)[:-1]]) if len(values) else values
    return np.asarray(order[values < before], dtype=np.int64)


def staircase(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Points not dominated in (first, second), by first ascending and second strictly descending."""
    chosen = pareto_index(first, second)
    return first[chosen], second[chosen]


@dataclass(frozen=True, slots=True)
class Stairs(Table):
    """Virtual pools that bound a set of real ones: at each rate the least seconds of any pool no dearer.

    For every real pool some step is no dearer, no slower in the median and no slower at the confidence quantile.
    """

    usd_per_hour: Floats
    seconds: Floats
    confident_seconds: Floats

    @staticmethod
    def of(usd_per_hour: Floats, seconds: Floats, confident_seconds: Floats) -> Stairs:
        """Steps of the given pools, shape (steps,) each."""
        order = np.argsort(usd_per_hour, kind="stable")
        least = np.minimum.accumulate(seconds[order])
        confident = np.minimum.accumulate(confident_seconds[order])
        new = np.ones(len(order), dtype=bool)
        new[1:] = (least[1:] < least[:-1]) | (confident[1:] < confident[:-1])
        return Stairs(usd_per_hour[order][new], least[new], confident[new])

    @staticmethod
    def of_pools(pools: Pools | SidePools, placement: int) -> Stairs:
        """Steps of real pools."""
        return Stairs.of(pools.rate, *pools.times.at(placement).both)

    def beside(self, others: SidePools | None, placement: int) -> Stairs:
        """The same with the least of other pools added: the cheapest and the quickest of them, if there are any."""
        if others is None or not len(others):
            return self
        found = replace(self, usd_per_hour=self.usd_per_hour + float(others.rate.min()))
        if placement == ASYNC:  # side by side: the others may be the quicker ones
            return found
        seconds, confident = (float(part.min()) for part in others.times.at(placement).both)
        return Stairs(found.usd_per_hour, self.seconds + seconds, self.confident_seconds + confident)

    def coarse(self, steps: int) -> Stairs:
        """At most ``steps`` steps that bound what these do: neighbours share the least rate and the least seconds."""
        if len(self.usd_per_hour) <= steps:
            return self
        start = np.linspace(0, len(self.usd_per_hour), steps, endpoint=False).astype(np.int64)
        least = [np.minimum.reduceat(part, start) for part in (self.usd_per_hour, self.seconds, self.confident_seconds)]
        return Stairs(*least)
