"""The twin principle for constraints: every rule has algebra (a row over columns) and arithmetic (a check of a plan).

A rule is a limit on one amount. `amount` gives it for every joint column (the row's coefficients, since exactly one
column is chosen); `measure` gives it for a finished plan, from the plan's own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.problem import Columns, Problem
from rlopt.program import FEASIBILITY, Sense

Amount = Callable[[Columns, Problem], NDArray[np.float64]]
Measure = Callable[[BilledRun, Problem], float]


class Scope(Enum):
    """What decides a rule's amount. The less it is, the earlier the search may leave out all that breaks the rule."""

    REQUEST = "request"
    """The request alone: the amount is the same for all columns."""
    VARIANT = "variant"
    """The way to run the job and the group size; no pool mends what they break."""
    POOLS = "pools"
    """The chosen pools: amounts of pools add up or are the least of them, what one pool breaks no other mends."""
    POOL_SHARE = "pool share"
    """The chosen pools as a ratio: one pool makes up for what another lacks."""
    RISING = "rising"
    """The whole column, and pools only add to it: what a column whose pools cost nothing breaks no pool mends."""
    COLUMN = "column"
    """The whole column: checkpoint interval, tier and hours too."""

    @property
    def of_pools(self) -> bool:
        """Whether the chosen pools decide the amount, so that no interval or tier mends what they break."""
        return self not in (Scope.RISING, Scope.COLUMN)

    @property
    def of_single_pools(self) -> bool:
        """Whether a pool that breaks the rule by itself breaks it in every plan."""
        return self.of_pools and self is not Scope.POOL_SHARE

    @property
    def of_group(self) -> bool:
        """Whether pools that cost nothing keep the rule wherever any pools of their group do."""
        return self in (Scope.REQUEST, Scope.VARIANT, Scope.RISING)


@dataclass(frozen=True, slots=True)
class Rule:
    """``amount`` (of a column) and ``measure`` (of a plan) must stand on the right side of ``limit``.

    ``key`` is the dotted key of the request; ``step`` is one unit tighter, for telling whether the rule binds.
    ``amount`` is None where candidates were filtered by it as a fact (memory).
    """

    name: str
    key: str
    unit: str
    sense: Sense
    limit: float
    amount: Amount | None
    measure: Measure
    step: float = 1.0
    relaxable: bool = True
    scope: Scope = Scope.COLUMN

    def admits(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which amounts are within the limit, in double precision."""
        slack = FEASIBILITY * max(1.0, abs(self.limit))
        if self.sense == "<=":
            return values <= self.limit + slack
        if self.sense == ">=":
            return values >= self.limit - slack
        return np.abs(values - self.limit) <= slack

    def kept_by(self, columns: Columns, problem: Problem) -> NDArray[np.bool_]:
        """Which columns keep the rule, shape (columns,); all where candidates were filtered by it."""
        if self.amount is None:
            return np.ones(len(columns), dtype=np.bool_)
        return self.admits(self.amount(columns, problem))

    def holds(self, plan: BilledRun, problem: Problem) -> bool:
        """Whether a finished plan keeps the rule."""
        return bool(self.admits(np.array([self.measure(plan, problem)]))[0])

    def binds(self, plan: BilledRun, problem: Problem) -> bool:
        """Whether one unit tighter would exclude this plan, so that any other is dearer or there is none."""
        value = self.measure(plan, problem)
        if not math.isfinite(value) or (self.sense == "<=" and self.limit == 0.0):  # nothing is less than nothing
            return False
        tighter = self.limit - self.step if self.sense == "<=" else self.limit + self.step
        return value > tighter if self.sense == "<=" else value < tighter


class RuleFamily(Protocol):
    """A module of this package: one family of rules."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """What the family is called."""
        ...

    def rules(self, problem: Problem) -> list[Rule]:
        """The rules that the request sets; empty where it sets none."""
        ...
