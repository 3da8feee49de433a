"""Collapses, pilots, waits, spare nodes, lost machines, cut-off trials: hours and lines against paper arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rlopt.assembly.audit import faults
from rlopt.columns.interruptions import unready
from rlopt.costs import COSTS
from rlopt.problem import Columns, Problem, RecoveryOption
from rlopt.problem.tariff import TierTable
from rlopt.request import Request
from tests.costs.hand import HOT, HOUR, TARIFFS, columns_of, hand_problem, request
from tests.costs.test_by_hand import APART_HOT, CLEAN, EXPECTED, NORTH_HOT, WORKING, lines_of
from tests.costs.test_twins import plan_of

PROGRESS = 1 - 0.36 * 11 / 36
"""What is left of an hour beside stops, as in the hours by hand."""
RATE = 10.5
"""10 USD/h for the machine, 0.5 for the control node."""


def asked(job: dict[str, Any] | None = None, costs: dict[str, Any] | None = None, **parts: Any) -> Request:
    """The hand request with more in its job and costs."""
    plain = request()
    return request(
        job=plain.job.model_dump(by_alias=True) | (job or {}),
        costs=plain.costs.model_dump(by_alias=True) | (costs or {}),
        **parts,
    )


def twins(problem: Problem) -> Columns:
    """Every column, each of whose bills is found again by algebra and audit."""
    columns = columns_of(problem)
    for j in range(len(columns)):
        plan, one = plan_of(columns, j, problem), columns.take(slice(j, j + 1))
        terms = math.fsum(float(usd[0]) for cost in COSTS for usd in cost.terms(one, problem).values())
        assert plan.cost is not None
        assert plan.cost.total_usd == pytest.approx(terms, rel=1e-9)
        assert faults(plan, problem) == []
    return columns


def test_a_collapse_goes_back_half_of_what_lies_between_two_history_copies() -> None:
    # 9 of 18 steps again (900 s, saves included), 10 min of restart, 200 s of reading; two of them; stops beside
    redo = 2 * (900 / 3600 * (1 + 50 / 600) + 800 / 3600)
    problem = hand_problem(asked({"divergences": 2.0}))
    columns = twins(problem)
    assert columns.expected_hours[NORTH_HOT] == pytest.approx(0.25 + (WORKING + redo) / PROGRESS)
    assert columns.divergence_hours[NORTH_HOT] == pytest.approx(redo / PROGRESS)
    assert columns.failure_free_hours[NORTH_HOT] == pytest.approx(CLEAN)
    found, plain = lines_of(problem, NORTH_HOT), lines_of(hand_problem(), NORTH_HOT)
    assert found["divergence"] == pytest.approx(redo / PROGRESS * RATE * 2)
    assert found["loss to failures"] == pytest.approx(plain["loss to failures"])
    # history must be there at once: hot instead of cold, half the run and 50 h; each collapse reads 20 GB of it
    usd = 2 * 20 * 0.001 * (columns.expected_hours[NORTH_HOT] / 2 + 50) * 2 / 0.8
    assert found["history checkpoints"] == pytest.approx(usd)
    stops = 0.36 * (columns.expected_hours[NORTH_HOT] - EXPECTED)
    assert found["retrieval"] - plain["retrieval"] == pytest.approx((2 * 20 + stops * 100) * 0.02 * 2)


def test_the_copy_that_a_collapse_goes_back_to_comes_out_of_a_store_elsewhere() -> None:
    tariffs = (replace(TARIFFS[0], tiers=(replace(HOT, download_per_gb=0.07, get_usd=0.01),)), TARIFFS[1])
    prices: dict[str, Any] = {"tariffs": tariffs, "tiers": TierTable.of(tariffs)}
    plain, problem = hand_problem(**prices), hand_problem(asked({"divergences": 1.5}), **prices)
    twins(problem)
    more = lines_of(problem, 0)["reads from the store"] - lines_of(plain, 0)["reads from the store"]
    assert more == pytest.approx(1.5 * 20 * 0.07 * 2)


def test_a_collapse_without_history_goes_back_to_the_last_save() -> None:
    floors = request().floors.model_dump()
    floors["checkpoints"]["history_every"] = None
    # 3 of 6 steps again
    redo = 300 / 3600 * (1 + 50 / 600) + 800 / 3600
    columns = twins(hand_problem(asked({"divergences": 1.0}, floors=floors)))
    assert columns.expected_hours[NORTH_HOT] == pytest.approx(0.25 + (WORKING + redo) / PROGRESS)


def test_no_collapse_is_the_plain_job() -> None:
    assert lines_of(hand_problem(asked({"divergences": 0.0})), NORTH_HOT) == lines_of(hand_problem(), NORTH_HOT)


@pytest.mark.parametrize("within", [False, True])
def test_pilots_are_a_share_of_a_run_each(within: bool) -> None:
    pilots = {"runs": 3, "share": 0.1, "before_deadline": within}
    problem = hand_problem(asked({"pilots": pilots}))
    columns, plain = twins(problem), columns_of(hand_problem())
    assert lines_of(problem, NORTH_HOT)["pilots"] == pytest.approx(0.3 * EXPECTED * RATE)
    longer = 1.3 if within else 1.0
    assert columns.confident_hours == pytest.approx(plain.confident_hours * longer)
    time = plan_of(columns, NORTH_HOT, problem).time
    assert time is not None
    assert time.pilot_hours == pytest.approx(float(plain.confident_hours[NORTH_HOT]) * (longer - 1.0), abs=1e-12)


def test_engineers_find_faults_and_rework_between_trials() -> None:
    found = lines_of(hand_problem(asked(costs={"hours_per_failure": 2.0, "hours_per_trial": 3.0})), NORTH_HOT)
    assert found["diagnosis of failures"] == pytest.approx(0.36 * EXPECTED * 2 * 2.0 * 60)
    assert found["rework between trials"] == pytest.approx(1 * 3.0 * 60)


def test_nobody_looks_for_the_cause_of_a_reclaim() -> None:
    # spot at 0.9 stops an hour, 0.1 of them failures
    problem = hand_problem(asked(costs={"hours_per_failure": 2.0}), faults_per_node=np.array([0.36, 0.1, 0.2]))
    columns = twins(problem)
    spot = int(np.flatnonzero(columns.spot_gpus)[0])
    hours = float(columns.expected_hours[spot])
    assert columns.failures_per_hour[spot] == pytest.approx(0.9)
    assert lines_of(problem, spot)["diagnosis of failures"] == pytest.approx(0.1 * hours * 2 * 2.0 * 60)


@pytest.mark.parametrize("start", ["provisioning", "request"])
def test_a_run_waits_for_the_last_of_its_machines(start: str) -> None:
    limits = {"confidence": 0.9, "deadline_from": start}
    problem = hand_problem(asked(costs={"waiting_people": 0.5}, limits=limits), wait_hours=np.array([5.0, 7.0, 2.0]))
    columns, plain = twins(problem), columns_of(hand_problem())
    assert columns.wait_hours[[NORTH_HOT, APART_HOT]].tolist() == [5.0, 7.0]
    assert lines_of(problem, NORTH_HOT)["waiting people"] == pytest.approx(5 * 2 * 0.5 * 60)
    added = columns.wait_hours if start == "request" else 0.0
    assert columns.confident_hours == pytest.approx(plain.confident_hours + added)


def test_trials_that_are_cut_off_are_billed_for_what_they_run() -> None:
    cut = {"at": 0.6, "metric": "reward", "below": 0.4, "share": 0.5}
    problem = hand_problem(asked(limits={"confidence": 0.9, "cut_off": cut}))
    twins(problem)
    # one further run, half of whose kind stops after 0.6 of it: 0.8 of a run
    assert lines_of(problem, NORTH_HOT)["tuning trials"] == pytest.approx(RATE * CLEAN * 0.8)


def test_a_stop_waits_for_a_replacement_unless_a_spare_node_stands_ready() -> None:
    parts = {"recovery": {"replace_wait": HOUR / 2, "spare_nodes": (0, 1)}}
    problem = hand_problem(asked(**parts), recovery_options=(RecoveryOption(), RecoveryOption(spare_nodes=1)))
    columns = twins(problem)
    none, one = (int(np.flatnonzero(columns.recovery == recovery)[0]) for recovery in (0, 1))
    assert columns.expected_hours[none] == pytest.approx(0.25 + WORKING / (PROGRESS - 0.36 * 0.5))
    # the spare is out while the last stop is younger than half an hour: E[(0.5 - T)+] of T ~ Exp(0.36 / h)
    waits = 0.5 - (1 - math.exp(-0.36 * 0.5)) / 0.36
    assert columns.expected_hours[one] == pytest.approx(0.25 + WORKING / (PROGRESS - 0.36 * waits))
    assert (columns.gpus[one], columns.spot_gpus[one], columns.usd_per_hour[one]) == (4, 0, 20.0)
    found = lines_of(problem, one)
    assert found["spare node"] == found["pool main"] == pytest.approx(10.0 * CLEAN)
    assert "spare node" not in lines_of(problem, none)


def test_a_second_spare_waits_less_and_none_waits_all_the_time() -> None:
    load = np.array([1e-6, 0.01, 0.5, 3.0, 60.0])
    parts = [unready(np.full(5, float(count)), load) for count in range(4)]
    assert (parts[0] == 1.0).all()
    assert all((fewer >= more).all() for fewer, more in pairwise(parts))
    assert all((np.diff(part) >= -1e-12).all() for part in parts)
    drawn = np.random.default_rng(1).gamma(2.0, 1.0, 400_000)  # the second stop before this one
    assert parts[2][3] == pytest.approx(np.maximum(1 - drawn / 3.0, 0.0).mean(), abs=2e-3)


def test_a_lost_rollout_machine_of_an_elastic_launcher_slows_sampling_until_it_is_replaced() -> None:
    stopping, going = hand_problem(asked()), hand_problem(asked(), elastic=True)
    before, after = twins(stopping), twins(going)
    # train 60 s, sample 30 s, 10 s beside; both pools of one node: 0.1 and 0.2 stops an hour
    assert before.expected_hours[APART_HOT] == pytest.approx(0.25 + WORKING / (1 - 0.3 * 11 / 36))
    # alone in its pool the machine is all of it: nothing goes on for 10 min, and half of 30 s is sampled again where
    # it was sampling, 30 of 100 s
    lost = 0.2 * (1 / 6 + 0.3 * 15 / 3600)
    assert after.expected_hours[APART_HOT] == pytest.approx(0.25 + WORKING / (1 - 0.1 * 11 / 36 - lost))
    assert (after.failures_per_hour[APART_HOT], after.lost_per_hour[APART_HOT]) == pytest.approx((0.1, 0.2))
    # one of four nodes: 30 s become 40 s, so steps take 110 s instead of 100 s
    four = replace(going.rollout, nodes=np.array([4]))
    lost = 0.2 * (1 / 6 * (1 - 100 / 110) + 0.25 * 0.3 * 15 / 3600)
    columns = columns_of(replace(going, rollout=four))
    assert columns.expected_hours[APART_HOT] == pytest.approx(0.25 + WORKING / (1 - 0.1 * 11 / 36 - lost))


def test_copies_of_unfinished_responses_are_paid_and_shorten_what_is_sampled_again() -> None:
    tariffs = (replace(TARIFFS[0], tiers=(replace(HOT, put_usd=1e-4, upload_per_gb=0.5),)), TARIFFS[1])
    recovery_options = (RecoveryOption(), RecoveryOption(rollouts_every=100))
    problem = hand_problem(
        asked(checkpoint={"rollouts": (0, 100)}),
        recovery_options=recovery_options,
        elastic=True,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
    )
    columns = twins(problem)
    plain, copied = (np.flatnonzero((columns.recovery == recovery) & (columns.placement == 1)) for recovery in (0, 1))
    for j, again in ((int(plain[0]), 1.0), (int(copied[0]), 0.25)):  # at most 100 of 400 tokens are lost
        lost = 0.2 * (1 / 6 + 0.3 * 15 / 3600 * again)
        assert columns.expected_hours[j] == pytest.approx(0.25 + WORKING / (1 - 0.1 * 11 / 36 - lost))
    j = int(copied[0])
    found, hours = lines_of(problem, j), float(columns.expected_hours[j])
    # 16 prompts x K = 8 x 400 tokens x 8 bytes stand all the time; 4 copies of each response in 36 steps; two runs
    step = 16 * 8 * 400 * 8 / 1e9
    usd = step * 0.001 * hours * 2 / 0.8 + 16 * 8 * 36 * 4 * 1e-4 * 2
    assert found["unfinished responses"] == pytest.approx(usd)
    assert found["unfinished responses to the store"] == pytest.approx(step * 36 * 0.5 * 2)
    assert "unfinished responses" not in lines_of(problem, int(plain[0]))
