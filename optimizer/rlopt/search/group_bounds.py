"""What whole groups of pools can offer at best: most groups are out before any of their pools is looked at.

A catalog holds hundreds of zones, and each zone is a group for every variant and group size. All groups are bounded
at once, on a grid of rates that they share: a step of a group is the least rate of its pools within one cell of the
grid, and the least seconds of its pools up to there. Every real pool has a step that is neither dearer nor slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Floats, Ints, Pools
from rlopt.search.bounds import Bounds
from rlopt.search.groups import Group, Served
from rlopt.search.prune import Prune
from rlopt.table import Table
from rlopt.words import ASYNC

CELLS, MIXED_CELLS = 16, 64
"""Cells of the grid of rates, for pools of one offer and of two."""
FIRST_GROUPS = 256
AT_ONCE = 200_000
NEVER = 1e30
"""Seconds and rates of an empty cell: finite, so that nothing becomes undefined."""


@dataclass(frozen=True, slots=True)
class Steps(Table):
    """Bounding steps of all groups, shape (groups, cells) each."""

    usd_per_hour: Floats
    seconds: Floats
    confident_seconds: Floats


@dataclass(frozen=True, slots=True)
class GroupBounds:
    """Bounds on the groups of one search."""

    bounds: Bounds
    groups: Sequence[Served]

    def least(self, placement: int, prune: Prune, mixed: bool = False) -> tuple[Floats, Floats]:
        """Least USD and least confident hours of each group's columns that could still matter, shape (groups,).

        Infinite where none could. ``mixed`` bounds pools of two rollout offers; groups that score on a pool of their
        own are then not judged and get 0.
        """
        usd, hours = np.zeros(len(self.groups)), np.zeros(len(self.groups))
        judged = [n for n, served in enumerate(self.groups) if not (mixed and served.score is not None)]
        if not judged:
            return usd, hours
        groups = [self.groups[n] for n in judged]
        train = _steps(self.bounds.problem.training, [served.train for served in groups], placement)
        beside = self._mixed(groups, placement) if mixed else self._beside(groups, placement)
        fields = ("zone", "variant", "size")
        zone, variant, size = (np.array([getattr(served.group, name) for served in groups]) for name in fields)
        step = max(1, AT_ONCE // (CELLS * beside.usd_per_hour.shape[1]))
        for start in range(0, len(groups), step):
            some = np.arange(start, min(start + step, len(groups)))
            a, b = train.take(some), beside.take(some)
            group = Group(zone[some][:, None, None], variant[some][:, None, None], size[some][:, None, None])
            rate = a.usd_per_hour[:, :, None] + b.usd_per_hour[:, None, :]
            cost = self.bounds.cost(placement, group, rate, a.seconds[:, :, None], b.seconds[:, None, :])
            late = self.bounds.hours(placement, group, a.confident_seconds[:, :, None], b.confident_seconds[:, None, :])
            fine = prune.keep(cost, late, count=False)
            at = np.array(judged)[some]
            usd[at] = np.where(fine, cost, np.inf).min(axis=(1, 2))
            hours[at] = np.where(fine, late, np.inf).min(axis=(1, 2))
        return usd, hours

    def _beside(self, groups: Sequence[Served], placement: int) -> Steps:
        """Rollout pools with the cheapest and the quickest scoring pool of each group beside them."""
        problem = self.bounds.problem
        steps = _steps(problem.rollout, [served.rollout for served in groups], placement)
        more = np.zeros((3, len(groups), 1))
        for n, served in enumerate(groups):
            if served.score is not None:
                pools = problem.scoring.take(served.score)
                seconds = pools.times.at(placement).both
                more[0, n] = pools.rate.min()
                if placement != ASYNC:
                    more[1, n], more[2, n] = (part.min() for part in seconds)
        return Steps(steps.usd_per_hour + more[0], steps.seconds + more[1], steps.confident_seconds + more[2])

    def _mixed(self, groups: Sequence[Served], placement: int) -> Steps:
        """Pools of two offers: at a rate r no mix takes fewer seconds than the least USD per step of any offer, / r.

        Rates add up and throughputs at most add up, so the USD per step of a mix are no fewer than those of its
        better offer: the mediant of two ratios lies between them.
        """
        pools, rows = self.bounds.problem.rollout, [served.rollout for served in groups]
        group, index = np.repeat(np.arange(len(rows)), [len(part) for part in rows]), np.concatenate(rows)
        rate = pools.usd_per_hour[index]
        low, high = max(float(rate.min(initial=np.inf)), 1e-6), max(float(rate.max(initial=0.0)), 2e-6)
        edges = np.geomspace(2.0 * low, 2.0 * high * (1.0 + 1e-9), MIXED_CELLS + 1)
        found = [np.broadcast_to(edges[:-1], (len(rows), MIXED_CELLS))]
        for seconds in pools.times.at(placement).both:
            least = np.full(len(rows), NEVER)
            np.minimum.at(least, group, rate * seconds[index])
            found.append(least[:, None] / edges[None, 1:])
        return Steps(*found)


def _steps(pools: Pools, rows: Sequence[Ints], placement: int) -> Steps:
    group, index = np.repeat(np.arange(len(rows)), [len(part) for part in rows]), np.concatenate(rows)
    rate = pools.rate_of(index)
    low, high = max(float(rate.min(initial=np.inf)), 1e-6), max(float(rate.max(initial=0.0)), 2e-6)
    edges = np.geomspace(low, high, CELLS + 1)[1:-1]
    cell = group * CELLS + np.searchsorted(edges, rate)
    shape = (len(rows), CELLS)

    def least(values: Floats) -> Floats:
        found = np.full(len(rows) * CELLS, NEVER)
        np.minimum.at(found, cell, values)
        return found.reshape(shape)

    seconds, confident = (np.minimum.accumulate(least(part[index]), axis=1) for part in pools.times.at(placement).both)
    return Steps(least(rate), seconds, confident)


def open_groups(
    bounds: Bounds, prune: Prune, placement: int, groups: Sequence[Served], mixed: bool = False
) -> Iterator[Served]:
    """Groups that could matter, the most promising first; what is learnt on the way excludes the later ones."""
    usd, hours = GroupBounds(bounds, groups).least(placement, prune, mixed)
    closed = set(np.flatnonzero(np.isinf(usd)).tolist())
    for number in _by_bound(usd, hours, prune):
        if prune.could(float(usd[number]), float(hours[number])):
            yield groups[number]
        else:
            closed.add(int(number))
    if not mixed:  # otherwise their pools of one offer may have been looked at
        prune.excluded["pools bounded by a known plan or a limit"] += sum(len(groups[n].train) for n in closed)


def nearest_groups(bounds: Bounds, prune: Prune, placements: Sequence[int], groups: Sequence[Served]) -> list[Served]:
    """The groups with the lowest bounds in any placement: where incumbents are looked for."""
    if len(groups) <= FIRST_GROUPS or not placements:
        return list(groups)
    found = [GroupBounds(bounds, groups).least(placement, prune) for placement in placements]
    usd, hours = (np.min([pair[n] for pair in found], axis=0) for n in (0, 1))
    return [groups[n] for n in _by_bound(usd, hours, prune)[:FIRST_GROUPS]]


def _by_bound(usd: Floats, hours: Floats, prune: Prune) -> NDArray[np.int64]:
    """Numbers of the groups that could matter, the most promising first."""
    order = np.argsort(hours if prune.goal == "time" else usd, kind="stable")
    return np.asarray(order[np.isfinite(usd[order])], dtype=np.int64)
