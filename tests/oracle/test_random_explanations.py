"""What explanations say of limits, held against the listing of every column of small random problems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rlopt.problem import Columns, Problem
from rlopt.request import Request
from rlopt.rules import Rule, rules_of
from rlopt.search.clock import Clock
from rlopt.search.exhaustive import every_column, keeps
from rlopt.studies.cheapest import cheapest
from rlopt.studies.explain import marginal_value, relax
from rlopt.studies.explain.marginal_value import worth_of
from rlopt.studies.explain.relax import combined_change, single_changes
from tests.oracle.problems import random_problem

LONG = 600.0
INFEASIBLE, FEASIBLE = 100, 60


@pytest.fixture(autouse=True)
def _random_problems_have_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed request of a random problem has the pools that stand there: no offers would be found for it anew."""

    def rebuilt(problem: Problem, request: Request) -> Problem:
        return replace(problem, request=request, gpu_limit=request.limits.max_gpus or problem.gpu_limit)

    for module in (relax, marginal_value):
        monkeypatch.setattr(module, "rebuilt", rebuilt)


def _least(columns: Columns, problem: Problem, rules: list[Rule]) -> float:
    """Cheapest column that keeps the rules; infinite where none does."""
    fine = keeps(columns, problem, rules).all(axis=0) if len(columns) else np.zeros(0, dtype=bool)
    return float(columns.usd[fine].min(initial=math.inf))


def _everything(problem: Problem) -> Problem:
    """The same problem with pools of every size, whatever max_gpus says: columns beyond the limit are listed too."""
    return replace(problem, gpu_limit=10_000)


def _moved(rules: list[Rule], key: str, limit: float | None) -> list[Rule]:
    others = [rule for rule in rules if rule.key != key]
    return others if limit is None else [*others, *(replace(r, limit=limit) for r in rules if r.key == key)]


@pytest.mark.parametrize("shard", range(4))
def test_each_change_alone_opens_a_plan_and_one_unit_less_does_not(shard: int) -> None:
    seen = changes = 0
    for seed in range(shard, 4000, 4):
        if seen >= INFEASIBLE / 4:
            break
        problem = random_problem(seed)
        columns, rules = every_column(_everything(problem)), rules_of(problem)
        if math.isfinite(_least(columns, problem, rules)):
            continue
        seen += 1
        found = single_changes(problem, Clock.of(LONG, exact=True))
        named = {change.constraint: change for change in found}
        for rule in (one for one in rules if one.relaxable and one.amount is not None):
            least = _least(columns, problem, _moved(rules, rule.key, None))
            if not math.isfinite(least):
                assert rule.key not in named, (seed, rule.key)
                continue
            change, sign = named[rule.key], 1.0 if rule.sense == "<=" else -1.0
            reached = float(change.to)
            at = _least(columns, problem, _moved(rules, rule.key, reached))
            assert change.total_usd >= at * (1 - 1e-9), (seed, rule.key)
            assert math.isfinite(at), (seed, rule.key)
            nearer = reached - sign * rule.step * (1 + 1e-9)
            past = (nearer - rule.limit) * sign <= 0  # the limit itself is proven to leave nothing
            assert past or not math.isfinite(_least(columns, problem, _moved(rules, rule.key, nearer))), (
                seed,
                rule.key,
            )
            changes += 1
        unbound = [rule for rule in rules if not rule.relaxable]
        together = combined_change(problem)
        least = _least(columns.take(columns.gpus <= problem.gpu_limit), problem, unbound)
        assert bool(together) == math.isfinite(least), seed
        if together:
            assert together[0][-1].total_usd == pytest.approx(least, rel=1e-9), seed
    assert seen == INFEASIBLE / 4
    assert changes >= 15


@pytest.mark.parametrize("shard", range(3))
def test_what_a_limit_is_worth_is_the_difference_of_two_listings(shard: int) -> None:
    seen = compared = 0
    for seed in range(shard, 4000, 3):
        if seen >= FEASIBLE / 3:
            break
        problem = random_problem(seed)
        plan = cheapest(problem)
        if plan.cost is None or not any(rule.binds(plan, problem) for rule in rules_of(problem)):
            continue
        seen += 1
        columns, rules = every_column(_everything(problem)), rules_of(problem)
        for worth in worth_of(problem, plan, Clock.of(LONG)):
            rule = next(rule for rule in rules if rule.key == worth.constraint)
            away = worth.step if rule.sense == "<=" else -worth.step
            for moved, limit in (
                (worth.looser, worth.limit + away),
                (worth.tighter, worth.limit - away),
                (worth.without, None),
            ):
                least = _least(columns, problem, _moved(rules, worth.constraint, limit))
                assert (math.inf if moved is None else moved.total_usd) == pytest.approx(least, rel=1e-9), (
                    seed,
                    worth.constraint,
                    limit,
                )
                compared += 1
            assert worth.looser is not None
            assert worth.usd_per_unit == pytest.approx(
                (plan.cost.total_usd - worth.looser.total_usd) / worth.step, abs=1e-6
            )
            assert worth.usd_per_unit is not None
            assert worth.usd_per_unit >= 0.0
    assert compared >= 60


def test_a_request_is_not_changed_by_being_explained() -> None:
    problem = random_problem(5)
    before: Request = problem.request
    single_changes(problem, Clock.of(LONG))
    assert problem.request == before
