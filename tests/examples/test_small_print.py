"""Records and work on data around a real job: what is asked more is never cheaper, what is fixed adds what it says."""

from __future__ import annotations

import pytest

from tests.examples import runs

NAME = runs.name_of("04")
CENT = 0.01


@pytest.mark.parametrize(
    ("key", "least_usd", "most_usd"),
    [
        ("job.evaluation={every: 1000, samples: 10, build_price: 250 USD}", 250.0, 255.0),
        ("job.data={new_samples: 90, collect_price: 1 USD, accepted_share: 0.9}", 100.0, 100.0),
        ("job.data={new_samples: 90, inspect: {share: 0.5, price: 2 USD}}", 90.0, 90.0),
        ("job.data.tools=73 USD", 0.01, 2.0),
        ("job.metrics.traces={spans_per_step: 100000}", 0.01, 100.0),
        ("costs.dashboards={panels: 2, price: 7.3 USD}", 14.4, 16.0),
        ("job.cache={index: 1 GiB}", 0.01, 10.0),
    ],
)
def test_what_is_asked_more_is_paid(key: str, least_usd: float, most_usd: float) -> None:
    more = runs.total(runs.solved(NAME, key)) - runs.total(runs.solved(NAME))
    assert least_usd - CENT <= more <= most_usd + CENT


def test_more_operations_never_cost_less() -> None:
    held = [runs.total(runs.solved(NAME, f"job.cache={{index: 1 GiB, peak_ops: {ops}}}")) for ops in (0, 1e5, 1e6)]
    assert held == sorted(held)
    assert held[-1] > held[0] + CENT


def test_logs_that_stay_where_the_plan_is_change_nothing() -> None:
    name = runs.name_of("02")
    plan = runs.solved(name)
    train = plan.pools[0]
    at = f"costs.logs_to={{provider: {train.provider}, region: {train.region}}}"
    assert runs.total(runs.solved(name, at)) == pytest.approx(runs.total(plan), abs=CENT)


@pytest.mark.parametrize(("spans", "provider"), [(10**6, "aws"), (10**7, "gcp")])
@pytest.mark.parametrize("backend", ["pulp", "ortools"])
def test_many_logs_that_leave_draw_the_machines_to_where_they_go(spans: int, provider: str, backend: str) -> None:
    # 1,855 steps of a million spans of 500 B are 0.93 TB, 83 USD at 0.09 USD/GB; machines at gcp cost 84 USD more
    traces = f"job.metrics.traces={{spans_per_step: {spans}, bytes_per_span: 500 B}}"
    wide = (
        "choices.providers=[aws, gcp]",
        "choices.gpus=[H100, A100-80GB]",
        "limits.deadline=48h",
        "limits.budget=null",
    )
    there = "costs.logs_to={provider: gcp, region: us-central1}"
    plan = runs.solved(runs.name_of("02"), traces, there, *wide, backend=backend)
    assert plan.pools[0].provider == provider
    items = {line.item for line in plan.cost.lines} if plan.cost else set()
    assert ("logs out of the cloud" in items) == (provider == "aws")
