"""A deadline and budgets that hold even if every step takes longer than predicted."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from rlopt.answers.plan import Plan, Time
from rlopt.api import problem_of, solve
from rlopt.assembly.audit import faults
from rlopt.columns.pace import again, slower
from rlopt.costs import column_costs
from rlopt.search.exhaustive import exhaustive
from rlopt.search.search import search
from rlopt.studies.cheapest import cheapest
from tests.studies.small import asked, solved, usd

APART = {
    "placements": ["colocated", "disaggregated", "async"],
    "gpus": ["L40S"],
    "pricing": ["on_demand", "spot"],
    "mixed_pools": True,
    "scoring": ["shared", "own"],
}


def hours(plan: Plan) -> Time:
    assert plan.time is not None
    return plan.time


def gpus(plan: Plan) -> int:
    return sum(pool.gpus for pool in plan.pools)


def test_once_as_long_is_the_plain_plan_to_the_cent() -> None:
    plain, once = (solved(asked("grpo", limits={"deadline": "2h", **more})) for more in ({}, {"robust": {"time": 1}}))
    same = {"solver", "warnings"}
    assert once.model_dump(exclude=same) == plain.model_dump(exclude=same)


def test_a_deadline_that_holds_in_the_worst_case_may_need_more_machines() -> None:
    plain = solved(asked("grpo", limits={"deadline": "1.5h"}))
    loose = solved(asked("grpo", limits={"deadline": "2h", "robust": {"time": 1.5}}))
    tight = solved(asked("grpo", limits={"deadline": "1.5h", "robust": {"time": 1.5}}))
    assert (gpus(plain), gpus(loose), gpus(tight)) == (1, 1, 8)
    assert usd(plain) == usd(loose) < usd(tight)
    assert hours(loose).expected_hours == hours(plain).expected_hours
    for plan, deadline in ((loose, 2.0), (tight, 1.5)):
        assert plan.worst is not None
        assert hours(plan).confident_hours == pytest.approx(plan.worst.time.confident_hours, rel=1e-12)
        assert hours(plan).confident_hours <= deadline
        assert plan.worst.time.step_seconds == pytest.approx(1.5 * hours(plan).step_seconds, rel=1e-12)
    assert plain.provenance.error_band == loose.provenance.error_band


def test_budgets_hold_in_the_worst_case() -> None:
    """The fastest plan within a budget is another once its bill at 1.5 times the hours has to stay within it."""
    budgets: list[Any] = ["80 USD", {"compute": "80 USD"}]
    for budget in budgets:
        plain = solved(asked("grpo", objective="time", limits={"budget": budget}))
        robust = solved(asked("grpo", objective="time", limits={"budget": budget, "robust": {"time": 1.5}}))
        assert robust.worst is not None
        assert usd(plain) < 80.0 < 1.2 * usd(plain)
        assert usd(robust) < robust.worst.total_usd < 90.0
        assert gpus(robust) < gpus(plain)


@pytest.mark.parametrize("budget", ["11 USD", "14 USD", "15 USD"])
def test_the_cheapest_plan_within_a_budget_of_the_worst_case(budget: str) -> None:
    plan = solved(asked("grpo", limits={"budget": budget, "robust": {"time": 1.5}}))
    assert (plan.status == "optimal") is (budget == "15 USD")  # the bill is 11.22 USD, and 14.74 USD in the worst case


def test_the_audit_adds_up_the_worst_case() -> None:
    problem = problem_of(asked("grpo", limits={"deadline": "2h", "robust": {"time": 1.5}}))
    plan = cheapest(problem)
    assert plan.worst is not None
    assert faults(plan, problem) == []
    time = plan.worst.time
    for wrong in (
        {"total_usd": plan.worst.total_usd + 0.1},
        {"times": 1.4},
        {"time": time.model_copy(update={"step_seconds": 0.9 * time.step_seconds})},
        {"time": time.model_copy(update={"confident_hours": 0.9 * time.confident_hours})},
        {"time": time.model_copy(update={"expected_hours": 0.9 * time.expected_hours})},
    ):
        broken = plan.model_copy(update={"worst": plan.worst.model_copy(update=wrong)})
        assert faults(broken, problem) != [], wrong
    assert faults(plan.model_copy(update={"worst": None}), problem) != []


def test_without_a_plan_the_budget_that_the_worst_case_needs_is_named() -> None:
    plan = solve(asked("grpo", limits={"budget": "14 USD", "robust": {"time": 1.5}}))
    change = next(one for one in plan.relaxations if not isinstance(one, list) and one.constraint == "limits.budget")
    needed = solved(asked("grpo", limits={"robust": {"time": 1.5}})).worst
    assert needed is not None
    assert change.to == pytest.approx(needed.total_usd, rel=1e-2)


def test_a_tighter_worst_case_is_never_cheaper() -> None:
    bills = []
    for times in (1.0, 1.2, 1.4, 1.8):
        request = asked("grpo", choices={"placements": ["colocated"]}, limits={"deadline": "1.9h"})
        best = exhaustive(problem_of(request.replaced("limits.robust.time", times)))
        bills.append(best.usd if best else np.inf)
    assert bills == sorted(bills)
    assert len(set(bills)) > 1


def test_columns_scale_as_a_whole() -> None:
    """Every placement, mixed pools and pools that score apart: put together anew they are themselves, and scale."""
    request = asked("opd", choices=APART, limits={"max_gpus": 4}, floors={"checkpoints": {"history_every": 5}})
    problem = problem_of(request)
    every = search(problem, "cost", reductions=False).columns
    some = every.take(slice(0, None, max(len(every) // 4000, 1)))
    assert set(some.placement.tolist()) == {0, 1, 2}
    assert min((some.rollout2 >= 0).sum(), (some.score >= 0).sum(), (some.score2 >= 0).sum()) > 0
    same = again(problem, some)
    for one in fields(some):
        if one.name != "usd":
            np.testing.assert_allclose(getattr(same, one.name), getattr(some, one.name), rtol=1e-12)
    slow = slower(problem, 1.3)
    late = again(slow, some)
    np.testing.assert_allclose(late.step_seconds, 1.3 * some.step_seconds, rtol=1e-12)
    assert np.all(column_costs(late, slow) >= some.usd * (1.0 - 1e-12))
    robust = again(problem_of(request.replaced("limits.robust.time", 1.3)), some)
    np.testing.assert_allclose(robust.confident_hours, late.confident_hours, rtol=1e-12)
    np.testing.assert_allclose(robust.expected_hours, some.expected_hours, rtol=1e-12)
