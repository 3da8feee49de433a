"""Responses that grow over a run (`job.response_tokens.mean_end`): hours, bill and what a plan says of them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.assembly.chosen import Chosen, ChosenColumn
from rlopt.assembly.timing import step_at
from rlopt.estimates.loop.run_average import PARTS
from rlopt.pools.growth import GrowingTables, tables_at
from rlopt.problem import Columns, Problem
from rlopt.studies.cheapest import cheapest, chosen
from tests.studies.small import asked, solved, usd

PLACEMENTS = ("colocated", "disaggregated", "async")
STEPS, SAMPLES = 30, 64 * 4
APART: dict[str, Any] = {"gpus": ["H100"], "scoring": ["shared", "own"]}


@lru_cache
def growing(placement: str, mean: int, end: int | None, p99: int | None = None, **more: Any) -> Problem:
    """A job of one placement whose responses grow from ``mean`` to ``end`` tokens."""
    texts = {"mean": mean, "max": 900, "mean_end": end, "p99": p99}
    text = {key: value for key, value in texts.items() if value is not None}
    choices = {**APART, "placements": [placement]}
    limits = {"max_gpus": 16}
    return problem_of(
        asked("grpo", job={"response_tokens": text, "steps": STEPS}, choices=choices, limits=limits, **more)
    )


@lru_cache
def answer(placement: str, mean: int, end: int | None, p99: int | None = None) -> tuple[Plan, Columns]:
    """Its cheapest plan and joint column."""
    found = chosen(growing(placement, mean, end, p99))
    assert isinstance(found, Chosen)
    plan, column = found.plan, found.column
    return plan, column


def hours(plan: Plan) -> float:
    """Expected hours of a run."""
    assert plan.time is not None
    return plan.time.expected_hours


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_mean_at_the_end_that_is_the_mean_changes_nothing(placement: str) -> None:
    same, without = answer(placement, 300, 300)[0], answer(placement, 300, None)[0]
    clocks = {"solver": {"seconds", "search_seconds"}}
    assert same.model_dump(exclude=clocks) == without.model_dump(exclude=clocks)
    assert same.time is not None
    assert same.time.first_step_seconds is None


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_bill_rises_with_the_mean_at_the_end(placement: str) -> None:
    bills = [usd(answer(placement, 300, end)[0]) for end in (150, 300, 500, 900)]
    assert bills == sorted(bills)
    assert len(set(bills)) == len(bills)


def test_the_hours_of_the_fastest_plan_rise_with_the_mean_at_the_end() -> None:
    fastest = [cheapest(growing("async", 300, end, objective="time")) for end in (150, 300, 800)]
    times = [plan.time.confident_hours for plan in fastest if plan.time is not None]
    assert times == sorted(times)
    assert len(set(times)) == 3


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_hours_are_those_of_the_steps_one_by_one(placement: str) -> None:
    problem, (plan, column) = growing(placement, 100, 800), answer(placement, 100, 800)
    whole, time = problem.estimates, plan.time
    assert isinstance(whole, GrowingTables)
    assert time is not None
    first, last = time.first_step_seconds, time.last_step_seconds
    assert first is not None
    assert last is not None
    assert first < time.step_seconds < last

    def step(share: float) -> float:
        return step_at(ChosenColumn(problem, column), tables_at(whole, share))

    assert (first, last) == (step(0.0), step(1.0))
    parts = [step((part + 0.5) / PARTS) for part in range(PARTS)]  # each pool's details anew, put together by hand
    assert time.step_seconds == pytest.approx(sum(parts) / PARTS, rel=1e-9)
    for shares in ([(i + 0.5) / STEPS for i in range(STEPS)], [i / (STEPS - 1) for i in range(STEPS)]):
        one_by_one = sum(map(step, shares)) / STEPS
        assert time.step_seconds == pytest.approx(one_by_one, rel=2e-3)
        assert abs(time.step_seconds - one_by_one) <= (last - first) * (1.0 / (2 * PARTS) + 1.0 / STEPS)
    clean = time.startup_hours + STEPS * time.step_seconds / 3600.0 + time.saving_hours
    assert time.failure_free_hours == pytest.approx(clean)


def test_side_by_side_a_run_takes_longer_than_its_average_step() -> None:
    problem, (plan, column) = growing("async", 100, 800), answer("async", 100, 800)
    level = growing("async", 450, None)
    assert plan.time is not None
    whole = problem.estimates
    assert isinstance(whole, GrowingTables)
    at_average = step_at(ChosenColumn(problem, column), tables_at(whole, 0.5))
    assert plan.time.step_seconds > at_average
    assert usd(plan) > usd(cheapest(level))


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_answers_that_shrink_take_what_those_that_grow_do(placement: str) -> None:
    grows, shrinks = answer(placement, 150, 600)[0], answer(placement, 600, 150)[0]
    assert usd(shrinks) == pytest.approx(usd(grows), rel=1e-12)
    assert grows.time is not None
    assert shrinks.time is not None
    assert shrinks.time.first_step_seconds == pytest.approx(grows.time.last_step_seconds)
    assert shrinks.time.last_step_seconds == pytest.approx(grows.time.first_step_seconds)


def test_memory_is_that_of_the_maximum_whatever_the_mean() -> None:
    for placement in PLACEMENTS:
        level, grows = growing(placement, 300, None), growing(placement, 300, 800)
        assert grows.excluded == level.excluded
        for one, other in ((level.training, grows.training), (level.colocated, grows.colocated)):
            assert sorted(set(other.nodes.tolist())) == sorted(set(one.nodes.tolist()))


def test_texts_and_tokens_are_those_of_the_average() -> None:
    grows, level = answer("colocated", 300, 800)[0], answer("colocated", 550, None)[0]
    assert grows.usage is not None
    assert level.usage is not None
    assert grows.usage.response_tokens == pytest.approx(STEPS * SAMPLES * 550)
    assert grows.usage.training_tokens == level.usage.training_tokens
    assert grows.usage.useful_pflop_days == pytest.approx(level.usage.useful_pflop_days)


def test_a_percentile_stays_and_tells_the_spread_of_every_step() -> None:
    free, tight = answer("colocated", 300, 600)[0], answer("colocated", 300, 600, 700)[0]
    assert hours(tight) < hours(free), "lengths that stay below 700 end sooner than the default's tail"


@pytest.mark.parametrize(("placements", "mixed"), [(["colocated", "disaggregated"], True), (["async"], True)])
def test_search_solvers_and_enumeration_agree(placements: list[str], mixed: bool) -> None:
    text = {"mean": 100, "max": 900, "mean_end": 800}
    choices = {**APART, "gpus": ["A100-80GB", "H100"], "placements": placements, "mixed_pools": mixed}
    plan = solved(asked("grpo", job={"response_tokens": text}, choices=choices))
    assert plan.time is not None
    assert plan.time.last_step_seconds is not None


def test_steps_that_differ_by_group_size_each_see_the_whole_growth() -> None:
    text = {"mean": 100, "max": 900, "mean_end": 800}
    job = {"response_tokens": text, "convergence": {4: 200, 8: 100}, "steps": None}
    choices = {**APART, "group_size": [4, 8]}
    plan = solved(asked("grpo", job=job, choices=choices, floors={"group_size": 8}))
    assert plan.time is not None
    assert plan.usage is not None
    assert plan.time.steps == 100
    assert plan.usage.response_tokens == pytest.approx(100 * 64 * 8 * 450)
