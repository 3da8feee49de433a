"""Which candidates can still matter: a bound on their cost and hours against what is already known.

Every test is a relaxation: what it drops cannot be part of the answer. Limits drop a candidate only when its own
lower bound breaks them, and are counted by limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Columns, Floats
from rlopt.rules import Rule
from rlopt.search.staircase import staircase
from rlopt.words import Objective

Goal = Objective | Literal["frontier"]
NEAR_OPTIMAL = 0.01
"""Columns up to this share above the optimum stay in the program, so its bound speaks of rivals too."""
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

    @staticmethod
    def of(goal: Goal, rules: Sequence[Rule]) -> Prune:
        """Nothing known yet; the limits on hours and cost that some of ``rules`` set."""

        def limit(key: str) -> float:
            return next((rule.limit for rule in rules if rule.key == key), math.inf)

        slack = 0.0 if goal == "frontier" else NEAR_OPTIMAL
        return Prune(goal, limit("limits.deadline"), limit("limits.budget"), slack)

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
