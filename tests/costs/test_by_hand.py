"""Each line of the bill against arithmetic on paper; the arithmetic stands beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.answers.plan import SolverSummary
from rlopt.assembly.plan import build_plan
from rlopt.costs import COSTS, bill, cache, compute, data, logging, network, operations, storage
from rlopt.costs.contract import runs
from rlopt.costs.stored import copies
from rlopt.costs.stored import kept_bytes as held
from rlopt.problem import Problem
from tests.costs.hand import GB, HOUR, columns_of, hand_problem, request

NORTH_HOT, NORTH_COLD, SPOT_HOT, SOUTH, APART_HOT, ASYNC_HOT = 0, 1, 2, 3, 4, 6
# steps of 100 s (90 + 10 of overhead), 36 of them: 1 h of work; a save every 6 steps (600 s) blocks for
# 100 GB / (2 GPUs x 1 GB/s) = 50 s, its upload of 100 GB / 0.5 GB/s = 200 s goes on beside the steps
WORKING = 1.0 * (1 + 50 / 600)
CLEAN = 0.25 + WORKING  # 10 + 5 minutes before the first step and after the last
# a stop loses 10 min of restart, 200 s of reading and half of 600 s: 11/36 h, at 0.36 stops an hour
EXPECTED = 0.25 + WORKING / (1 - 0.36 * 11 / 36)


def lines_of(problem: Problem, j: int) -> dict[str, float]:
    """USD by item of the bill of column ``j``."""
    columns = columns_of(problem)
    solver = SolverSummary(
        backend="", engine="", objective_usd=0.0, bound_usd=0.0, gap=0.0, seconds=0.0, columns=0, candidates=0
    )
    plan = build_plan(columns, j, problem, solver, "optimal")
    assert plan.cost is not None
    items = [line.item for line in plan.cost.lines]
    assert len(items) == len(set(items))
    return {line.item: line.usd for line in plan.cost.lines}


def test_the_hours() -> None:
    columns = columns_of(hand_problem())
    assert columns.step_seconds[NORTH_HOT] == pytest.approx(100)
    assert columns.failure_free_hours[NORTH_HOT] == pytest.approx(CLEAN, rel=1e-12)
    assert columns.expected_hours[NORTH_HOT] == pytest.approx(EXPECTED, rel=1e-12)
    # async: 60 s of training hide 80 % of 30 s of sampling: 60 + 0.2 x 30 + 4 = 70
    assert columns.step_seconds[ASYNC_HOT] == pytest.approx(70)
    # apart: 60 + 30 + 10
    assert columns.step_seconds[APART_HOT] == pytest.approx(100)


def test_compute() -> None:
    found = lines_of(hand_problem(), NORTH_HOT)
    assert found["pool main"] == pytest.approx(10.0 * CLEAN)  # 10 USD/h
    assert found["pool control"] == pytest.approx(0.5 * CLEAN)
    assert found["tuning trials"] == pytest.approx(10.5 * CLEAN)  # one further run
    apart = lines_of(hand_problem(), APART_HOT)
    assert apart["pool train"] == pytest.approx(10.0 * CLEAN)
    assert apart["pool rollout"] == pytest.approx(4.0 * CLEAN)


def test_one_run_has_no_trials_line() -> None:
    job = request().job.model_copy(update={"trials": 1})
    found = lines_of(hand_problem(request(job=job.model_dump())), NORTH_HOT)
    assert "tuning trials" not in found
    assert found["idle before release"] == pytest.approx(12 / 60 * 10.5)


def test_recent_checkpoints_while_saving_and_after() -> None:
    # 3 copies of 100 GB during the run (2 kept, 1 being written), 2 for 50 h after it, 0.001 USD/GB/h,
    # two runs, a fifth of the space stays free
    usd = 100 * 0.001 * (3 * EXPECTED + 2 * 50) * 2 / 0.8
    assert lines_of(hand_problem(), NORTH_HOT)["recent checkpoints"] == pytest.approx(usd)


def test_a_minimum_duration_is_billed_for_copies_deleted_early() -> None:
    columns = columns_of(hand_problem())
    hours = float(columns.expected_hours[NORTH_COLD])
    # 6 saves, 2 kept: 4 copies are deleted after 2 x hours / 6 each and billed for 100 h all the same;
    # the last 2 are deleted after 50 h and billed for 100
    early = 4 * (100 - 2 * hours / 6)
    usd = 100 * 0.0001 * (3 * hours + 2 * 50 + early + 2 * (100 - 50)) * 2 / 0.8
    assert lines_of(hand_problem(), NORTH_COLD)["recent checkpoints"] == pytest.approx(usd)


def test_best_copies_take_the_cheapest_tier_that_is_fast_enough() -> None:
    # 1 kept + 1 being written, 20 GB each. cold: 0.0001 x 100 h (its minimum); hot: 0.001 x EXPECTED for both, and
    # 50 h more for the one that is kept
    assert lines_of(hand_problem(), NORTH_HOT)["best checkpoints"] == pytest.approx(2 * 20 * 0.0001 * 100 * 2 / 0.8)
    floors = request().floors.model_dump()
    floors["checkpoints"]["recovery_time"] = 600.0  # cold takes two hours
    usd = 20 * 0.001 * (2 * EXPECTED + 50) * 2 / 0.8
    assert lines_of(hand_problem(request(floors=floors)), NORTH_HOT)["best checkpoints"] == pytest.approx(usd)
    floors["checkpoints"]["keep_best"] = 4
    usd = 20 * 0.001 * (5 * EXPECTED + 4 * 50) * 2 / 0.8
    assert lines_of(hand_problem(request(floors=floors)), NORTH_HOT)["best checkpoints"] == pytest.approx(usd)
    # kept for 200 h in cold: its minimum still binds the copy that is gone when the run is over
    costs = request().costs.model_dump(by_alias=True)
    costs["keep_for"]["checkpoints"] = 200 * HOUR
    floors["checkpoints"]["recovery_time"] = None
    usd = 20 * 0.0001 * (4 * (EXPECTED + 200) + 100) * 2 / 0.8
    found = lines_of(hand_problem(request(floors=floors, costs=costs)), NORTH_HOT)
    assert found["best checkpoints"] == pytest.approx(usd)


def test_history_accrues_and_is_held_half_the_run_on_average() -> None:
    # copies after steps 18 and 36: 2 of 20 GB, cold for its minimum of 100 h
    assert lines_of(hand_problem(), NORTH_HOT)["history checkpoints"] == pytest.approx(2 * 20 * 0.0001 * 100 * 2 / 0.8)
    # kept for 200 h the minimum no longer matters: half the run and 200 h
    costs = request().costs.model_dump(by_alias=True)
    costs["keep_for"]["checkpoints"] = 200 * HOUR
    usd = 2 * 20 * 0.0001 * (EXPECTED / 2 + 200) * 2 / 0.8
    found = lines_of(hand_problem(request(costs=costs)), NORTH_HOT)
    assert found["history checkpoints"] == pytest.approx(usd)


def test_data_and_base_weights_stand_where_they_are_at_hand() -> None:
    found = lines_of(hand_problem(), NORTH_HOT)
    # hot although cold is cheaper: 40 GB for both runs and 10 h more; 10e9 parameters of 2 bytes for both runs
    assert found["dataset"] == pytest.approx(40 * 0.001 * (2 * EXPECTED + 10) / 0.8)
    assert found["base weights"] == pytest.approx(20 * 0.001 * 2 * EXPECTED / 0.8)


def test_a_model_of_two_roles_is_stored_once() -> None:
    problem = hand_problem()
    role = problem.workload.roles[0]
    twice = replace(problem.workload, roles=(role, replace(role, name="reference", trained=False)))
    assert held.base_weights_bytes(replace(problem, workload=twice)) == held.base_weights_bytes(problem)
    other = replace(role, name="reward", model=replace(role.model, params=1e9), trained=False)
    more = replace(problem.workload, roles=(role, other))
    assert held.base_weights_bytes(replace(problem, workload=more)) == pytest.approx(22 * GB)


def test_uploads_to_another_providers_store() -> None:
    found = lines_of(hand_problem(), SOUTH)
    # 18 steps, a save every 9: 2 saves of 100 GB, 2 best copies and 1 of history of 20 GB, 0.05 USD/GB, two runs
    assert found["checkpoint upload"] == pytest.approx((2 * 100 + 3 * 20) * 0.05 * 2)
    assert found["final weights"] == pytest.approx(20 * 0.12)
    assert found["reads after stops"] == 0


def test_uploads_inside_a_provider_are_free_and_reads_after_stops_are_not() -> None:
    found = lines_of(hand_problem(), NORTH_HOT)
    assert found["checkpoint upload"] == 0
    assert found["reads after stops"] == 0
    # retrieval: 0.36 stops an hour, each reads 100 GB at 0.02 USD/GB; the best copy of 20 GB is read once a run from
    # cold at 0.03, which is still less than holding it in hot; the data set of 40 GB once a run from hot
    usd = 0.36 * EXPECTED * 100 * 0.02 * 2 + 20 * 0.03 * 2 + 40 * 0.02 * 2
    assert found["retrieval"] == pytest.approx(usd)
    assert found["final weights"] == pytest.approx(20 * 0.09)


def test_the_text_log() -> None:
    # 16 prompts x 8 samples x 36 steps x 2 runs x 500 tokens x 4 bytes, half of it logged: 0.009216 GB;
    # 0.5 USD/GB in, 0.0001 USD/GB/h for half the run and the 20 of 720 h beyond the free 700
    usd = 16 * 8 * 36 * 2 * 500 * 4 * 0.5 / 1e9 * (0.5 + 0.0001 * (EXPECTED / 2 + 20))
    assert lines_of(hand_problem(), NORTH_HOT)["text log"] == pytest.approx(usd)
    floors = request().floors.model_copy(update={"text_log_rate": None}).model_dump()
    assert "text log" not in lines_of(hand_problem(request(floors=floors)), NORTH_HOT)


def test_what_failures_cost() -> None:
    found = lines_of(hand_problem(), NORTH_HOT)
    assert found["loss to failures"] == pytest.approx((EXPECTED - CLEAN) * 10.5 * 2)
    assert found["idle before release"] == pytest.approx(12 / 60 * 10.5 * 2)


def test_people() -> None:
    # 60 USD an hour: 1 h to set up a colocated plan, 2 h apart, 3 h out of step; 2 h of on-call for each day, two runs
    problem = hand_problem()
    assert lines_of(problem, NORTH_HOT)["setup"] == pytest.approx(60)
    assert lines_of(problem, APART_HOT)["setup"] == pytest.approx(120)
    assert lines_of(problem, ASYNC_HOT)["setup"] == pytest.approx(180)
    assert lines_of(problem, NORTH_HOT)["on call"] == pytest.approx(EXPECTED / 24 * 2 * 60 * 2)


def test_no_price_of_people_no_line() -> None:
    costs = request().costs.model_copy(update={"engineer_hour": None}).model_dump(by_alias=True)
    found = lines_of(hand_problem(request(costs=costs)), NORTH_HOT)
    assert not {"setup", "on call"} & set(found)


def test_the_terms_say_the_same_item_by_item() -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    for cost in (compute, storage, network, cache, logging, operations, data):
        terms = cost.terms(columns, problem)
        for j in range(len(columns)):
            lines = lines_of(problem, j)
            named = {
                "gpu pools": lines.get("pool main", 0) + lines.get("pool train", 0) + lines.get("pool rollout", 0),
                "cpu pools": lines["pool control"],
            }
            for item, usd in terms.items():
                assert usd[j] == pytest.approx(named.get(item, lines.get(item, 0.0)), rel=1e-12), (item, j)


def test_every_line_has_a_basis_to_recompute_it_from() -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    solver = SolverSummary(
        backend="", engine="", objective_usd=0.0, bound_usd=0.0, gap=0.0, seconds=0.0, columns=0, candidates=0
    )
    plan = build_plan(columns, NORTH_HOT, problem, solver, "optimal")
    for line in bill(plan, problem):
        assert any(sign.isdigit() for sign in line.basis), line.item
        assert line.dimension in {cost.DIMENSION for cost in COSTS}


def test_the_factor_of_a_basis() -> None:
    assert runs(1) == ""
    assert runs(3) == " x 3 runs"


def test_copies() -> None:
    problem = hand_problem()
    assert copies.copies(problem, 36) == (3, 2, 2)
    assert copies.copies(problem, 17) == (3, 2, 0)
    none = hand_problem(request(floors={}))
    assert copies.copies(none, 36) == (2, 0, 0)  # one recent copy always, one more while it is written
    columns = columns_of(problem)
    assert copies.copies_by_column(columns, problem)[:, 2].tolist() == [2, 2, 2, 1, 2, 2, 2, 2]


def test_recovery_minutes() -> None:
    # 20 GB from hot: 40 s on one node, 20 s on two; from cold: 2 h and 20 s
    problem = hand_problem()
    found = copies.recovery_minutes(problem, np.array([0, 0]), 20 * GB, np.array([1.0, 2.0]))
    assert found == pytest.approx(np.array([[40 / 60, 120 + 20 / 60], [20 / 60, 120 + 10 / 60]]))
