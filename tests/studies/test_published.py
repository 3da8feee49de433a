"""Published configurations: held as stated, lifted as little as needed, never dearer than they have to be."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from rlopt import api
from rlopt.errors import InputError
from rlopt.pools.build import build_problem
from rlopt.problem import Problem
from rlopt.rules import rules_of
from rlopt.search.exhaustive import best_of, every_column, keeps
from rlopt.search.search import search
from rlopt.studies.configuration import published as study
from rlopt.studies.configuration.published import Published, PublishedComparison, PublishedMachine, compare
from rlopt.studies.configuration.published_request import question, with_market, without
from rlopt.units import hours_to_seconds

EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"
EIGHT_A100 = Published("A100-80GB", 8, placement="colocated")
NEMO_ASYNC = Published(
    "H100-SXM",
    16,
    placement="async",
    training_gpus=8,
    degrees={"tp": 1, "pp": 1, "cp": 1, "ep": 1},
    sharding=1,
    rollout_tp=1,
    update_precision="bf16",
    rollout_precision="bf16",
    group_size=32,
)


@lru_cache(maxsize=16)
def problem(number: str, *overrides: str) -> Problem:
    """An example's problem."""
    return api.problem_of(api.load(next(EXAMPLES.glob(f"{number}-*.yaml")), overrides))


@lru_cache(maxsize=16)
def compared(number: str, run_name: str, *overrides: str) -> PublishedComparison:
    """One of the runs above beside an example's plan."""
    return compare(problem(number, *overrides), {"ppo": EIGHT_A100, "nemo": NEMO_ASYNC}[run_name])


def usd(found: PublishedComparison, which: str) -> float:
    """Total of one of the three plans."""
    plan = getattr(found, which)
    assert plan is not None
    assert plan.cost is not None
    return float(plan.cost.total_usd)


def test_what_was_stated_is_held() -> None:
    plan = compared("07", "nemo").configuration
    assert plan is not None
    assert plan.decisions is not None
    train, rollout = (pool for pool in plan.pools if pool.gpus)
    assert (train.gpus, rollout.gpus, plan.decisions.placement) == (8, 8, "async")
    assert {train.gpu, rollout.gpu} == {"H100-SXM"}
    assert train.layout is not None
    assert rollout.layout is not None
    assert (train.layout.tp, train.layout.pp, train.layout.cp, train.layout.dp) == (1, 1, 1, 8)
    assert train.layout.sharding == "zero1"
    assert rollout.layout.tp == 1
    assert (plan.decisions.precision.update, plan.decisions.precision.rollout) == ("bf16", "bf16")
    assert plan.decisions.group_size == 32


def test_the_bill_is_the_machines_price_times_the_hours() -> None:
    plan = compared("06", "ppo").configuration
    assert plan is not None
    assert plan.cost is not None
    assert plan.time is not None
    (pool,) = (pool for pool in plan.pools if pool.gpus)
    offer = next(offer for offer in problem("06").catalog.offers if offer.id == pool.offer)
    rent = next(line.usd for line in plan.cost.lines if line.dimension == "compute" and pool.name in line.item)
    assert pool.gpus == 8
    hours = plan.time.failure_free_hours
    assert hours is not None
    assert rent == pytest.approx(offer.price_per_hour * 8 / offer.gpus * hours)


def test_no_column_that_matches_is_cheaper() -> None:
    """The oracle: every column of the held problem, one after the other."""
    asked = with_market(question(problem("06").request, EIGHT_A100, problem("06").catalog), EIGHT_A100)
    assert not isinstance(asked, str)
    models = problem("06").models
    narrow = build_problem(asked.narrow, asked.catalog, models, held=study._held(EIGHT_A100, layout=True))
    columns = every_column(narrow)
    fine = keeps(columns, narrow, rules_of(narrow)).all(axis=0) & (columns.gpus == 8)
    best = best_of(columns, np.asarray(fine), narrow)
    assert best is not None
    assert usd(compared("06", "ppo"), "configuration") == pytest.approx(best.usd)


@pytest.mark.parametrize(("number", "run"), [("06", "ppo"), ("07", "nemo"), ("02", "ppo")])
def test_the_cheapest_under_the_same_limits_is_never_dearer(number: str, run: str) -> None:
    found = compared(number, run)
    assert usd(found, "unlimited") <= usd(found, "configuration") * (1 + 1e-9)
    assert usd(found, "unlimited") <= usd(found, "plan") * (1 + 1e-9)


def test_only_the_quota_that_is_broken_is_lifted() -> None:
    assert compared("07", "nemo").lifted == ("limits.quotas[0]",)


def test_nothing_is_lifted_where_the_run_keeps_the_request() -> None:
    found = compared("06", "ppo")
    assert found.lifted == ()
    assert found.unlimited is found.plan


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("limits.deadline=2h", "limits.deadline"),
        ("limits.budget=10 USD", "limits.budget"),
        ("limits.max_gpus=4", "limits.max_gpus"),
    ],
)
def test_a_limit_that_the_run_breaks_is_lifted_and_named(override: str, key: str) -> None:
    found = compared("06", "ppo", override)
    assert found.lifted == (key,)
    assert usd(found, "configuration") == pytest.approx(usd(compared("06", "ppo"), "configuration"))


def test_a_gpu_that_the_request_does_not_allow_is_allowed_beside_its_own() -> None:
    run = Published("H100-SXM", 8)
    found = compare(problem("02"), run)
    assert found.lifted == ("choices.gpus",)
    asked = question(problem("02").request, run, problem("02").catalog)
    assert asked.narrow.choices.gpus == ("H100-SXM",)
    own = {device.name for device in problem("02").catalog.devices_named("A100-80GB")}
    assert set(asked.wide.choices.gpus or ()) == {*own, "H100-SXM"}


def test_a_precision_below_the_floor_lifts_choice_and_floor() -> None:
    run = replace(NEMO_ASYNC, update_precision="fp8", rollout_precision="fp8")
    found = compare(problem("07"), run)
    assert set(found.lifted) >= {"choices.precision.update", "floors.update_precision", "limits.quotas[0]"}
    assert usd(found, "unlimited") <= usd(found, "configuration") * (1 + 1e-9)


def test_a_layout_that_is_no_candidate_leaves_the_machines_held() -> None:
    run = replace(EIGHT_A100, degrees={"tp": 3})
    found = compare(problem("06"), run)
    assert found.freed == ("layout",)
    assert usd(found, "configuration") == pytest.approx(usd(compared("06", "ppo"), "configuration"))


def test_machines_are_priced_by_the_card_where_only_cards_are_offered() -> None:
    run = Published(
        "H20", 16, placement="colocated", provider="优云智算", machine=PublishedMachine(8, "nvswitch", 3200.0)
    )
    found = compare(problem("11"), run)
    plan = found.configuration
    assert plan is not None
    (pool,) = (pool for pool in plan.pools if pool.gpus)
    card = next(o for o in problem("11").catalog.offers if o.id == "优云智算/cn/any/1x H20/on_demand")
    rate = problem("11").request.costs.usd_per_unit("CNY")
    assert rate is not None
    assert pool.usd_per_hour == pytest.approx(16 * card.price_per_hour * rate)
    assert card.id in found.assumed[0]


def test_machines_that_nobody_rents_are_a_reason() -> None:
    found = compare(problem("06"), Published("H800-SXM", 512, placement="colocated"))
    assert found.configuration is None
    assert "H800-SXM" in found.reason
    assert "512" in found.reason


def test_a_job_that_does_not_fit_is_a_reason() -> None:
    found = compare(problem("06"), Published("A100-80GB", 1, placement="colocated", offload="none"))
    assert found.configuration is None
    assert "does not fit" in found.reason


def test_held_rows_are_all_that_is_searched() -> None:
    asked = with_market(question(problem("07").request, NEMO_ASYNC, problem("07").catalog), NEMO_ASYNC)
    assert not isinstance(asked, str)
    request = without(asked.narrow, ("limits.quotas[0]",))
    assert len(request.limits.quotas) == len(asked.narrow.limits.quotas) - 1
    narrow = build_problem(request, asked.catalog, problem("07").models, held=study._held(NEMO_ASYNC, layout=True))
    assert set(narrow.training.gpus.tolist()) == {8}
    assert set(narrow.rollout.gpus.tolist()) == {8}
    columns = search(narrow, "cost").columns
    assert set(columns.gpus.tolist()) == {16}


def test_lifting_a_limit_leaves_the_others() -> None:
    request = problem("06", "limits.deadline=2h").request
    opened = without(request, ("limits.budget",))
    assert opened.budget_usd is None
    assert opened.limits.deadline == hours_to_seconds(2.0)
    with pytest.raises(KeyError):
        without(request, ("limits.nothing",))


def test_the_errors_of_a_request_stay_its_own() -> None:
    with pytest.raises(InputError):
        problem("06", "limits.deadline=soon")
