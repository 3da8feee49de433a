"""Which candidates can still matter: a bound on their cost and hours against what is already known.

Every test is a relaxation: what it drops cannot be part of the answer. Limits drop a candidate only when its own
lower bound breaks them, and are counted by limit.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Columns, Floats
from rlopt.table import Table, group_ids
from rlopt.words import Objective

Goal = Objective | Literal["frontier"]
NOISE = 1e-9
BARRED = "a limit or floor that no pools can keep"


@dataclass(slots=True)
class Prune:
    """The state of one search: the best known, the limits on cost and hours, and what was excluded.

    ``slack`` keeps near-optimal columns for the program (share above the best known cost).
    """

    goal: Goal
    deadline_hours: float = math.inf
    budget_usd: float = math.inf
    slack: float = 0.0
    strict: bool = False
    """Whether bounds keep only what may be better than the best known, and not its equals."""
    best: float = math.inf
    hours: Floats = field(default_factory=lambda: np.zeros(0))
    costs: Floats = field(default_factory=lambda: np.zeros(0))
    excluded: Counter[str] = field(default_factory=Counter)

    @property
    def blind(self) -> bool:
        """Whether no plan is known yet: no bound on the cost speaks then."""
        return math.isinf(self.best) and not len(self.hours)

    def ceiling(self, hours: Floats, bounding: bool = False) -> Floats:
        """Most that a column finishing within ``hours`` may cost and still matter, shape of ``hours``.

        ``bounding``: what a bound may reach, strict where the search is.
        """
        room = 1.0 - NOISE if bounding and self.strict else 1.0 + self.slack + NOISE
        if self.goal == "cost":
            return np.full(np.shape(hours), self.best * room)
        if self.goal == "time":
            return np.where(hours <= self.best * room, np.inf, -np.inf)
        if not len(self.hours):
            return np.full(np.shape(hours), np.inf)
        at = np.searchsorted(self.hours, hours, side="right") - 1
        return np.where(at >= 0, self.costs[np.maximum(at, 0)] * (1.0 + NOISE), np.inf)

    def keep(self, cost: Floats, hours: Floats, count: bool = True) -> NDArray[np.bool_]:
        """Which lower bounds (any one shape) still allow a part in the answer."""
        late = hours > self.deadline_hours * (1.0 + NOISE)
        barred = np.isinf(cost)  # some limit or floor bars the group whatever its pools
        dear = ~barred & (cost > self.budget_usd * (1.0 + NOISE))
        beaten = ~barred & (cost > self.ceiling(hours, bounding=True))
        if count:
            self.excluded["limits.deadline"] += int(late.sum())
            self.excluded["limits.budget"] += int((dear & ~late).sum())
            self.excluded["bounded by a known plan"] += int((beaten & ~late & ~dear).sum())
            self.excluded[BARRED] += int((barred & ~late).sum())
        return np.asarray(~(late | barred | dear | beaten))

    def could(self, cost: float, hours: float) -> bool:
        """Whether anything that costs and takes at least this much may matter; a quick test of one group."""
        if self.goal == "frontier":  # the least cost and the least hours may be of different columns
            return bool(self.keep(np.array([cost]), np.array([hours]), count=False)[0])
        value = cost if self.goal == "cost" else hours
        room = 1.0 - NOISE if self.strict else 1.0 + self.slack + NOISE
        return value <= self.best * room

    def learn(self, columns: Columns) -> None:
        """Take feasible columns into account."""
        if not len(columns):
            return
        if self.goal == "cost":
            self.best = min(self.best, float(columns.usd.min()))
        elif self.goal == "time":
            self.best = min(self.best, float(columns.confident_hours.min()))
        else:
            self.hours, self.costs = staircase(
                np.concatenate([self.hours, columns.confident_hours]), np.concatenate([self.costs, columns.usd])
            )


def least_of(columns: Columns, most: int) -> Columns:
    """The ``most`` cheapest columns."""
    return columns if len(columns) <= most else columns.take(np.argpartition(columns.usd, most)[:most])


def unique(columns: Columns) -> Columns:
    """Each column once."""
    pools = (columns.train, columns.rollout, columns.rollout2, columns.score, columns.score2)
    ids = group_ids(columns.placement, *pools, columns.interval_steps, columns.tier, columns.recovery)
    return columns.take(np.sort(np.unique(ids, return_index=True)[1]))


def staircase(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Points not dominated in (first, second), by first ascending and second strictly descending."""
    chosen = pareto_index(first, second)
    return first[chosen], second[chosen]


def pareto_index(first: Floats, second: Floats) -> NDArray[np.int64]:
    """Indices of the points that no other beats in both, by ``first`` ascending."""
    order = np.lexsort((second, first))
    values = second[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(values)[:-1]]) if len(values) else values
    return np.asarray(order[values < before], dtype=np.int64)


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

    def coarse(self, steps: int) -> Stairs:
        """At most ``steps`` steps that bound what these do: neighbours share the least rate and the least seconds."""
        if len(self.usd_per_hour) <= steps:
            return self
        start = np.linspace(0, len(self.usd_per_hour), steps, endpoint=False).astype(np.int64)
        least = [np.minimum.reduceat(part, start) for part in (self.usd_per_hour, self.seconds, self.confident_seconds)]
        return Stairs(*least)
