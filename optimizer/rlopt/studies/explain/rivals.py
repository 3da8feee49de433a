"""The best plan of every other GPU type, provider, placement and pricing, and the reason why it lost.

Each rival is a problem of its own: the same request on the offers of one kind alone, built, searched and proven like
the plan itself; or with the next smaller number of GPUs in a pool that is busy for less than half of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from rlopt.answers.explanation import Axis, Over, Rival, Verdict
from rlopt.answers.plan import FoundPlan
from rlopt.assembly.bottlenecks import idle_pools, smaller_gpus, with_smaller
from rlopt.columns.joint import pool_rows
from rlopt.costs import COSTS
from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.facts import Offer
from rlopt.problem import Problem
from rlopt.rules import Rule, rules_of
from rlopt.search.clock import Clock
from rlopt.search.search import Found, search
from rlopt.studies.explain.unfit import empty, too_large, why_empty
from rlopt.studies.problem import part_of, rebuilt

DEADLINE = "limits.deadline"
CENT = 0.01
KINDS: tuple[tuple[Axis, Callable[[Offer], str]], ...] = (
    ("gpu", lambda offer: offer.shape.device),
    ("provider", lambda offer: offer.provider),
    ("pricing", lambda offer: offer.pricing),
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One rival to look at: its problem is built only when its turn comes."""

    axis: Axis
    value: str
    built: Callable[[], Problem]


def rivals_of(problem: Problem, plan: FoundPlan, clock: Clock) -> list[Rival]:
    """Rivals by axis, those with a plan first and cheapest first within it.

    A kind that every pool of the plan is of already is no rival.
    """
    found = [_rival(asked, plan, clock) for asked in _asked(problem, plan)]
    axes = list(dict.fromkeys(rival.axis for rival in found))
    return sorted(found, key=lambda one: (axes.index(one.axis), _rank(one, problem), one.value))


def _rank(rival: Rival, problem: Problem) -> tuple[float, float]:
    """Plans that keep every limit before those that do not, and by the objective within them."""
    value = rival.hours if problem.request.objective == "time" else rival.total_usd
    return (0.0 if rival.verdict in ("dearer", "slower") else 1.0, math.inf if value is None else value)


def _asked(problem: Problem, plan: FoundPlan) -> Iterator[_Asked]:
    request, by_id = problem.request, {offer.id: offer for offer in problem.market.offers}
    used = [by_id[pool.offer] for pool in plan.pools if pool.offer in by_id]
    for axis, of in KINDS:
        mine = {of(offer) for offer in used}
        for value in sorted({of(offer) for offer in problem.market.offers}):
            if mine != {value}:
                yield _Asked(axis, value, partial(part_of, problem, request, partial(_is, of, value)))
    placement = plan.decisions.placement
    for other in request.placements if problem.workload.generates else ():
        if other != placement:
            changed = request.replaced("choices.placements", (other,))
            yield _Asked("placement", other, partial(rebuilt, problem, changed))
    for pool in idle_pools(plan):
        gpus = smaller_gpus(plan, pool, problem)
        if gpus is not None and pool.share is None:
            value = f"{pool.name} on {gpus} of {pool.gpus} GPUs"
            yield _Asked("size", value, partial(with_smaller, plan, pool, gpus, problem))


def _is(of: Callable[[Offer], str], value: str, offer: Offer) -> bool:
    return of(offer) == value


def _rival(asked: _Asked, plan: FoundPlan, clock: Clock) -> Rival:
    def rival(verdict: Verdict, **more: object) -> Rival:
        return Rival.model_validate({"axis": asked.axis, "value": asked.value, "verdict": verdict, **more})

    if clock.over:
        clock.saw(False)
        return rival("unproven")
    try:
        own = asked.built()
    except (MissingFactError, NotSupportedError) as error:
        return rival("facts", note=error.sentence())
    rules, by_time = rules_of(own), own.request.objective == "time"
    if empty(own):
        over = too_large(own)
        return rival("memory", **_misfit(own)) if over is None else rival("limits", over=[over])
    kept = search(own, "time" if by_time else "cost", rules, seconds=clock.left)
    clock.saw(kept.complete)
    j = kept.best(by_time)
    if j is not None:
        return rival("slower" if by_time else "dearer", **_told(own, kept, j), by_dimension=_beside(own, kept, j, plan))
    if not kept.complete:
        return rival("unproven")
    fastest = search(own, "time", [rule for rule in rules if rule.key != DEADLINE], seconds=clock.left)
    j = fastest.best(by_time=True) if any(rule.key == DEADLINE for rule in rules) else None
    if j is not None and fastest.complete:
        return rival("late", **_told(own, fastest, j), over=_over(own, fastest, j, rules))
    unbound = search(own, "cost", [rule for rule in rules if not rule.relaxable], seconds=clock.left)
    j = unbound.best()
    if j is None or not unbound.complete:
        clock.saw(unbound.complete)
        return rival("unproven" if not unbound.complete else "limits")
    return rival("limits", **_told(own, unbound, j), over=_over(own, unbound, j, rules))


def _told(problem: Problem, found: Found, j: int) -> dict[str, object]:
    offers, columns = problem.market.offers, found.columns
    machines = [
        f"{int(pools.gpus[row])} {offers[int(pools.offer[row])].shape.device} "
        f"{offers[int(pools.offer[row])].pricing} at {offers[int(pools.offer[row])].provider}"
        for pools, row in pool_rows(columns, j, problem)
    ]
    return {
        "total_usd": float(columns.usd[j]),
        "hours": float(columns.confident_hours[j]),
        "machines": " + ".join(machines),
    }


def _over(problem: Problem, found: Found, j: int, rules: list[Rule]) -> list[Over]:
    column, over = found.columns.take(slice(j, j + 1)), []
    for rule in rules:
        if rule.amount is None:
            continue
        value = rule.amount(column, problem)
        if not rule.admits(value)[0]:
            over.append(Over(constraint=rule.key, value=float(value[0]), limit=rule.limit, unit=rule.unit))
    return over


def _beside(problem: Problem, found: Found, j: int, plan: FoundPlan) -> dict[str, float]:
    """USD by dimension of a column's bill minus the plan's; what is the same in both is left out."""
    column, more = found.columns.take(slice(j, j + 1)), {}
    for cost in COSTS:
        mine = sum(line.usd for line in plan.cost.lines if line.dimension == cost.DIMENSION)
        usd = float(sum(term[0] for term in cost.terms(column, problem).values())) - mine
        if abs(usd) >= CENT:
            more[cost.DIMENSION] = usd
    return more


def _misfit(problem: Problem) -> dict[str, object]:
    """What the closest training layout lacks; else what leaves no pools."""
    closest = problem.nearest
    if closest is None:
        return {"note": why_empty(problem)}
    note = (
        f"{closest.needed_gib:.4g} GiB per GPU needed on {closest.gpus} {closest.device}, {closest.capacity_gib:.4g} "
        f"GiB there; most of it {closest.part.replace('_', ' ')}, {closest.part_gib:.3g} GiB"
    )
    return {"missing_gib": closest.missing_gib, "stage": closest.stage, "note": note}
