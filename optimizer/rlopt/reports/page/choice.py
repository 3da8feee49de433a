"""The plans that a page shows whole: the one asked for, the others on the frontier, and those beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rlopt.answers.plan import Plan

SAME: Final = 1e-6
"""Relative difference up to which bill and hours are those of one plan."""


@dataclass(frozen=True)
class Choice:
    """A plan that can be chosen.

    Parameters
    ----------
    number
        What charts, lists and addresses of the page know it by; 0 is shown first.
    on_frontier
        Whether no plan that is as fast costs less; others are near it on other machines.
    """

    number: int
    plan: Plan
    on_frontier: bool = True
    is_knee: bool = False

    @property
    def hours(self) -> float:
        """What the deadline is held against."""
        return self.plan.time.confident_hours if self.plan.time else 0.0

    @property
    def usd(self) -> float:
        """The whole bill."""
        return self.plan.cost.total_usd if self.plan.cost else 0.0


def choices(plan: Plan, curve: Sequence[Plan] = (), knee: int | None = None) -> list[Choice]:
    """Number the plan, the frontier's and its alternatives; each once, by hours, the plan itself being number 0.

    ``curve`` are the frontier's plans; ``knee`` is the place among them of the one that is marked.
    """
    others = [(one, index == knee) for index, one in enumerate(curve) if one.cost is not None]
    own_knee = any(marked for one, marked in others if same(one, plan))
    found = [Choice(0, plan, is_knee=own_knee)]
    for one, marked in others:
        if not same(one, plan):
            found.append(Choice(len(found), one, is_knee=marked))
    for one in _apart(plan.alternatives, found):
        found.append(Choice(len(found), one, on_frontier=False))
    return sorted(found, key=lambda one: (not one.on_frontier, one.hours, one.usd))


def same(one: Plan, other: Plan) -> bool:
    """Whether two plans cost the same and take the same hours."""
    if one.cost is None or other.cost is None or one.time is None or other.time is None:
        return one is other
    return math.isclose(one.cost.total_usd, other.cost.total_usd, rel_tol=SAME) and math.isclose(
        one.time.confident_hours, other.time.confident_hours, rel_tol=SAME
    )


def _apart(plans: Iterable[Plan], known: Sequence[Choice]) -> list[Plan]:
    shown = [choice.plan for choice in known]
    return [one for one in plans if one.cost is not None and not any(same(one, other) for other in shown)]
