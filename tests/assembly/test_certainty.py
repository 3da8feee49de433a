"""How sure a plan says it is, against runs drawn from the model's own errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.answers.plan import Certainty, Plan
from rlopt.api import problem_of
from rlopt.assembly.certainty import certainty
from rlopt.assembly.chosen import Chosen
from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join
from rlopt.columns.pace import again
from rlopt.costs import column_costs
from rlopt.costs.operations import idle_hours
from rlopt.estimates import framework_names, planned_framework
from rlopt.estimates.uncertainty import planned_sigma
from rlopt.facts.files.folder import load_catalog
from rlopt.problem import Columns, Problem
from rlopt.request import Request
from rlopt.studies.cheapest import chosen
from tests.studies.small import asked

RUNS = 20_000
APART = {"placements": ["disaggregated"], "gpus": ["H100"]}


def solved(request: Request) -> tuple[Problem, Plan, Columns, Certainty]:
    problem = problem_of(request)
    found = chosen(problem)
    assert isinstance(found, Chosen)
    plan, column = found.plan, found.column
    assert plan.certainty is not None
    return problem, plan, column, plan.certainty


def drawn(problem: Problem, column: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Hours and bills of `RUNS` runs whose one pool is off by the model's own error."""
    gpu = problem.market.offers[int(problem.colocated.offer[column.train[0]])].shape.device
    known = load_catalog().calibration
    framework = framework_names(known)[planned_framework(known)]
    sigma = planned_sigma("training", gpu, False, known, problem.workload.generates, framework)
    off = np.exp(sigma * np.random.default_rng(7).standard_normal(RUNS))
    pools = problem.colocated.take(np.full(RUNS, column.train[0]))
    own, once = pools.times.in_step, pools.once
    times = replace(pools.times, in_step=replace(own, median=own.median * off))
    pools = replace(pools, times=times, once=replace(once, median=once.median * off))
    there = replace(problem, colocated=pools)
    many = column.take(np.zeros(RUNS, dtype=np.int64))
    runs = join(there, 0, np.arange(RUNS), None, Checkpointing(many.interval_steps, many.tier, many.recovery))
    return runs.expected_hours, column_costs(runs, there)


@pytest.mark.parametrize(("algorithm", "confidence"), [("sft", 0.6), ("dpo", 0.8), ("grpo", 0.9)])
def test_runs_drawn_from_the_error_band_meet_the_deadline_as_often_as_the_plan_says(
    algorithm: str, confidence: float
) -> None:
    """Frequencies within four standard errors of a sample of this size."""
    job = {"divergences": 0.3, "steps": 2000}
    problem, plan, column, _ = solved(asked(algorithm, limits={"confidence": confidence}, job=job))
    deadline = 1.01 * float(column.confident_hours[0])
    request = problem.request.replaced("limits.deadline", deadline * 3600.0)
    sure = certainty(replace(problem, request=request), column)
    hours, bills = drawn(problem, column)
    share = sure.deadline_probability
    assert share is not None
    assert confidence <= share < 0.999
    assert np.mean(hours <= deadline) == pytest.approx(share, abs=4.0 * np.sqrt(share * (1.0 - share) / RUNS))
    within = np.mean((bills >= sure.low_usd) & (bills <= (sure.high_usd or np.inf)))
    assert within == pytest.approx(confidence, abs=4.0 * np.sqrt(confidence * (1.0 - confidence) / RUNS))
    assert np.mean(bills < sure.low_usd) == pytest.approx((1.0 - confidence) / 2.0, abs=0.01)
    assert plan.cost is not None
    assert sure.low_usd < plan.cost.total_usd < (sure.high_usd or 0.0)


@pytest.mark.parametrize("choices", [{}, APART, {**APART, "placements": ["async"]}])
def test_at_the_share_of_runs_that_meet_it_the_deadline_is_the_confident_hours(choices: dict[str, object]) -> None:
    """The exact inverse: the same pools, asked for at that confidence, are done at the deadline."""
    request = asked("grpo", choices=choices, limits={"max_gpus": 4, "deadline": "3h"})
    _, _, column, _ = solved(request)
    tight = 1.02 * float(column.confident_hours[0])
    request = request.replaced("limits.deadline", tight * 3600.0)
    sure = certainty(problem_of(request), column)
    assert sure.deadline_probability is not None
    assert 0.9 < sure.deadline_probability < 0.999
    there = problem_of(request.replaced("limits.confidence", sure.deadline_probability))
    assert float(again(there, column).confident_hours[0]) == pytest.approx(tight, rel=1e-6)


def test_at_its_own_confidence_a_deadline_at_the_confident_hours_is_met_that_often() -> None:
    _, _, column, _ = solved(asked("sft"))
    own = float(column.confident_hours[0]) * 3600.0
    for confidence in (0.9, 0.5):
        request = asked("sft", limits={"confidence": confidence})
        hours = float(again(problem_of(request), column).confident_hours[0])
        sure = certainty(problem_of(request.replaced("limits.deadline", hours * 3600.0)), column)
        assert sure.deadline_probability == pytest.approx(confidence, abs=1e-6)
    median = certainty(problem_of(request.replaced("limits.deadline", own)), column)
    assert median.deadline_probability == pytest.approx(0.9, abs=1e-3)  # the band is known at the median as well


def test_a_worst_case_changes_the_plan_not_how_often_its_deadline_is_met() -> None:
    request = asked("sft", limits={"deadline": "3h"})
    _, _, column, plain = solved(request)
    robust = certainty(problem_of(request.replaced("limits.robust.time", 1.5)), column)
    for name in ("deadline_probability", "low_usd", "high_usd", "low_hours", "high_hours"):
        assert getattr(robust, name) == pytest.approx(getattr(plain, name), rel=1e-9), name


def test_spot_prices_of_the_zones_move_the_bill_of_spot_pools_alone() -> None:
    problem, plan, column, sure = solved(asked("sft", choices={"pricing": ["spot"]}))
    price = next(price for price in plan.provenance.prices if price.offer == plan.pools[0].offer)
    assert price.low is not None
    assert price.high is not None
    assert price.usd_per_hour is not None
    assert plan.cost is not None
    assert price.low < price.high
    assert sure.spot_low_usd is not None
    assert sure.spot_high_usd is not None
    hours = float(column.expected_hours[0]) + idle_hours(problem)
    for usd, rate in ((sure.spot_low_usd, price.low), (sure.spot_high_usd, price.high)):
        assert usd - plan.cost.total_usd == pytest.approx((rate - price.usd_per_hour) * hours, rel=1e-6)
    assert solved(asked("sft"))[3].spot_low_usd is None
