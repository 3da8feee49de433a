"""Near-optimal plans that are really other plans: other GPU types, other providers or another placement.

The tree of what is left out is searched best first (the hitting sets of Reiter, "A theory of diagnosis from first
principles", Artificial Intelligence 32, 1987, section 4): a node is a problem without some types, providers and
placements, its plan is proven, and its children each leave out one thing more of that plan. A plan that lacks
something of a node's plan lies in one of its children, so plans come cheapest first and none is missed but those that
use all that a listed plan uses, and more.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rlopt.answers.plan import Plan
from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.facts import Offer
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.studies.cheapest import cheapest

Only = Callable[[Offer], bool]
Build = Callable[[Request, Only | None], Problem]
Mark = tuple[str, str]
"""("gpu" | "provider" | "placement", its name)."""


@dataclass(order=True, slots=True)
class _Open:
    value: float
    number: int
    without: frozenset[Mark] = field(compare=False)
    plan: Plan = field(compare=False)


def marks(plan: Plan) -> frozenset[Mark]:
    """What a plan is known by: its GPU types, their providers and its placement."""
    pools = [pool for pool in plan.pools if pool.gpu]
    found = {("gpu", str(pool.gpu)) for pool in pools} | {("provider", pool.provider) for pool in pools}
    return frozenset(found | ({("placement", plan.decisions.placement)} if plan.decisions else set()))


def alternatives(problem: Problem, plan: Plan, build: Build, count: int, within: float) -> list[Plan]:
    """At most ``count`` proven plans that cost up to ``within`` more, as a share; or take, where the objective is time.

    Cheapest first; ``plan`` is the problem's own. What cannot be built for want of a fact has no plan.
    """
    by_time = problem.request.objective == "time"
    found: list[Plan] = []
    seen: set[frozenset[Mark]] = {frozenset()}
    opened: list[_Open] = []
    _branch(problem, frozenset(), plan, build, by_time, seen, opened)
    limit = _value(plan, by_time) * (1.0 + within)
    while opened and len(found) < count:
        best = heapq.heappop(opened)
        if best.value > limit:
            break
        if marks(best.plan) not in [marks(other) for other in (plan, *found)]:
            found.append(best.plan)
        _branch(problem, best.without, best.plan, build, by_time, seen, opened)
    return found


def _value(plan: Plan, by_time: bool) -> float:
    if plan.cost is None or plan.time is None:
        return float("inf")
    return plan.time.confident_hours if by_time else plan.cost.total_usd


def _branch(
    problem: Problem,
    without: frozenset[Mark],
    plan: Plan,
    build: Build,
    by_time: bool,
    seen: set[frozenset[Mark]],
    opened: list[_Open],
) -> None:
    """Open every problem that leaves out one thing more of ``plan``."""
    for mark in sorted(marks(plan)):
        less = without | {mark}
        if less in seen:
            continue
        seen.add(less)
        for narrow in _built(problem, less, build):
            own = cheapest(narrow)
            if own.pools and own.status == "optimal":
                heapq.heappush(opened, _Open(_value(own, by_time), len(seen), less, own))


def _built(problem: Problem, without: frozenset[Mark], build: Build) -> Iterator[Problem]:
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
        yield build(request, only)
    except (MissingFactError, NotSupportedError):
        return
