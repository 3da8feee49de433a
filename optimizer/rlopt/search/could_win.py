"""Whether pools can still matter beside the best that others offer: a bound on cost and hours against what is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Floats, Pools, Problem, SidePools
from rlopt.search.bounds import Bounds, Group
from rlopt.search.prune import Prune, Stairs

MANY, STEPS = 300, 8
"""Pools for which a coarse look at the staircase comes first, and its steps."""


@dataclass(frozen=True, slots=True)
class CouldWin:
    """The test of one search. Every answer no is an exact argument: a relaxation of all that the pool could be in."""

    bounds: Bounds
    prune: Prune

    @property
    def problem(self) -> Problem:
        """What is searched."""
        return self.bounds.problem

    def of(self, placement: int, group: Group, pools: Pools | SidePools, stairs: Stairs) -> NDArray[np.bool_]:
        """Which pools could matter with some step of the staircase, shape (pools,)."""
        return self.could(placement, group, pools.rate, pools.committed_usd, pools.times.at(placement).both, stairs)

    def could(
        self,
        placement: int,
        group: Group,
        rate: Floats,
        committed: Floats,
        times: tuple[Floats, Floats],
        stairs: Stairs,
    ) -> NDArray[np.bool_]:
        """The same from rates, least bills of reserved offers, and median and confident seconds; shape (pools,)."""
        fine = np.zeros(len(rate), dtype=bool)
        if len(rate) > MANY and len(stairs.usd_per_hour) > 2 * STEPS:  # a coarse look first: most fail it
            near = np.flatnonzero(self.could(placement, group, rate, committed, times, stairs.coarse(STEPS)))
            some = (times[0][near], times[1][near])
            fine[near] = self._each(placement, group, rate[near], committed[near], some, stairs)
            return fine
        return self._each(placement, group, rate, committed, times, stairs)

    def _each(
        self,
        placement: int,
        group: Group,
        rate: Floats,
        committed: Floats,
        times: tuple[Floats, Floats],
        stairs: Stairs,
    ) -> NDArray[np.bool_]:
        fine = np.zeros(len(rate), dtype=bool)
        least = self.bounds.committed(placement, group, committed)
        for n in range(len(stairs.usd_per_hour)):  # one step at a time: pools are many, steps are few
            rest = np.flatnonzero(~fine)
            if not len(rest):
                break
            paid = rate[rest] + stairs.usd_per_hour[n]
            cost = self.bounds.cost(placement, group, paid, stairs.seconds[n], times[0][rest])
            hours = self.bounds.hours(placement, group, stairs.confident_seconds[n], times[1][rest])
            fine[rest] = self.prune.keep(np.maximum(cost, least[rest]), hours, count=False)
        return fine
