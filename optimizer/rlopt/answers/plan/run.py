"""A run as a plan has it: what a bill follows from, and what limits are held against.

Finished plans are both, and so is a plan in the making, before its bill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rlopt.answers.plan.bill import Cost
from rlopt.answers.plan.decided import Decisions
from rlopt.answers.plan.machines import Pool
from rlopt.answers.plan.outlook import WorstCase
from rlopt.answers.plan.timing import Time


class PlannedRun(Protocol):
    """Machines, hours and decisions: its bill follows from them alone."""

    @property
    def pools(self) -> Sequence[Pool]:
        """Every machine that is rented."""

    @property
    def time(self) -> Time:
        """Hours of one run, and what a step is made of."""

    @property
    def decisions(self) -> Decisions:
        """Everything else that was open."""


@dataclass(frozen=True, slots=True)
class PlannedParts:
    """A run whose bill is not yet made."""

    pools: Sequence[Pool]
    time: Time
    decisions: Decisions


class BilledRun(PlannedRun, Protocol):
    """The same with its bill: limits and floors are held against it."""

    @property
    def cost(self) -> Cost:
        """The whole bill."""

    @property
    def worst(self) -> WorstCase | None:
        """The run in the worst case that the request asks for; None without one."""
