"""Pools mixed of two offers, beside all others, as far as a bound lets them matter.

Every test is a relaxation of what comes after it: a part must matter with the best other part there is, a pair with
its least seconds, and only what is left is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.side_pools import alone, mixed, pools_of, together
from rlopt.pools.run_points import quickest
from rlopt.problem import Ints, Pools, Seconds, SidePools
from rlopt.search.could_win import CouldWin, Offered
from rlopt.search.dominance import undominated
from rlopt.search.group_bounds import open_groups
from rlopt.search.groups import Served
from rlopt.search.mix_bounds import PAIRS, likely_pairs
from rlopt.search.pool_limits import within_limits
from rlopt.search.pricing import Pricing
from rlopt.search.single_offers import scored_rollout
from rlopt.search.staircase import Stairs
from rlopt.table import groups
from rlopt.words import PoolRole

SECONDS_WITHOUT_PLAN = 10.0
"""For mixed pools where no plan of single offers is known: limits alone can prune."""
MANY = 100_000
"""Mixed pools of one group that are worth comparing among each other before they are paired."""
STEPS, STRIDE = 8, 6
"""Steps of a coarse look at a staircase; parts into which the others are cut for an exact one."""
INTERVAL = 1.1
"""Ratio of the ends of an interval of seconds."""


def mixed_offers(pricing: Pricing, placements: Sequence[int], groups_of_pools: Sequence[Served]) -> None:
    """Price every column with a mixed pool that could beat what is known, group by group."""
    if not pricing.problem.request.choices.mixed_pools:
        return
    if pricing.prune.blind:
        pricing.time.shorten(SECONDS_WITHOUT_PLAN)
    pricing.prune.strict = True
    for placement in placements:
        for served in open_groups(pricing.bounds, pricing.prune, placement, groups_of_pools, mixed=True):
            _group(pricing, placement, served)
    pricing.prune.strict = False


def _group(pricing: Pricing, placement: int, served: Served) -> None:
    problem, prune, rules = pricing.problem, pricing.prune, pricing.rules
    if pricing.time.over():
        return
    if prune.blind:  # only rules say which pools are worth mixing
        kept = within_limits(problem, placement, served, rules, prune.excluded)
        if kept is None:
            return
        served = kept
    could_win = pricing.could_win(
        placement, served.group, Stairs.of_pools(problem.training.take(served.train), placement)
    )
    thin = partial(undominated, problem, placement, served.train, rules=rules)
    beside = MixedSearch(could_win, thin, _kept_share(pricing), pricing.time.over).side_pools(served)
    if not len(beside) or pricing.time.over():
        return
    if len(beside) > MANY:
        beside = pricing.undominated(placement, served.train, beside)
    others = pricing.could_win(placement, served.group, Stairs.of_pools(beside, placement))
    train = served.train[others.stay(problem.training.take(served.train))]
    pricing.pairs(placement, served.group, train, beside)


def _kept_share(pricing: Pricing) -> float:
    """Share of a mixed pool's throughput that the rules in force keep from reclaims."""
    return max((rule.limit for rule in pricing.rules if rule.key == "floors.on_demand_share"), default=0.0)


@dataclass(frozen=True, slots=True)
class MixedSearch:
    """The mixing of one group. ``share``: the part of a mixed pool's throughput that must not be taken back."""

    could_win: CouldWin
    """The test beside the group's training pools."""
    thin: Callable[[SidePools], SidePools]
    """Leaves out pools that another beats in everything."""
    share: float
    over: Callable[[], bool]
    """Whether time is up."""

    def side_pools(self, served: Served) -> SidePools:
        """Everything that may stand beside the training pools of the group and is mixed somewhere."""
        problem, test = self.could_win.problem, self.could_win
        single = alone(problem, PoolRole.SAMPLE, served.rollout)
        scored = None if served.score is None else alone(problem, PoolRole.SCORE, served.score)
        mixes = self._mixes(PoolRole.SAMPLE, served.rollout, test.beside(scored))
        if scored is None or served.score is None:
            return mixes
        scored_by_two = self.thin(self._mixes(PoolRole.SCORE, served.score, test.beside(single)))
        single, scored, mixes = self.thin(single), self.thin(scored), self.thin(mixes)
        return SidePools.join(
            [
                scored_rollout(test, mixes, scored, self.over),
                scored_rollout(test, single, scored_by_two, self.over),
            ]
        )

    def _mixes(self, kind: PoolRole, rows: Ints, test: CouldWin) -> SidePools:
        """Mixed pools of one kind that could win, with their own seconds; one environment and precision each."""
        pools = pools_of(test.problem, kind)
        alike = [rows[at] for at in groups(pools.environment[rows], pools.precision[rows]).values()]
        found = [mixed(test.problem, kind, rows[:0], rows[:0])]
        return SidePools.join(found + [self._mixes_alike(kind, some, test) for some in alike])

    def _mixes_alike(self, kind: PoolRole, rows: Ints, test: CouldWin) -> SidePools:
        problem = test.problem
        hope = len(rows) > 1 and _hope(quickest(pools_of(problem, kind).take(rows)), test)
        rows = _parts(kind, rows, test) if hope else rows[:0]
        found = [mixed(problem, kind, rows[:0], rows[:0])]
        if not len(rows):
            return found[0]
        for i, j in likely_pairs(test, kind, rows, self.share):
            if self.over():
                break
            fine = test.which(mixed(problem, kind, i, j, bound=True))
            exact = mixed(problem, kind, i[fine], j[fine])
            stay = np.isfinite(exact.times.in_step.median) & test.which(exact)
            if self.share > 0.0:
                little = exact.shares(test.placement)[1] < self.share - 1e-9
                test.prune.excluded["floors.on_demand_share"] += int((stay & little).sum())
                stay &= ~little
            found.append(exact.take(stay))
        return SidePools.join(found)


def _hope(pools: Pools, test: CouldWin) -> bool:
    """Whether any mix at all could win: none costs less per sample than the cheapest pool does.

    A mix that takes t seconds pays at least k / t an hour, with k the least of rate · seconds over the pools.
    Seconds are looked at in intervals: the rate at an interval's end with the seconds at its start.
    """
    seconds, confident = pools.times.at(test.placement).both
    usable = np.isfinite(seconds)
    if not usable.any():
        return False
    seconds, confident, paid = seconds[usable], confident[usable], pools.usd_per_hour[usable]
    count = int(np.log(max(2.0 * seconds.max() / seconds.min(), 2.0)) / np.log(INTERVAL)) + 2
    start = seconds.min() / 2.0 * INTERVAL ** np.arange(count)
    rate = np.maximum(float((paid * seconds).min()) / (start * INTERVAL), 2.0 * paid.min())
    least_confident = start * float((confident / seconds).min())
    total, stairs = rate[:, None] + test.stairs.usd_per_hour, test.stairs
    cost = test.bounds.cost(test.placement, test.group, total, stairs.seconds[None, :], start[:, None])
    hours = test.bounds.hours(test.placement, test.group, stairs.confident_seconds[None, :], least_confident[:, None])
    return bool(test.prune.keep(cost, hours, count=False).any())


def _parts(kind: PoolRole, rows: Ints, test: CouldWin) -> Ints:
    """Pools that could be a part of a mixed one: with the best other part they could still win."""
    pools = pools_of(test.problem, kind)
    mine = quickest(pools.take(rows))
    rows = rows[test.which_offered(Offered(mine.rate, mine.committed_usd, Seconds.zero(len(rows))))]
    if not len(rows):
        return rows
    mine = quickest(pools.take(rows))
    others = Stairs.of(mine.usd_per_hour, *mine.times.at(test.placement).both)
    near = _with_some(mine, others.coarse(STEPS), test.coarse(STEPS))
    rows, mine = rows[near], mine.take(near)
    fine = np.zeros(len(rows), dtype=bool)
    for first in range(STRIDE):  # a pool that some of the others let matter need not meet the rest
        rest = np.flatnonzero(~fine)
        fine[rest] = _with_some(mine.take(rest), others.take(slice(first, None, STRIDE)), test)
    return rows[fine]


def _with_some(pools: Pools, others: Stairs, test: CouldWin) -> NDArray[np.bool_]:
    """Which pools could win with some step of the others in one mix, shape (pools,)."""
    fine, width = np.zeros(len(pools), dtype=bool), len(others)
    if not width:
        return fine
    mine, step = Offered.of(pools, test.placement), max(1, PAIRS // width)
    median, confident = mine.seconds.both
    for start in range(0, len(pools), step):
        rows = np.arange(start, min(start + step, len(pools)))
        i, j = np.repeat(rows, width), np.tile(np.arange(width), len(rows))
        seconds = Seconds(together(median[i], others.seconds[j]), together(confident[i], others.confident_seconds[j]))
        offered = Offered(mine.usd_per_hour[i] + others.usd_per_hour[j], mine.committed_usd[i], seconds)
        fine[i[test.which_offered(offered)]] = True
    return fine
