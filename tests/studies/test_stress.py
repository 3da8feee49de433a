"""Plans at another pace than predicted, and runs drawn at that pace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rlopt import api
from rlopt.answers.plan import Stressed
from rlopt.assembly.audit import faults
from rlopt.assembly.chosen import Chosen
from rlopt.assembly.plan import build_plan
from rlopt.columns.pace import Pace, again, narrowed, paced, slower
from rlopt.costs import column_costs
from rlopt.problem import Columns, Problem
from rlopt.request import Request
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.cheapest import chosen
from rlopt.studies.stress import NO_PROGRESS, stressed
from tests.studies.small import asked

TRUE, RUNS = 1.5, 150
EXAMPLES = {
    "02-sft-llama3.1-8b-deadline": 1.15,
    "04-dpo-olmo2-1b-spot-only": 1.2,
    "05-rm-opt350m-dirty-data": 1.2,
    "07-grpo-llama3.1-8b-quota": 1.2,
    "11-grpo-qwen2.5-math-7b-cny": 1.2,
}
"""Deadline over the confident hours of the cheapest plan without one."""


def told(request: Request, times: float) -> tuple[Problem, Columns, Stressed]:
    problem = api.problem_of(request)
    found = chosen(problem)
    assert isinstance(found, Chosen)
    return problem, found.column, stressed(found, times)


@pytest.mark.parametrize("times", [0.8, 1.0, 1.5])
def test_hours_bill_and_right_plan_at_another_pace(times: float) -> None:
    """Every step times as long; the right plan is the best of all that can be listed at that pace."""
    problem, column, found = told(asked("grpo", limits={"deadline": "1.5h"}), times)
    slow = slower(problem, times)
    late = again(slow, column)
    assert float(late.step_seconds[0]) == pytest.approx(times * float(column.step_seconds[0]), rel=1e-12)
    assert found.total_usd == pytest.approx(float(column_costs(late, slow)[0]), rel=1e-9)
    assert found.confident_hours == pytest.approx(float(late.confident_hours[0]), rel=1e-12)
    best = exhaustive(slow)
    assert best is not None
    assert found.right is not None
    assert found.right.total_usd == pytest.approx(best.usd, rel=1e-9)
    assert found.meets_deadline is (times < 1.5)
    assert found.broken == (["limits.deadline"] if times == 1.5 else [])
    assert found.right.same is (times < 1.5)
    assert found.total_usd is not None
    assert found.regret_usd == pytest.approx(found.total_usd - best.usd, abs=1e-9)
    if times == 1.0:
        assert found.regret_usd == 0.0


def test_a_plan_under_stress_passes_the_audit_at_its_pace() -> None:
    problem = api.problem_of(asked("sft", job={"dataset_samples": 6400, "epochs": 1, "steps": None}))
    found = chosen(problem)
    assert isinstance(found, Chosen)
    plan, column = found.plan, found.column
    slow = slower(problem, 1.7)
    late = again(slow, column)
    late = late.with_cost(column_costs(late, slow))
    solver = plan.solver.model_copy(update={"objective_usd": float(late.usd[0])})
    assert faults(build_plan(late, 0, slow, solver, "optimal"), slow) == []
    assert faults(plan, slow) != []


def test_where_no_plan_keeps_a_budget_at_that_pace_there_is_no_right_one() -> None:
    request = asked("grpo", limits={"budget": "14 USD"})
    _, _, found = told(request, 1.5)
    assert found.broken == ["limits.budget"]
    assert found.right is None
    assert found.regret_usd is None
    assert found.meets_deadline is None


def test_a_run_that_stops_faster_than_it_works_says_so() -> None:
    request = asked("sft", choices={"pricing": ["spot"]}, floors={"checkpoints": {"history_every": 100}})
    problem, column, found = told(request, 1e8)
    assert not np.isfinite(again(slower(problem, 1e8), column).expected_hours[0])
    assert found.broken == [NO_PROGRESS]
    assert found.total_usd is None


def drawn(problem: Problem, column: Columns) -> np.ndarray:
    """Hours of runs whose true times are `TRUE` times the model's, each off by the model's own error."""
    own, one = narrowed(problem, column)
    known = 1.2815515655446004  # of confidence 0.9
    draws = np.random.default_rng(11).standard_normal(RUNS) / known
    return np.array([again(paced(own, Pace(TRUE, power=z)), one).confident_hours[0] for z in draws])


@pytest.mark.parametrize("name", EXAMPLES)
def test_where_runs_are_slower_the_robust_plan_meets_the_deadline_that_the_plain_one_misses(
    name: str, root: Path
) -> None:
    path = root / "examples" / "requests" / f"{name}.yaml"
    request = api.load(path, ("limits.deadline=1000h", "limits.confidence=0.9"))
    found = chosen(api.problem_of(request))
    assert isinstance(found, Chosen)
    free = found.column
    hours = EXAMPLES[name] * float(free.confident_hours[0])
    shares, bills = [], []
    for times in (1.0, TRUE):
        asks = request.replaced("limits.deadline", hours * 3600.0).replaced("limits.robust.time", times)
        problem = api.problem_of(asks)
        found = chosen(problem)
        assert isinstance(found, Chosen), times
        column = found.column
        shares.append(float(np.mean(drawn(problem, column) <= hours)))
        bills.append(float(column.usd[0]))
    plain, robust = shares
    assert plain < 0.75
    assert robust >= 0.9 - 4.0 * np.sqrt(0.09 / RUNS)
    assert bills[0] <= bills[1]
