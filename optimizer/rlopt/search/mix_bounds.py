"""What two pools of one kind can do together at best: bounds on mixes from their parts, and the pairs that stay.

Pairs are looked at in blocks of similar pools first: most blocks are out before any of their pairs is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rlopt.columns.side_pools import may_mix, pools_of, together
from rlopt.pools.run_points import quickest
from rlopt.problem import Floats, Ints, Mix, Pools, Seconds
from rlopt.search.could_win import CouldWin, Offered
from rlopt.table import Table
from rlopt.words import PoolRole

PAIRS = 200_000
BLOCK = 8


@dataclass(frozen=True, slots=True)
class Parts(Table):
    """What bounds a mix by its parts, shape (parts,). ``ends`` are seconds that a part takes whatever its share."""

    usd_per_hour: Floats
    environment_usd_per_hour: Floats
    committed_usd: Floats
    seconds: Floats
    confident_seconds: Floats
    ends: Floats
    confident_ends: Floats

    @staticmethod
    def of(pools: Pools, placement: int, least: Mix | None) -> Parts:
        """Of real pools; ``least`` where their seconds do not only follow the share."""
        ends = Seconds.zero(len(pools)) if least is None else least.times.at(placement)
        seconds = (*pools.times.at(placement).both, *ends.both)
        return Parts(pools.usd_per_hour, pools.environment_usd_per_hour, pools.committed_usd, *seconds)

    def blocks(self, size: int) -> Parts:
        """The least of every ``size`` neighbours."""
        starts = np.arange(0, len(self.seconds), size)
        return Parts(*(np.minimum.reduceat(getattr(self, name), starts) for name in self.__match_args__))

    def pairs(self, i: Ints, j: Ints) -> Offered:
        """What mixes cost and take at the least."""
        median = np.maximum(together(self.seconds[i], self.seconds[j]), np.maximum(self.ends[i], self.ends[j]))
        confident = np.maximum(
            together(self.confident_seconds[i], self.confident_seconds[j]),
            np.maximum(self.confident_ends[i], self.confident_ends[j]),
        )
        rate = self.usd_per_hour[i] + self.usd_per_hour[j]
        rate = rate + np.minimum(self.environment_usd_per_hour[i], self.environment_usd_per_hour[j])  # one serves both
        return Offered(rate, self.committed_usd[i] + self.committed_usd[j], Seconds(median, confident))


def likely_pairs(could_win: CouldWin, kind: PoolRole, rows: Ints, share: float) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of ``rows`` that could win by the bounds of their parts, some at a time.

    Where ``share`` of a mix must not be taken back, one of its pools is never reclaimed.
    """
    problem = could_win.problem
    pools = pools_of(problem, kind)
    rows = _alike_first(pools, rows, could_win.placement)
    mine = quickest(pools.take(rows))
    least = problem.estimates.mixed_least(mine.estimate) if kind == PoolRole.SAMPLE else None
    parts = Parts.of(mine, could_win.placement, least)
    blocks = parts.blocks(BLOCK)
    a, b = np.triu_indices(len(blocks))
    fine = could_win.which_offered(blocks.pairs(a, b))
    a, b = a[fine], b[fine]
    step = max(1, PAIRS // BLOCK**2)
    for start in range(0, len(a), step):
        i, j = _inside(a[start : start + step], b[start : start + step], len(rows))
        swapped = mine.offer[i] > mine.offer[j]
        i, j = np.where(swapped, j, i), np.where(swapped, i, j)
        fine = may_mix(problem, kind, rows[i], rows[j])
        if share > 0.0:
            fine &= ~(mine.spot[i] & mine.spot[j])
        i, j = i[fine], j[fine]
        quick = could_win.which_offered(parts.pairs(i, j))
        yield rows[i[quick]], rows[j[quick]]


def _alike_first(pools: Pools, rows: Ints, placement: int) -> Ints:
    """Rows in an order in which neighbours have similar rates and, among those, similar seconds."""
    rate, seconds = pools.usd_per_hour[rows], pools.times.at(placement).median[rows]
    order = np.argsort(rate, kind="stable")
    shelf = np.empty(len(rows), dtype=np.int64)
    shelf[order] = np.arange(len(rows)) // max(1, int(np.sqrt(len(rows) * BLOCK)))
    return rows[np.lexsort((seconds, shelf))]


def _inside(a: Ints, b: Ints, size: int) -> tuple[Ints, Ints]:
    """All pairs of rows in the pairs of blocks (a, b), each once."""
    within = np.arange(BLOCK)
    i = np.repeat(a * BLOCK, BLOCK**2) + np.tile(np.repeat(within, BLOCK), len(a))
    j = np.repeat(b * BLOCK, BLOCK**2) + np.tile(within, len(a) * BLOCK)
    fine = (i < size) & (j < size) & (i < j)
    return i[fine], j[fine]
