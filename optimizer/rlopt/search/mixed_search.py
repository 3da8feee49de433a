"""Pools mixed of two offers, and rollout with scoring pools, as far as a bound lets them matter.

Every test is a relaxation of what comes after it: a part must matter with the best other part there is, a pair with
its least seconds, and only what is left is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.side_pools import alone, every_pair, may_mix, mixed, pools_of, together, with_scoring
from rlopt.pools.run_points import quickest
from rlopt.problem import Floats, Ints, Mix, Pools, Seconds, SidePools
from rlopt.search.bounds import Group
from rlopt.search.could_win import CouldWin
from rlopt.search.prune import Stairs
from rlopt.table import groups
from rlopt.words import ASYNC, PoolRole

PAIRS = 200_000
BLOCK = 8
STEPS, STRIDE = 8, 6
"""Steps of a coarse look at a staircase; parts into which the others are cut for an exact one."""
INTERVAL = 1.1
"""Ratio of the ends of an interval of seconds."""


@dataclass(frozen=True, slots=True)
class MixedSearch:
    """One search's mixing. ``share``: the part of a mixed pool's throughput that must not be taken back."""

    could_win: CouldWin
    thin: Callable[[SidePools], SidePools]
    """Leaves out pools that another beats in everything; all of one group."""
    share: float = 0.0
    over: Callable[[], bool] = lambda: False
    """Whether time is up."""

    def supports(self, placement: int, group: Group, train: Ints, rollout: Ints, score: Ints | None) -> SidePools:
        """Everything that may stand beside the training pools of a group and is mixed somewhere."""
        problem = self.could_win.problem
        trained = problem.training.take(train)
        stairs = Stairs.of(trained.rate, *trained.times.at(placement).both)
        single = alone(problem, PoolRole.SAMPLE, rollout)
        scored = None if score is None else alone(problem, PoolRole.SCORE, score)
        pairs = self._pairs(placement, group, PoolRole.SAMPLE, rollout, self._with(placement, stairs, scored))
        if scored is None or score is None:
            return pairs
        both = self.thin(self._pairs(placement, group, PoolRole.SCORE, score, self._with(placement, stairs, single)))
        single, scored, pairs = self.thin(single), self.thin(scored), self.thin(pairs)
        return SidePools.join(
            [
                self.product(placement, group, pairs, scored, stairs),
                self.product(placement, group, single, both, stairs),
            ]
        )

    def product(self, placement: int, group: Group, rollout: SidePools, score: SidePools, stairs: Stairs) -> SidePools:
        """Rollout pools with scoring pools beside them, those left out that cannot matter with any training pool."""
        problem = self.could_win.problem
        found = [with_scoring(problem, rollout.take(slice(0)), score.take(slice(0)))]
        if not len(rollout) or not len(score):
            return found[0]
        rollout = rollout.take(self.could_win.of(placement, group, rollout, self._with(placement, stairs, score)))
        score = score.take(self.could_win.of(placement, group, score, self._with(placement, stairs, rollout)))
        if not len(rollout) or not len(score):
            return found[0]
        step = max(1, PAIRS // len(score))
        for start in range(0, len(rollout), step):
            if self.over():
                break
            pairs = every_pair(problem, rollout.take(slice(start, start + step)), score)
            pairs = pairs.take(pairs.gpus < problem.gpu_limit)
            found.append(pairs.take(self.could_win.of(placement, group, pairs, stairs)))
        return SidePools.join(found)

    def _with(self, placement: int, stairs: Stairs, other: SidePools | None) -> Stairs:
        """The training pools' steps with the least of another part beside them."""
        if other is None or not len(other):
            return stairs
        seconds, confident = other.times.at(placement).both
        if placement == ASYNC:  # side by side: the other may be the quicker one
            seconds, confident = np.zeros(1), np.zeros(1)
        return Stairs(
            stairs.usd_per_hour + float(other.rate.min()),
            stairs.seconds + float(seconds.min()),
            stairs.confident_seconds + float(confident.min()),
        )

    def _pairs(self, placement: int, group: Group, kind: PoolRole, rows: Ints, stairs: Stairs) -> SidePools:
        """Mixed pools of one kind that could matter, with their own seconds; one environment and precision each."""
        pools = pools_of(self.could_win.problem, kind)
        alike = [rows[at] for at in groups(pools.environment[rows], pools.precision[rows]).values()]
        found = [mixed(self.could_win.problem, kind, rows[:0], rows[:0])]
        return SidePools.join(found + [self._alike(placement, group, kind, some, stairs) for some in alike])

    def _alike(self, placement: int, group: Group, kind: PoolRole, rows: Ints, stairs: Stairs) -> SidePools:
        problem = self.could_win.problem
        pools = pools_of(problem, kind)
        hope = len(rows) > 1 and self._hope(placement, group, quickest(pools.take(rows)), stairs)
        rows = self._parts(placement, group, kind, rows, stairs) if hope else rows[:0]
        found = [mixed(problem, kind, rows[:0], rows[:0])]
        if not len(rows):
            return found[0]
        for i, j in self._likely(placement, group, kind, rows, stairs):
            if self.over():
                break
            least = mixed(problem, kind, i, j, bound=True)
            fine = self.could_win.of(placement, group, least, stairs)
            exact = mixed(problem, kind, i[fine], j[fine])
            stay = np.isfinite(exact.times.in_step.median) & self.could_win.of(placement, group, exact, stairs)
            if self.share > 0.0:
                thin = exact.shares(placement)[1] < self.share - 1e-9
                self.could_win.prune.excluded["floors.on_demand_share"] += int((stay & thin).sum())
                stay &= ~thin
            found.append(exact.take(stay))
        return SidePools.join(found)

    def _likely(
        self, placement: int, group: Group, kind: PoolRole, rows: Ints, stairs: Stairs
    ) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of rows that a first bound lets matter: blocks of similar pools first, then the pairs in them."""
        problem = self.could_win.problem
        pools = pools_of(problem, kind)
        rows = _alike_first(pools, rows, placement)
        mine = quickest(pools.take(rows))
        least = problem.estimates.mixed_least(mine.estimate) if kind == PoolRole.SAMPLE else None
        parts = _Parts.of(mine, placement, least)
        blocks = parts.blocks(BLOCK)
        a, b = np.triu_indices(len(blocks.usd_per_hour))
        fine = self.could_win.could(placement, group, *blocks.pairs(a, b), stairs)
        a, b = a[fine], b[fine]
        step = max(1, PAIRS // BLOCK**2)
        for start in range(0, len(a), step):
            i, j = _inside(a[start : start + step], b[start : start + step], len(rows))
            swapped = mine.offer[i] > mine.offer[j]
            i, j = np.where(swapped, j, i), np.where(swapped, i, j)
            fine = may_mix(problem, kind, rows[i], rows[j])
            if self.share > 0.0:
                fine &= ~(mine.spot[i] & mine.spot[j])
            i, j = i[fine], j[fine]
            quick = self.could_win.could(placement, group, *parts.pairs(i, j), stairs)
            yield rows[i[quick]], rows[j[quick]]

    def _hope(self, placement: int, group: Group, pools: Pools, stairs: Stairs) -> bool:
        """Whether any mix at all could matter: none costs less per sample than the cheapest pool does.

        A mix that takes t seconds pays at least k / t an hour, with k the least of rate · seconds over the pools.
        Seconds are looked at in intervals: the rate at an interval's end with the seconds at its start.
        """
        seconds, confident = pools.times.at(placement).both
        usable = np.isfinite(seconds)
        if not usable.any():
            return False
        seconds, confident, paid = seconds[usable], confident[usable], pools.usd_per_hour[usable]
        count = int(np.log(max(2.0 * seconds.max() / seconds.min(), 2.0)) / np.log(INTERVAL)) + 2
        start = seconds.min() / 2.0 * INTERVAL ** np.arange(count)
        rate = np.maximum(float((paid * seconds).min()) / (start * INTERVAL), 2.0 * paid.min())
        late = start * float((confident / seconds).min())
        total = rate[:, None] + stairs.usd_per_hour
        cost = self.could_win.bounds.cost(placement, group, total, stairs.seconds[None, :], start[:, None])
        hours = self.could_win.bounds.hours(placement, group, stairs.confident_seconds[None, :], late[:, None])
        return bool(self.could_win.prune.keep(cost, hours, count=False).any())

    def _parts(self, placement: int, group: Group, kind: PoolRole, rows: Ints, stairs: Stairs) -> Ints:
        """Pools that could be a part of a mixed one: with the best other part they could still matter."""
        problem = self.could_win.problem
        pools = pools_of(problem, kind)
        zero = np.zeros(len(rows))
        mine = quickest(pools.take(rows))
        rows = rows[self.could_win.could(placement, group, mine.rate, mine.committed_usd, (zero, zero), stairs)]
        if not len(rows):
            return rows
        mine = quickest(pools.take(rows))
        seconds, confident = mine.times.at(placement).both
        others = Stairs.of(mine.usd_per_hour, seconds, confident)
        near = self._beside(placement, group, mine, others.coarse(STEPS), stairs.coarse(STEPS))
        rows, mine = rows[near], mine.take(near)
        fine = np.zeros(len(rows), dtype=bool)
        for first in range(STRIDE):  # a pool that some of the others let matter need not meet the rest
            rest = np.flatnonzero(~fine)
            fine[rest] = self._beside(
                placement, group, mine.take(rest), others.take(slice(first, None, STRIDE)), stairs
            )
        return rows[fine]

    def _beside(self, placement: int, group: Group, pools: Pools, others: Stairs, stairs: Stairs) -> NDArray[np.bool_]:
        """Which pools could matter with some step of the others in one mix, shape (pools,)."""
        fine, width = np.zeros(len(pools), dtype=bool), len(others.usd_per_hour)
        if not width:
            return fine
        seconds, confident = pools.times.at(placement).both
        step, hourly, committed = max(1, PAIRS // width), pools.rate, pools.committed_usd
        for start in range(0, len(pools), step):
            rows = np.arange(start, min(start + step, len(pools)))
            i, j = np.repeat(rows, width), np.tile(np.arange(width), len(rows))
            times = together(seconds[i], others.seconds[j]), together(confident[i], others.confident_seconds[j])
            rate = hourly[i] + others.usd_per_hour[j]
            fine[i[self.could_win.could(placement, group, rate, committed[i], times, stairs)]] = True
        return fine


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


@dataclass(frozen=True, slots=True)
class _Parts:
    """What bounds a mix by its parts, shape (parts,). ``ends`` are seconds that a part takes whatever its share."""

    usd_per_hour: Floats
    environment_usd_per_hour: Floats
    committed_usd: Floats
    seconds: Floats
    confident_seconds: Floats
    ends: Floats
    confident_ends: Floats

    @staticmethod
    def of(pools: Pools, placement: int, least: Mix | None) -> _Parts:
        ends = Seconds.zero(len(pools)) if least is None else least.times.at(placement)
        seconds = (*pools.times.at(placement).both, *ends.both)
        return _Parts(pools.usd_per_hour, pools.environment_usd_per_hour, pools.committed_usd, *seconds)

    def blocks(self, size: int) -> _Parts:
        """The least of every ``size`` neighbours."""
        starts = np.arange(0, len(self.seconds), size)
        return _Parts(*(np.minimum.reduceat(getattr(self, part.name), starts) for part in fields(self)))

    def pairs(self, i: Ints, j: Ints) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """Least rate, least bill of reserved offers, and least median and confident seconds of mixes."""
        median = np.maximum(together(self.seconds[i], self.seconds[j]), np.maximum(self.ends[i], self.ends[j]))
        late = np.maximum(
            together(self.confident_seconds[i], self.confident_seconds[j]),
            np.maximum(self.confident_ends[i], self.confident_ends[j]),
        )
        rate = self.usd_per_hour[i] + self.usd_per_hour[j]
        rate = rate + np.minimum(self.environment_usd_per_hour[i], self.environment_usd_per_hour[j])  # one serves both
        return rate, self.committed_usd[i] + self.committed_usd[j], (median, late)
