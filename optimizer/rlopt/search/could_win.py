"""Whether pools can still matter beside the best that others offer: a bound on cost and hours against what is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Floats, Pools, Problem, Seconds, SidePools
from rlopt.search.bounds import Bounds
from rlopt.search.groups import Group
from rlopt.search.prune import Prune
from rlopt.search.staircase import Stairs
from rlopt.table import Table

MANY, STEPS = 300, 8
"""Pools for which a coarse look at the staircase comes first, and its steps."""


@dataclass(frozen=True, slots=True)
class Offered(Table):
    """What pools cost and take at the least, shape (pools,); ``committed_usd`` is what reserved offers bill."""

    usd_per_hour: Floats
    committed_usd: Floats
    seconds: Seconds

    @staticmethod
    def of(pools: Pools | SidePools, placement: int) -> Offered:
        """Of real pools."""
        return Offered(pools.rate, pools.committed_usd, pools.times.at(placement))


@dataclass(frozen=True, slots=True)
class CouldWin:
    """The test of pools in one group: with some step of the others' staircase they could be the answer.

    Every no is an exact argument: a relaxation of all columns that the pool could be in.
    """

    bounds: Bounds
    prune: Prune
    placement: int
    group: Group
    stairs: Stairs

    @property
    def problem(self) -> Problem:
        """What is searched."""
        return self.bounds.problem

    def beside(self, others: SidePools | None) -> CouldWin:
        """The same test with the least of other pools beside those of the staircase."""
        return replace(self, stairs=self.stairs.beside(others, self.placement))

    def coarse(self, steps: int) -> CouldWin:
        """A quicker test that lets through all that this one does."""
        return replace(self, stairs=self.stairs.coarse(steps))

    def which(self, pools: Pools | SidePools) -> NDArray[np.bool_]:
        """Which pools could win, shape (pools,)."""
        return self.which_offered(Offered.of(pools, self.placement))

    def stay(self, pools: Pools | SidePools) -> NDArray[np.bool_]:
        """The same; the others are counted as excluded."""
        fine = self.which(pools)
        self.prune.excluded["pools bounded by a known plan or a limit"] += int((~fine).sum())
        return fine

    def which_offered(self, offered: Offered) -> NDArray[np.bool_]:
        """The same from rates, bills and seconds alone."""
        if len(offered) <= MANY or len(self.stairs) <= 2 * STEPS:
            return self._each(offered)
        fine = np.zeros(len(offered), dtype=bool)  # a coarse look first: most fail it
        near = np.flatnonzero(self.coarse(STEPS).which_offered(offered))
        fine[near] = self._each(offered.take(near))
        return fine

    def _each(self, offered: Offered) -> NDArray[np.bool_]:
        fine, stairs = np.zeros(len(offered), dtype=bool), self.stairs
        least = self.bounds.committed(self.placement, self.group, offered.committed_usd)
        median, confident = offered.seconds.both
        for n in range(len(stairs)):  # one step at a time: pools are many, steps are few
            rest = np.flatnonzero(~fine)
            if not len(rest):
                break
            paid = offered.usd_per_hour[rest] + stairs.usd_per_hour[n]
            cost = self.bounds.cost(self.placement, self.group, paid, stairs.seconds[n], median[rest])
            hours = self.bounds.hours(self.placement, self.group, stairs.confident_seconds[n], confident[rest])
            fine[rest] = self.prune.keep(np.maximum(cost, least[rest]), hours, count=False)
        return fine
