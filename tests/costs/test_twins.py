"""Algebra and arithmetic of every cost and rule say the same, on random plans of random problems."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from rlopt.answers.plan import Plan, SolverSummary
from rlopt.assembly.audit import faults
from rlopt.assembly.plan import build_plan
from rlopt.costs import COSTS, bill
from rlopt.problem import Columns, Problem
from rlopt.rules import rules_of
from rlopt.search.exhaustive import every_column, keeps
from tests.costs.hand import columns_of, hand_problem, request
from tests.oracle.problems import random_problem

PLANS = 5


def plan_of(columns: Columns, j: int, problem: Problem) -> Plan:
    """The plan of one column, as a study would hand it to the audit."""
    solver = SolverSummary(
        backend="none",
        engine="none",
        objective_usd=float(columns.usd[j]),
        bound_usd=float(columns.usd[j]),
        gap=0.0,
        seconds=0.0,
        columns=len(columns),
        candidates=len(columns),
    )
    return build_plan(columns, j, problem, solver, "optimal")


def sample(seed: int) -> list[tuple[Problem, Columns, int]]:
    """A few random columns of a random problem, whether they keep its rules or not."""
    problem = random_problem(seed)
    columns = every_column(problem)
    count = min(PLANS, len(columns))
    chosen = np.random.default_rng(seed).choice(len(columns), count, replace=False) if count else []
    return [(problem, columns, int(j)) for j in chosen]


@pytest.mark.parametrize("shard", range(4))
def test_the_bill_is_the_columns_cost(shard: int) -> None:
    seen = 0
    for seed in range(shard, 80, 4):
        for problem, columns, j in sample(seed):
            plan = plan_of(columns, j, problem)
            lines = bill(plan, problem)
            one = columns.take(slice(j, j + 1))
            for cost in COSTS:
                terms = math.fsum(float(usd[0]) for usd in cost.terms(one, problem).values())
                billed = math.fsum(line.usd for line in lines if line.dimension == cost.DIMENSION)
                assert billed == pytest.approx(terms, rel=1e-9, abs=1e-12), (seed, j, cost.DIMENSION)
            assert math.fsum(line.usd for line in lines) == pytest.approx(float(columns.usd[j]), rel=1e-9)
            seen += 1
    assert seen >= 60


@pytest.mark.parametrize("shard", range(4))
def test_a_rule_measures_on_the_plan_what_it_counts_on_the_column(shard: int) -> None:
    names: Counter[str] = Counter()
    for seed in range(shard, 80, 4):
        for problem, columns, j in sample(seed):
            plan, one = plan_of(columns, j, problem), columns.take(slice(j, j + 1))
            for rule in rules_of(problem):
                if rule.amount is None:
                    assert rule.holds(plan, problem), (seed, j, rule.name)
                    continue
                amount = float(rule.amount(one, problem)[0])
                assert rule.measure(plan, problem) == pytest.approx(amount, rel=1e-9), (seed, j, rule.name)
                assert rule.holds(plan, problem) == bool(rule.admits(np.array([amount]))[0]), (seed, j, rule.name)
                names[rule.name] += 1
    assert len(names) == 13, names
    assert min(names.values()) >= 5


def test_the_audit_passes_exactly_the_columns_that_keep_every_rule() -> None:
    passed = 0
    for seed in range(100):
        for problem, columns, j in sample(seed):
            fine = bool(keeps(columns.take(slice(j, j + 1)), problem, rules_of(problem)).all())
            found = faults(plan_of(columns, j, problem), problem)
            assert (found == []) == fine, (seed, j, found)
            passed += fine
    assert passed >= 20


def test_a_wrong_bill_does_not_pass_the_audit() -> None:
    problem = hand_problem(request())
    columns = columns_of(problem)
    plan = plan_of(columns, 0, problem)
    assert plan.cost is not None
    assert plan.time is not None
    assert faults(plan, problem) == []
    dearer = plan.cost.model_copy(update={"total_usd": plan.cost.total_usd + 1})
    assert any("bill" in text for text in faults(plan.model_copy(update={"cost": dearer}), problem))
    moved = plan.solver.model_copy(update={"objective_usd": plan.cost.total_usd * 1.001})
    assert any("objective" in text for text in faults(plan.model_copy(update={"solver": moved}), problem))
    cheap = plan.pools[0].model_copy(update={"usd_per_hour": 9.0})
    found = faults(plan.model_copy(update={"pools": [cheap, *plan.pools[1:]]}), problem)
    assert any("catalog says 10" in text for text in found)
    more = plan.pools[0].model_copy(update={"gpus": 3})
    assert any("not 3 GPUs" in text for text in faults(plan.model_copy(update={"pools": [more]}), problem))
    hungry = plan.pools[0].model_copy(
        update={"memory": plan.pools[0].memory and plan.pools[0].memory.model_copy(update={"needed_gib": 71.0})}
    )
    found = faults(plan.model_copy(update={"pools": [hungry, *plan.pools[1:]]}), problem)
    assert any("memory" in text for text in found)
    early = plan.time.model_copy(update={"confident_hours": plan.time.expected_hours / 2})
    found = faults(plan.model_copy(update={"time": early}), problem)
    assert any("confident hours" in text for text in found)
