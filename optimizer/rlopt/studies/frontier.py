"""Cost against confident hours: every plan that no other beats in both, each point solved to proof.

One pass finds all columns on the frontier (the real breakpoints). Each chosen point is then proven by the program
with the deadline at its own hours: nothing within those hours is cheaper.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from rlopt.answers.plan import FoundPlan, Frontier, FrontierPoint, Plan
from rlopt.assembly.chosen import Chosen
from rlopt.columns.joint import pool_rows
from rlopt.problem import Columns, Problem
from rlopt.rules import Rule, deadline, rules_of
from rlopt.search.search import Found, admitted, search
from rlopt.search.staircase import pareto_index
from rlopt.studies.cheapest import solve_found
from rlopt.studies.knee import knee

ROUNDING = 1e-9
"""Two searches add up the same plan in another order."""


def _within(hours: float, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules with the deadline moved to ``hours``."""
    return (*(rule for rule in rules if rule.key != "limits.deadline"), deadline.within(hours))


def frontier_columns(problem: Problem) -> Found:
    """All columns on the frontier, by hours; the found set's rows are in that order."""
    found = search(problem, "frontier", rules_of(problem))
    columns = found.columns.take(found.admitted) if len(found.columns) else found.columns
    if len(columns):
        columns = columns.take(pareto_index(columns.confident_hours, columns.usd))
    return replace(found, columns=columns, admitted=np.ones(len(columns), dtype=bool))


def spread(columns: Columns, points: int) -> list[int]:
    """At most ``points`` rows: both ends, and between them those that cut the largest cost steps, by hours."""
    size = len(columns)
    if size <= points:
        return list(range(size))
    if points == 1:
        return [int(np.argmin(columns.usd))]
    chosen = [0, size - 1]
    while len(chosen) < points:
        chosen.sort()
        gaps = [
            (
                np.log(columns.usd[a])
                - np.log(columns.usd[b])
                + np.log(columns.confident_hours[b])
                - np.log(columns.confident_hours[a])
            )
            if b - a > 1
            else -1.0
            for a, b in pairwise(chosen)
        ]
        at = int(np.argmax(gaps))
        chosen.append(_middle(columns, chosen[at], chosen[at + 1]))
    return sorted(chosen)


def _middle(columns: Columns, a: int, b: int) -> int:
    """Row strictly between ``a`` and ``b`` whose cost is nearest the geometric mean of theirs."""
    inside = np.arange(a + 1, b)
    target = (np.log(columns.usd[a]) + np.log(columns.usd[b])) / 2.0
    return int(inside[np.argmin(np.abs(np.log(columns.usd[inside]) - target))])


def frontier(problem: Problem, points: int = 20, backend: str = "pulp") -> Frontier:
    """At most ``points`` plans by hours, none dominated, each proven cheapest within its own hours."""
    found = frontier_columns(problem)
    plans: list[Plan] = []
    for j in spread(found.columns, points):
        rules = _within(float(found.columns.confident_hours[j]), found.rules)
        here = replace(found, rules=rules, admitted=admitted(found.columns, rules, problem))
        plans.append(solve_found(problem, here, "cost", backend))
    return Frontier(points=plans, knee=knee(plans))


def in_short(chosen: Chosen, points: int = 6) -> list[FrontierPoint]:
    """The frontier in a few lines, from the most promising plans alone: what more or less time costs, about.

    `frontier` proves every point; these are plans as well, but a better one may stand between them.
    """
    problem, offers = chosen.problem, chosen.problem.market.offers
    found = search(problem, "frontier", quick=True)
    columns = found.columns.take(found.admitted) if len(found.columns) else found.columns
    columns = columns.take(pareto_index(columns.confident_hours, columns.usd)) if len(columns) else columns
    short = []
    for j in spread(columns, points - 1):
        rented = [
            (int(pools.gpus[row]), offers[int(pools.offer[row])]) for pools, row in pool_rows(columns, j, problem)
        ]
        words = [_words(gpus, offer.shape.device, offer.pricing, offer.provider) for gpus, offer in rented]
        hours, usd = float(columns.confident_hours[j]), float(columns.usd[j])
        short.append(FrontierPoint(confident_hours=hours, total_usd=usd, summary=" + ".join(words)))
    return _with_plan(short, chosen.plan)


def _words(gpus: int, gpu: str | None, pricing: str, provider: str) -> str:
    return f"{gpus} {gpu} {pricing} at {provider}"


def _with_plan(points: list[FrontierPoint], plan: FoundPlan) -> list[FrontierPoint]:
    """The points by hours with the plan among them, and none that it beats."""
    words = " + ".join(_words(pool.gpus, pool.gpu, pool.pricing, pool.provider) for pool in plan.pools if pool.gpus)
    hours, usd = plan.time.confident_hours, plan.cost.total_usd
    own = FrontierPoint(confident_hours=hours, total_usd=usd, summary=words)
    rest = [
        point
        for point in points
        if point.confident_hours < hours * (1.0 - ROUNDING) or point.total_usd < usd * (1.0 - ROUNDING)
    ]
    return sorted([*rest, own], key=lambda point: point.confident_hours)
