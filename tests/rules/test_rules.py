"""What each rule counts, and when it holds and binds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlopt.problem import Columns, Problem
from rlopt.rules import FAMILIES, row_of, rules_of
from rlopt.rules.contract import Rule
from rlopt.rules.stability import informative_share, samples_per_update
from tests.costs.hand import HOUR, columns_of, hand_problem, request
from tests.costs.test_twins import plan_of


def rule_named(problem: Problem, name: str, number: int = 0) -> Rule:
    return [rule for rule in rules_of(problem) if rule.name == name][number]


def amounts(problem: Problem, columns: Columns, name: str, number: int = 0) -> list[float]:
    amount = rule_named(problem, name, number).amount
    assert amount is not None
    return [float(value) for value in amount(columns, problem)]


def limited(**limits: Any) -> Problem:
    return hand_problem(request(limits=limits))


def floored(**floors: Any) -> Problem:
    return hand_problem(request(floors=floors))


def test_the_tables_names_are_unique() -> None:
    names = [family.NAME for family in FAMILIES]
    assert len(names) == len(set(names))


def test_gpus_of_all_pools() -> None:
    problem = limited(max_gpus=4)
    # colocated: 2, 2, 2 (north), 4 (south); apart and out of step: 2 + 2
    assert amounts(problem, columns_of(problem), "gpus") == [2, 2, 2, 4, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ({}, [2, 2, 2, 4, 4, 4, 4, 4]),
        ({"provider": "north"}, [2, 2, 2, 0, 4, 4, 4, 4]),
        ({"region": "s1"}, [0, 0, 0, 4, 0, 0, 0, 0]),
        ({"pricing": "spot"}, [0, 0, 2, 0, 2, 2, 2, 2]),
        ({"gpu": "T", "pricing": "on_demand"}, [2, 2, 0, 0, 2, 2, 2, 2]),
        ({"gpu": "U"}, [0, 0, 0, 4, 0, 0, 0, 0]),
        ({"provider": "elsewhere"}, [0] * 8),
    ],
)
def test_gpus_that_a_quota_row_speaks_of(quota: dict[str, Any], expected: list[float]) -> None:
    problem = limited(quotas=[{**quota, "max_gpus": 3}])
    assert amounts(problem, columns_of(problem), "quota") == expected


def test_every_quota_row_is_a_rule_of_its_own() -> None:
    problem = limited(quotas=[{"max_gpus": 0}, {"provider": "south", "max_gpus": 8}])
    assert [rule.key for rule in rules_of(problem) if rule.name == "quota"] == ["limits.quotas[0]", "limits.quotas[1]"]
    assert amounts(problem, columns_of(problem), "quota", 1) == [0, 0, 0, 4, 0, 0, 0, 0]


def test_the_share_never_reclaimed() -> None:
    problem = floored(on_demand_share=0.5)
    # on demand, on demand, spot, on demand, and one pool of two of each
    assert amounts(problem, columns_of(problem), "share") == [1, 1, 0, 1, 0.5, 0.5, 0.5, 0.5]


def test_the_hourly_budget_counts_the_machines_without_gpus() -> None:
    problem = limited(hourly_budget={"amount": 10.5, "currency": "USD"})
    assert amounts(problem, columns_of(problem), "hourly_budget") == [10.5, 10.5, 4.5, 13.0, 14.5, 14.5, 14.5, 14.5]


def test_budgets_in_another_currency() -> None:
    costs = request().costs.model_dump(by_alias=True) | {"exchange_rates": {"CNY": {"amount": 0.14, "currency": "USD"}}}
    problem = hand_problem(
        request(
            costs=costs,
            limits={
                "budget": {"amount": 1000, "currency": "CNY"},
                "hourly_budget": {"amount": 100, "currency": "CNY"},
            },
        )
    )
    assert rule_named(problem, "budget").limit == pytest.approx(140)
    assert rule_named(problem, "hourly_budget").limit == pytest.approx(14)


def test_the_deadline_is_held_against_the_confident_hours() -> None:
    problem = limited(deadline=1.7 * HOUR)
    columns = columns_of(problem)
    assert rule_named(problem, "deadline").limit == pytest.approx(1.7)
    assert amounts(problem, columns, "deadline") == columns.confident_hours.tolist()
    # x0: median 1.47 h, confident 1.68 h
    assert columns.expected_hours[0] < 1.5 < columns.confident_hours[0]


def test_informative_groups() -> None:
    # p = 1/2: 1 - 2 / 2^8 and 1 - 2 / 2^16
    problem = floored(informative_groups=0.99)
    found = amounts(problem, columns_of(problem), "informative_groups")
    assert found[0] == pytest.approx(1 - 2 / 256)
    assert found[3] == pytest.approx(1 - 2 / 65536)
    assert informative_share(0.1, 4) == pytest.approx(1 - 0.1**4 - 0.9**4)
    assert informative_share(0.3, 1) == pytest.approx(0)


def test_samples_per_update() -> None:
    job = request().job.model_dump() | {"updates_per_step": 4, "filter": {"drop": 0.25}}
    problem = hand_problem(request(job=job, floors={"samples_per_update": 24}))
    # 16 prompts x 8 samples x 3/4 kept / 4 updates
    assert samples_per_update(problem, 8) == pytest.approx(24)
    assert amounts(problem, columns_of(problem), "samples_per_update") == [24, 24, 24, 48, 24, 24, 24, 24]


def test_floors_on_precision_staleness_and_recovery() -> None:
    problem = floored(update_precision="bf16", max_staleness=0, checkpoints={"recovery_time": 600.0})
    columns = columns_of(problem)
    assert amounts(problem, columns, "update_precision") == [2, 2, 2, 1, 2, 2, 2, 2]
    assert amounts(problem, columns, "staleness") == [0, 0, 0, 0, 0, 0, 1, 1]
    # 100 GB at 0.5 GB/s: 200 s; cold: two hours and 100 s
    assert amounts(problem, columns, "recovery_time")[:2] == pytest.approx([200 / 60, 120 + 100 / 60])


def test_what_is_not_a_row_is_checked_on_the_plan() -> None:
    problem = hand_problem()
    plan = plan_of(columns_of(problem), 0, problem)
    assert row_of(rule_named(problem, "memory"), columns_of(problem), problem) is None
    assert rule_named(problem, "memory").measure(plan, problem) == pytest.approx(20 - 70)
    assert rule_named(problem, "copies").measure(plan, problem) == 0
    assert rule_named(problem, "history_every").measure(plan, problem) == 0
    assert plan.decisions is not None
    checkpoint = plan.decisions.checkpoint
    fewer = [use.model_copy(update={"copies": use.copies - 1}) for use in checkpoint.tiers]
    lost = checkpoint.model_copy(update={"tiers": fewer})
    poorer = plan.model_copy(update={"decisions": plan.decisions.model_copy(update={"checkpoint": lost})})
    assert rule_named(problem, "copies").measure(poorer, problem) == len(fewer)
    assert not rule_named(problem, "copies").holds(poorer, problem)
    off = checkpoint.model_copy(update={"interval_steps": 5})  # 5 does not divide 18
    astray = plan.model_copy(update={"decisions": plan.decisions.model_copy(update={"checkpoint": off})})
    assert not rule_named(problem, "history_every").holds(astray, problem)


@pytest.mark.parametrize(("over", "admitted"), [(0.0, True), (1e-9, True), (1e-7, False), (1e-3, False)])
def test_limits_hold_in_double_precision(over: float, admitted: bool) -> None:
    rule = Rule("r", "r", "h", "<=", 10.0, None, lambda _, __: 0.0)
    assert bool(rule.admits(np.array([10.0 + over]))[0]) is admitted
    floor = Rule("r", "r", "h", ">=", 10.0, None, lambda _, __: 0.0)
    assert bool(floor.admits(np.array([10.0 - over]))[0]) is admitted
    equal = Rule("r", "r", "h", "==", 10.0, None, lambda _, __: 0.0)
    assert bool(equal.admits(np.array([10.0 - over]))[0]) is admitted


def test_a_rule_binds_where_one_unit_tighter_excludes_the_plan() -> None:
    columns = columns_of(hand_problem())
    for most, binds in ((2, True), (3, False), (8, False)):  # the plan holds 2 GPUs, one unit is a GPU
        problem = limited(max_gpus=most)
        plan = plan_of(columns, 0, problem)
        assert rule_named(problem, "gpus").binds(plan, problem) is binds


def test_the_choice_is_one_column() -> None:
    problem = hand_problem()
    row = row_of(rule_named(problem, "choice"), columns_of(problem), problem)
    assert row is not None
    assert row.sense == "=="
    assert row.limit == 1
    assert row.coefficients.tolist() == [1.0] * 8


def test_a_dimensions_budget_counts_its_lines_alone() -> None:
    parts = {name: {"amount": 30.0, "currency": "USD"} for name in ("compute", "storage", "operations", "cache")}
    problem = limited(budget=parts)
    columns = columns_of(problem)
    found = [rule for rule in rules_of(problem) if rule.name == "budget"]
    assert {rule.key for rule in found} == {f"limits.budget.{name}" for name in parts}
    plan = plan_of(columns, 2, problem)
    assert plan.cost is not None
    for rule in found:
        dimension = rule.key.rpartition(".")[2]
        billed = sum(line.usd for line in plan.cost.lines if line.dimension == dimension)
        assert rule.measure(plan, problem) == pytest.approx(billed)
        assert rule.amount is not None
        assert rule.amount(columns, problem)[2] == pytest.approx(billed, abs=1e-9)
    # 2 spot GPUs at 4 USD/h and the head node at 0.5 USD/h, two runs of 1.3333 h without failures
    compute = [rule.key for rule in found].index("limits.budget.compute")
    assert amounts(problem, columns, "budget", compute)[2] == pytest.approx(4.5 * 2 * columns.failure_free_hours[2])


def test_precision_of_everything_that_scores() -> None:
    problem = floored(score_precision="bf16")
    columns = columns_of(problem)
    assert amounts(problem, columns, "score_precision") == [2] * 8
    assert rule_named(problem, "score_precision").measure(plan_of(columns, 0, problem), problem) == 2
    low = replace(problem.colocated, score_precision=np.array([1, 2, 3]))
    changed = replace(problem, colocated=low)
    assert amounts(changed, columns_of(changed), "score_precision") == [1, 1, 2, 3, 2, 2, 2, 2]


def test_bins_of_the_value_model_that_the_way_to_run_the_job_has() -> None:
    problem = floored(value_bins=101)
    assert [rule for rule in rules_of(problem) if rule.name == "value_bins"] == []
    few, many = (replace(problem.variants[0], value_bins=bins) for bins in (51, 201))
    problem = replace(problem, variants=(few, many))
    columns = columns_of(problem)
    later = replace(columns, variant=np.ones(len(columns), dtype=np.int64))
    assert amounts(problem, columns, "value_bins") == [51] * 8
    assert amounts(problem, later, "value_bins") == [201] * 8
    rule = rule_named(problem, "value_bins")
    assert not rule.holds(plan_of(columns, 0, problem), problem)
    assert rule.holds(plan_of(later, 0, problem), problem)


def test_points_of_the_core_metrics() -> None:
    def gaps(every: int, **more: float) -> list[float]:
        job = request().job.model_dump() | {"metrics": {"every": every, **more}}
        problem = hand_problem(request(job=job, floors={"core_metrics": {"every": 10}}))
        return amounts(problem, columns_of(problem), "core_metrics")[2:4]

    assert gaps(5) == [5, 5]
    assert gaps(5, thin_after=0.5, thin_to=0.25) == [20, 18]  # the run of 18 steps ends before the gap does
    assert gaps(100) == [36, 18]


@pytest.mark.parametrize(("stored", "holds"), [("source", True), ("jpeg90", True), ("jpeg75", False)])
def test_precision_of_stored_data_is_the_requests_own(stored: str, holds: bool) -> None:
    job = request().job.model_dump() | {"data": {"precision": stored}}
    problem = hand_problem(request(job=job, floors={"data_precision": "jpeg90"}))
    columns, rule = columns_of(problem), rule_named(problem, "data_precision")
    assert rule.holds(plan_of(columns, 0, problem), problem) is holds
    assert rule.amount is not None
    assert rule.admits(rule.amount(columns, problem)).tolist() == [holds] * len(columns)


def test_trajectories_that_a_run_holds_when_it_ends() -> None:
    job = request().job.model_dump() | {"filter": {"drop": 0.5, "before_storage": True}, "cache_hit_rate": 0.25}
    problem = hand_problem(request(job=job, floors={"replay_buffer": 2000}))
    columns = columns_of(problem)
    # 36 steps x 16 prompts x 8 samples, and 18 x 16 x 16: three quarters are new, half of those are kept
    assert amounts(problem, columns, "replay_buffer") == pytest.approx([4608 * 0.75 * 0.5] * 8)
    assert not rule_named(problem, "replay_buffer").holds(plan_of(columns, 0, problem), problem)


def test_bandwidth_is_that_of_the_slowest_node_and_unknown_is_none() -> None:
    job = request().job.model_dump() | {"environment": {"kind": "simulator", "steps_per_second": 50.0}}
    problem = hand_problem(request(job=job, floors={"simulator_bandwidth": 100e9}))
    offers = list(problem.market.offers)
    offers[0] = replace(offers[0], shape=replace(offers[0].shape, internode_gbps=50.0))
    offers[2] = replace(offers[2], shape=replace(offers[2].shape, internode_gbps=None))
    problem = replace(problem, market=replace(problem.market, offers=tuple(offers)))
    columns = columns_of(problem)
    # on demand, on demand, spot, the machine without a figure; apart: trains on demand, samples on spot
    assert amounts(problem, columns, "simulator_bandwidth") == [50, 50, 400, 0, 50, 50, 50, 50]
    rule = rule_named(problem, "simulator_bandwidth")
    assert [rule.measure(plan_of(columns, j, problem), problem) for j in (0, 2, 3, 4)] == [50, 400, 0, 50]


def test_tools_have_no_simulator() -> None:
    tools = {"kind": "tools", "calls_per_sample": {"mean": 1, "max": 2}, "seconds_per_call": {"mean": 1.0, "max": 2.0}}
    job = request().job.model_dump() | {"environment": tools}
    problem = hand_problem(request(job=job, floors={"simulator_bandwidth": 100e9}))
    assert [rule for rule in rules_of(problem) if rule.name == "simulator_bandwidth"] == []


def test_text_stands_at_its_floor_and_binds() -> None:
    problem = floored(text_log_rate=0.5)
    plan, rule = plan_of(columns_of(problem), 0, problem), rule_named(problem, "text_log_rate")
    assert rule.measure(plan, problem) == 0.5
    assert rule.binds(plan, problem)
    assert plan.decisions is not None
    quiet = plan.decisions.model_copy(
        update={"logging": plan.decisions.logging.model_copy(update={"text_log_rate": 0.4})}
    )
    assert not rule.holds(plan.model_copy(update={"decisions": quiet}), problem)
