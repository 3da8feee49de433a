"""The twin principle for constraints: every rule has algebra (a row over columns) and arithmetic (a check of a plan).

A rule is a limit on one amount. `amount` gives it for every joint column (the row's coefficients, since exactly one
column is chosen); `measure` gives it for a finished plan, from the plan's own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import Plan
from rlopt.problem import Columns, Problem
from rlopt.program import FEASIBILITY, Sense

Amount = Callable[[Columns, Problem], NDArray[np.float64]]
Measure = Callable[[Plan, Problem], float]


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
    of_pools: bool = False
    """Whether the amount depends on the chosen pools alone, not on checkpoint interval or tier."""
    of_group: bool = False
    """Whether pools that cost nothing keep it wherever any pools do: of one way to run the job and group size, no pool
    mends what an idle column breaks."""
    ratio: bool = False
    """Whether one pool makes up for what another lacks. Else amounts of pools add up or are the least of them: what
    one pool breaks no other mends."""
    constant: bool = False
    """Whether the request alone decides the amount: it is the same for all columns."""

    def admits(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which amounts are within the limit, in double precision."""
        slack = FEASIBILITY * max(1.0, abs(self.limit))
        if self.sense == "<=":
            return values <= self.limit + slack
        if self.sense == ">=":
            return values >= self.limit - slack
        return np.abs(values - self.limit) <= slack

    def holds(self, plan: Plan, problem: Problem) -> bool:
        """Whether a finished plan keeps the rule."""
        return bool(self.admits(np.array([self.measure(plan, problem)]))[0])

    def binds(self, plan: Plan, problem: Problem) -> bool:
        """Whether one unit tighter would exclude this plan, so that any other is dearer or there is none."""
        value = self.measure(plan, problem)
        if not math.isfinite(value) or (self.sense == "<=" and self.limit == 0.0):  # nothing is less than nothing
            return False
        tighter = self.limit - self.step if self.sense == "<=" else self.limit + self.step
        return value > tighter if self.sense == "<=" else value < tighter


class RuleFamily(Protocol):
    """A module of this package: one family of rules."""

    NAME: str

    def rules(self, problem: Problem) -> list[Rule]:
        """The rules that the request sets; empty where it sets none."""
        ...
