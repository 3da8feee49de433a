"""Near-optimal plans that are really other plans: other GPU types, other providers or another placement.

The tree of what is left out is searched best first (the hitting sets of Reiter, "A theory of diagnosis from first
principles", Artificial Intelligence 32, 1987, section 4): a node is a problem without some types, providers and
placements, its plan is proven, and its children each leave out one thing more of that plan. A plan that lacks
something of a node's plan lies in one of its children, so plans come cheapest first and none is missed but those that
use all that a listed plan uses, and more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from rlopt.answers.plan import FoundPlan
from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.facts import Offer
from rlopt.problem import Problem
from rlopt.studies.cheapest import cheapest
from rlopt.studies.problem import part_of

Mark = tuple[str, str]
"""("gpu" | "provider" | "placement", its name)."""


@dataclass(order=True, slots=True)
class _Open:
    value: float
    number: int
    without: frozenset[Mark] = field(compare=False)
    plan: FoundPlan = field(compare=False)


def marks(plan: FoundPlan) -> frozenset[Mark]:
    """What a plan is known by: its GPU types, their providers and its placement."""
    pools = [pool for pool in plan.pools if pool.gpu]
    found = {("gpu", str(pool.gpu)) for pool in pools} | {("provider", pool.provider) for pool in pools}
    return frozenset(found | {("placement", plan.decisions.placement)})


def alternatives(problem: Problem, plan: FoundPlan, count: int, within: float) -> list[FoundPlan]:
    """At most ``count`` proven plans that cost up to ``within`` more, as a share; or take, where the objective is time.

    Cheapest first; ``plan`` is the problem's own. What cannot be built for want of a fact has no plan.
    """
    by_time = problem.request.objective == "time"
    found, tree = list[FoundPlan](), _Tree(problem, by_time)
    tree.branch(frozenset(), plan)
    limit = _value(plan, by_time) * (1.0 + within)
    while tree.opened and len(found) < count:
        best = heapq.heappop(tree.opened)
        if best.value > limit:
            break
        if marks(best.plan) not in [marks(other) for other in (plan, *found)]:
            found.append(best.plan)
        tree.branch(best.without, best.plan)
    return found


def _value(plan: FoundPlan, by_time: bool) -> float:
    return plan.time.confident_hours if by_time else plan.cost.total_usd


@dataclass(slots=True)
class _Tree:
    """What is left out, searched best first."""

    problem: Problem
    by_time: bool
    seen: set[frozenset[Mark]] = field(default_factory=lambda: {frozenset()})
    opened: list[_Open] = field(default_factory=list)
    """A heap by value."""

    def branch(self, without: frozenset[Mark], plan: FoundPlan) -> None:
        """Open every problem that leaves out one thing more of ``plan``."""
        for mark in sorted(marks(plan)):
            less = without | {mark}
            if less in self.seen:
                continue
            self.seen.add(less)
            for narrow in _without(self.problem, less):
                own = cheapest(narrow)
                if isinstance(own, FoundPlan) and own.status == "optimal":
                    heapq.heappush(self.opened, _Open(_value(own, self.by_time), len(self.seen), less, own))


def _without(problem: Problem, without: frozenset[Mark]) -> Iterator[Problem]:
    """The problem that leaves ``without`` out; nothing where no offer or placement stays."""
    out = {kind: {name for one, name in without if one == kind} for kind in ("gpu", "provider", "placement")}
    placements = tuple(name for name in problem.request.placements if name not in out["placement"])
    if not placements:
        return

    def only(offer: Offer) -> bool:
        return offer.shape.device not in out["gpu"] and offer.provider not in out["provider"]

    request = problem.request
    if out["placement"]:
        if not problem.workload.generates:
            return
        request = request.replaced("choices.placements", placements)
    try:
        yield part_of(problem, request, only)
    except (MissingFactError, NotSupportedError):
        return
