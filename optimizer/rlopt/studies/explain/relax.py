"""Why nothing fits, and which single change of the request helps, with the price and hours of the plan it opens.

Each limit or floor is left out in turn; where a plan then exists, the change is made as small as the search can
prove: the deadline by the fastest plan, the budget by the cheapest, everything else by halving the step towards the
limit. Choices are opened in turn where memory leaves no candidate at all. A list is a combined change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rlopt.answers.plan import Relaxation
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.rules import Rule, Scope, rules_of
from rlopt.search.clock import Clock
from rlopt.search.search import Found, search
from rlopt.studies.problem import rebuilt
from rlopt.words import Offload

HALVINGS, TO_THE_UNIT = 7, 60
"""Steps towards a limit: a few for an answer at once, as many as it takes where the last unit is to be proven."""
LONGEST_SECONDS = 10.0
WIDER_GPUS = (2, 4, 16)
MOST_GPUS = 4096


def _relaxation(key: str, before: Any, after: Any, unit: str, found: Found, j: int) -> Relaxation:
    return Relaxation(
        constraint=key,
        from_=before,
        to=after,
        unit=unit,
        total_usd=float(found.columns.usd[j]),
        hours=float(found.columns.confident_hours[j]),
    )


def _amount(rule: Rule, found: Found, j: int, problem: Problem) -> float:
    assert_amount = rule.amount
    if assert_amount is None:
        return math.nan
    return float(assert_amount(found.columns.take(slice(j, j + 1)), problem)[0])


def _smallest(
    problem: Problem, rule: Rule, others: Sequence[Rule], found: Found, j: int, clock: Clock
) -> tuple[Found, int]:
    """Move the limit as little as a plan needs; returns the search and row of that plan."""
    if rule.key == "limits.deadline":
        fastest = search(problem, "time", others, seconds=clock.left)
        row = fastest.best(by_time=True)
        return (fastest, row) if row is not None else (found, j)
    as_predicted = problem.request.limits.robust.time == 1.0  # else the cheapest plan need not be so in the worst case
    if (rule.key == "limits.budget" and as_predicted) or rule.scope is Scope.REQUEST:
        return found, j
    kept, row, worst = found, j, rule.limit
    for _ in range(TO_THE_UNIT if clock.exact else HALVINGS):
        reached = _amount(rule, kept, row, problem)
        middle = (worst + reached) / 2.0
        if clock.over or abs(reached - worst) <= max(rule.step if clock.exact else 0.0, 1e-6 * max(1.0, abs(worst))):
            break
        nearer = search(problem, "cost", [*others, replace(rule, limit=middle)], seconds=clock.left)
        better = nearer.best()
        if better is None:
            worst = middle
        else:
            kept, row = nearer, better
    return kept, row


def _limits(problem: Problem, clock: Clock) -> list[Relaxation]:
    rules, found = rules_of(problem), []
    for rule in (r for r in rules if r.relaxable and r.amount is not None and r.key != "limits.max_gpus"):
        others = [other for other in rules if other is not rule]
        without = search(problem, "cost", others, seconds=clock.left)
        j = without.best()
        if j is None:
            continue
        without, j = _smallest(problem, rule, others, without, j, clock)
        found.append(_relaxation(rule.key, rule.limit, _amount(rule, without, j, problem), rule.unit, without, j))
    return found


def _more_gpus(problem: Problem, clock: Clock) -> list[Relaxation]:
    limit = problem.request.limits.max_gpus
    if limit is None:
        return []
    for factor in WIDER_GPUS:
        wide = min(max(limit * factor, 64 if factor > 2 else 16), MOST_GPUS)
        if clock.over or wide <= limit:
            break
        wider = rebuilt(problem, problem.request.replaced("limits.max_gpus", wide))
        rules = rules_of(wider)
        found = search(wider, "cost", rules, seconds=clock.left)
        j = found.best()
        if j is None:
            continue
        rule = next(rule for rule in rules if rule.key == "limits.max_gpus")
        others = [other for other in rules if other is not rule]
        found, j = _smallest(wider, replace(rule, limit=float(limit)), others, found, j, clock)
        return [_relaxation(rule.key, limit, int(found.columns.gpus[j]), "GPUs", found, j)]
    return []


def _openings(request: Request, memory: bool) -> list[tuple[str, Any, str, str]]:
    """Changes of choices worth trying: key, new value, what stands before and after, in words."""
    choices = request.choices
    found: list[tuple[str, Any, str, str]] = []
    if choices.gpus is not None:
        found.append(("choices.gpus", None, ", ".join(choices.gpus), "any"))
    rollout = choices.precision.rollout
    if request.job.generates and "fp8" not in rollout:
        found.append(("choices.precision.rollout", (*rollout, "fp8"), ", ".join(rollout), ", ".join((*rollout, "fp8"))))
    if "optimizer" not in choices.offload:
        found.append(("choices.offload", tuple(Offload), ", ".join(choices.offload), "all"))
    if memory and request.job.trainable.kind == "full":
        lora = type(request.job.trainable)(kind="lora", lora_rank=32)
        found.append(("job.trainable", lora, "full", "lora_rank: 32"))
    if "object" not in choices.data_store:
        stores = (*choices.data_store, "object")
        found.append(("choices.data_store", stores, ", ".join(choices.data_store), ", ".join(stores)))
    if not memory and choices.providers is not None:
        found.append(("choices.providers", None, ", ".join(choices.providers), "any"))
    return found


def _choices(problem: Problem, memory: bool, clock: Clock) -> list[Relaxation]:
    found = []
    for key, value, before, after in _openings(problem.request, memory):
        if clock.over:
            break
        opened = rebuilt(problem, problem.request.replaced(key, value))
        here = search(opened, "cost", seconds=clock.left)
        j = here.best()
        if j is not None:
            found.append(_relaxation(key, before, after, "", here, j))
    return found


def combined_change(problem: Problem) -> list[list[Relaxation]]:
    """The cheapest plan with every relaxable limit left out: all that it exceeds, as one combined change."""
    rules = rules_of(problem)
    found = search(problem, "cost", [rule for rule in rules if not rule.relaxable], seconds=LONGEST_SECONDS)
    j = found.best()
    if j is None:
        return []
    broken = [(rule, _amount(rule, found, j, problem)) for rule in rules if rule.relaxable and rule.amount is not None]
    broken = [(rule, value) for rule, value in broken if not bool(rule.admits(np.array([value]))[0])]
    return [[_relaxation(rule.key, rule.limit, value, rule.unit, found, j) for rule, value in broken]] if broken else []


def relaxations(problem: Problem, seconds: float = 10.0) -> list[Relaxation | list[Relaxation]]:
    """Changes that open a plan, the single ones first, cheapest first; a combined one where no single change helps."""
    singles = single_changes(problem, Clock.of(seconds))
    return [*singles] if singles else [*combined_change(problem)] if _any_pools(problem) else []


def _any_pools(problem: Problem) -> bool:
    return bool(len(problem.colocated) or (len(problem.training) and len(problem.rollout)))


def single_changes(problem: Problem, clock: Clock) -> list[Relaxation]:
    """Every single change found that alone opens a plan, cheapest first."""
    pools = _any_pools(problem)
    singles = _limits(problem, clock) if pools else []
    singles += _more_gpus(problem, clock)
    singles += _choices(problem, not pools, clock)
    return sorted(singles, key=lambda change: change.total_usd)
