"""The published formula of a run's cost, kept as a special case.

run cost = (instance price + storage and network surcharges) x peak run time + log unit price x sampled log volume
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.problem.tariff import Tariff, TierTable
from rlopt.request import Request
from rlopt.request.floors import CheckpointFloors
from tests.costs.hand import GB, columns_of, hand_problem, request
from tests.costs.test_twins import plan_of


def simple_request() -> Request:
    """Nothing is kept after the run, no space stays free, no people, one run."""
    found = request()
    for key, value in (
        ("job.trials", 1),
        ("job.dataset_size", 10 * GB),
        ("floors.checkpoints", CheckpointFloors()),
        ("floors.free_storage", None),
        ("costs.engineer_hour", None),
        ("costs.keep_for.checkpoints", 0.0),
        ("costs.keep_for.logs", 0.0),
        ("costs.keep_for.dataset", 0.0),
    ):
        found = found.replaced(key, value)
    return found


def simple(tariff: Tariff) -> Tariff:
    """One tier that charges by the hour alone, no head node; logs and traffic as they are."""
    tier = replace(tariff.tiers[0], retrieval_per_gb=0.0, min_hours=0.0)
    return replace(tariff, tiers=(tier,), control=None, egress_per_gb=0.0)


@pytest.mark.parametrize(("usd_per_hour", "hot", "ingest", "rate"), [(10.0, 0.001, 0.5, 0.5), (3.0, 0.02, 2.0, 1.0)])
def test_the_published_formula(usd_per_hour: float, hot: float, ingest: float, rate: float) -> None:
    problem = hand_problem(simple_request().replaced("floors.text_log_rate", rate))
    tariff = simple(problem.tariffs[0])
    tariff = replace(tariff, tiers=(replace(tariff.tiers[0], usd_gb_hour=hot),), log_ingest_per_gb=ingest)
    tariffs = (tariff, simple(problem.tariffs[1]))
    pools = problem.colocated.take(slice(0, 1))
    problem = replace(
        problem,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        operations=replace(problem.operations, idle_minutes=0.0),
        colocated=replace(pools, failures_per_hour=np.zeros(1), usd_per_hour=np.array([usd_per_hour])),
    )
    columns = columns_of(problem)
    plan = plan_of(columns, 0, problem)
    assert plan.cost is not None
    assert plan.time is not None
    # a recent copy of 100 GB and the one being written, 10 GB of data, 20 GB of base weights
    surcharges = (2 * 100 + 10 + 20) * hot
    volume = 16 * 8 * 36 * 500 * 4 / 1e9 * rate
    published = (usd_per_hour + surcharges) * plan.time.expected_hours + ingest * volume
    assert plan.cost.total_usd == pytest.approx(published, rel=1e-9)
    assert columns.usd[0] == pytest.approx(published, rel=1e-9)
