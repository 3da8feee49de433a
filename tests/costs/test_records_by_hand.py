"""Traces, dashboards, logs that leave, collected samples, checks, tools and evaluation sets, on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlopt.answers.plan import BillLine, Plan
from rlopt.problem import Problem
from rlopt.request import DataWork, Evaluation, Inspect, Request
from rlopt.request.job.records import Dashboards, Traces
from rlopt.units import Money
from tests.costs.hand import HOUR, hand_problem, request
from tests.costs.rich import rich_problem, rich_request
from tests.costs.test_rich_by_hand import asked, hours, plan_with, usd

TRACES = Traces(spans_per_step=1_000_000, sample_rate=0.1, bytes_per_span=400.0)
STEPS = {0: 36, 1: 18}
"""Steps of the plans of the two zones."""


def line(plan: Plan, item: str) -> BillLine:
    """The line of an item."""
    assert plan.cost is not None
    return next(one for one in plan.cost.lines if one.item == item)


def with_data(**changes: Any) -> Request:
    """The rich request with other work on its data."""
    return asked("job.data", rich_request().job.data.model_copy(update=changes))


def test_traces_are_taken_in_and_kept_as_logs_are() -> None:
    # a million spans a step, a tenth of them kept, 400 B each: 0.04 GB a step, 36 steps in two runs; 0.5 USD/GB in and
    # 0.0001 USD/GB/h for half a run and the 20 of 720 h beyond the free 700
    plan = plan_with(rich_problem(asked("job.metrics.traces", TRACES)), zone=0, variant=0, tier=0)
    assert usd(plan)["logging/traces"] == pytest.approx(2 * 0.04 * 36 * (0.5 + 0.0001 * (hours(plan) / 2 + 20)))
    found = line(plan, "traces")
    assert (found.kind, "1000000 spans x 0.1 kept x 36 steps x 2 runs x 400 B = 2.88 GB" in found.basis) == (
        "elastic",
        True,
    )
    assert "logging/traces" not in usd(plan_with(rich_problem(), zone=0, variant=0, tier=0))


def test_traces_leave_with_the_logs() -> None:
    plain = plan_with(rich_problem(), zone=1, variant=0)
    plan = plan_with(rich_problem(asked("job.metrics.traces", TRACES)), zone=1, variant=0)
    more = usd(plan)["network/logs out of the cloud"] - usd(plain)["network/logs out of the cloud"]
    assert more == pytest.approx(2 * 0.04 * 18 * 0.12)
    south = rich_problem().tariffs[1]
    told = rich_problem(tariffs=(rich_problem().tariffs[0], replace(south, log_way="to far f1 over the internet")))
    assert line(plan_with(told, zone=1, variant=0), "logs out of the cloud").basis.endswith(
        "to far f1 over the internet"
    )


@pytest.mark.parametrize(
    ("views", "month"),
    [
        (Dashboards(panels=3, price=Money(7.3, "USD")), 21.9),
        (Dashboards(users=2, price=Money(7.3, "USD")), 14.6),
        (Dashboards(panels=3, users=2, price=Money(7.3, "USD")), 36.5),
        (Dashboards(panels=3, users=2, price=Money(7.3, "USD"), user_price=Money(14.6, "USD")), 51.1),
    ],
)
def test_dashboards_by_the_month_of_all_runs_and_the_retention(views: Dashboards, month: float) -> None:
    problem = rich_problem(rich_request().replaced("costs.dashboards", views))
    plan = plan_with(problem, zone=0, variant=0, tier=0)
    assert problem.request.costs.keep_for.logs == 720 * HOUR
    assert usd(plan)["logging/dashboards"] == pytest.approx(month * (2 * hours(plan) + 720) / 730)
    assert line(plan, "dashboards").kind == "fixed"
    assert "logging/dashboards" not in usd(plan_with(rich_problem(), zone=0, variant=0, tier=0))


def test_rejected_samples_are_collected_labelled_and_paid_too() -> None:
    # 1,000 accepted of 1,250 at 0.8
    data = with_data(accepted_share=0.8, collect_price=Money(0.3, "USD"))
    plan = plan_with(rich_problem(data), zone=0, variant=1, tier=0)
    assert usd(plan)["data/collection"] == pytest.approx(1250 * 0.3)
    assert usd(plan)["data/labels"] == pytest.approx(1250 * 0.05)
    assert usd(plan)["data/cleaning"] == pytest.approx(5000 * 0.01)
    assert line(plan, "labels").basis == "1,250 samples (1,000 accepted, 0.8 of them) x 0.05 USD"
    # decimal shares are exact: 7 of 10, not of 11
    assert DataWork(new_samples=7, accepted_share=0.7).collected == 10


def test_checks_are_of_what_is_collected_else_of_the_data_set() -> None:
    look = Inspect(share=0.1, price=Money(0.2, "USD"))
    new = with_data(inspect=look, accepted_share=0.5)
    assert usd(plan_with(rich_problem(new), zone=0, variant=0, tier=0))["data/inspection"] == pytest.approx(200 * 0.2)
    old = with_data(inspect=look, new_samples=0)
    assert usd(plan_with(rich_problem(old), zone=0, variant=0, tier=0))["data/inspection"] == pytest.approx(500 * 0.2)
    # without a size of the data set each of a run's 36 steps brings 16 prompts
    unknown = rich_problem(old.replaced("job.dataset_samples", None))
    plan = plan_with(unknown, zone=0, variant=0, tier=0)
    assert usd(plan)["data/inspection"] == pytest.approx(36 * 16 * 0.1 * 0.2)
    assert line(plan, "inspection").basis == "57.6 samples x 0.2 USD"


def test_tools_by_the_month_and_an_evaluation_set_once() -> None:
    plain = with_data(tools=Money(730.0, "USD"))
    built = plain.replaced("job.evaluation", Evaluation(every=5, samples=10, build_price=Money(250.0, "USD")))
    plan = plan_with(rich_problem(built), zone=0, variant=0, tier=0)
    assert usd(plan)["data/tools"] == pytest.approx(2 * hours(plan))
    assert usd(plan)["data/evaluation set"] == pytest.approx(250)
    assert {line(plan, item).kind for item in ("tools", "evaluation set")} == {"fixed"}


def test_other_currencies_are_turned_into_dollars() -> None:
    yuan = Money(10.0, "CNY")
    asked_for = request().replaced("costs.exchange_rates", {"CNY": Money(0.14, "USD")})
    asked_for = asked_for.replaced("job.data", DataWork(new_samples=10, collect_price=yuan))
    asked_for = asked_for.replaced("costs.dashboards", Dashboards(panels=1, price=yuan))
    problem: Problem = hand_problem(asked_for)
    plan = plan_with(problem, zone=0)
    kept = 20 if problem.request.costs.keep_for.logs == 20 * HOUR else problem.request.costs.keep_for.logs / HOUR
    assert usd(plan)["data/collection"] == pytest.approx(14.0)
    trials = problem.request.job.trials
    assert usd(plan)["logging/dashboards"] == pytest.approx(1.4 * (trials * hours(plan) + kept) / 730)
