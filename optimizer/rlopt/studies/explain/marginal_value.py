"""What one more unit of a limit or floor is worth: the problem solved again with the limit moved, never read off duals.

A mixed-integer program has no duals to trust; the difference of two proven solves is what a signer can check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rlopt.answers.explanation import MovedLimit, Worth
from rlopt.answers.plan import FoundPlan
from rlopt.problem import Problem
from rlopt.rules import Rule, Scope, rules_of
from rlopt.search.clock import Clock
from rlopt.search.search import search
from rlopt.studies.problem import rebuilt

ROUNDING = 1e-9
GPUS = "limits.max_gpus"
"""Pools are built up to this limit only: where it moves, they are built again."""


def worth_of(problem: Problem, plan: FoundPlan, clock: Clock) -> list[Worth]:
    """Every limit and floor that binds the plan, each with the best plans one unit looser, one tighter and without it.

    Raises MissingFactError and NotSupportedError where a changed limit does.
    """
    usd, hours, found = plan.cost.total_usd, plan.time.confident_hours, []
    for rule in rules_of(problem):
        if rule.amount is None or not rule.relaxable or rule.scope is Scope.REQUEST or not rule.binds(plan, problem):
            continue
        unit = _unit(rule, plan)
        away = unit if rule.sense == "<=" else -unit
        looser = _moved(problem, rule, rule.limit + away, clock)
        found.append(
            Worth(
                constraint=rule.key,
                value=rule.measure(plan, problem),
                limit=rule.limit,
                unit=rule.unit,
                step=unit,
                usd_per_unit=None if looser is None else _saved(usd, looser.total_usd) / unit,
                hours_per_unit=None if looser is None else _saved(hours, looser.hours) / unit,
                looser=looser,
                tighter=_moved(problem, rule, rule.limit - away, clock),
                without=_moved(problem, rule, None, clock),
            )
        )
    return found


def _unit(rule: Rule, plan: FoundPlan) -> float:
    """One unit of a limit: a whole machine of GPUs, and what the rule calls one step of anything else."""
    if rule.key != GPUS:
        return rule.step
    return float(min((pool.gpus_per_node for pool in plan.pools if pool.gpus), default=1))


def _moved(problem: Problem, rule: Rule, limit: float | None, clock: Clock) -> MovedLimit | None:
    """The best plan where ``rule`` stands at ``limit``, or nowhere; None where there is no plan."""
    if rule.key == GPUS and (limit is None or limit > rule.limit):
        problem = rebuilt(problem, problem.request.replaced(GPUS, None if limit is None else int(limit)))
    others = [other for other in rules_of(problem) if (other.name, other.key) != (rule.name, rule.key)]
    kept = others if limit is None else [*others, replace(rule, limit=limit)]
    return _best(problem, kept, rule, limit, clock)


def _best(problem: Problem, rules: Sequence[Rule], rule: Rule, limit: float | None, clock: Clock) -> MovedLimit | None:
    by_time = problem.request.objective == "time"
    found = search(problem, "time" if by_time else "cost", rules, seconds=clock.left)
    clock.saw(found.complete)
    rows = np.flatnonzero(found.admitted)
    if not len(rows):
        return None
    best = rows[np.argmin((found.columns.confident_hours if by_time else found.columns.usd)[rows])]
    column = found.columns.take(np.array([best]))
    return MovedLimit(
        limit=limit,
        total_usd=float(column.usd[0]),
        hours=float(column.confident_hours[0]),
        value=float(rule.amount(column, problem)[0]) if rule.amount is not None else 0.0,
    )


def _saved(before: float, after: float) -> float:
    """The difference of two solves, 0 where it is rounding alone."""
    return 0.0 if abs(before - after) <= ROUNDING * abs(before) else before - after
