"""Compression of what is stored, against arithmetic on paper: taken where it pays, and refused where it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.problem import Problem
from rlopt.problem.tariff import CpuPool, TierTable
from rlopt.request import Compression
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column, exhaustive
from rlopt.studies.cheapest import cheapest
from tests.costs.random_bills import random_bill
from tests.costs.rich import rich_problem, rich_request
from tests.costs.test_rich_by_hand import hours, plan_with, usd

VCPU = CpuPool("compression", "north/cpu", "north", "n1", "c1", 1, 0.04, "hand", "2026-11-01")
GIB = 2**30 / 1e9


def squeezed(price: float | None = 0.04, **kinds: Any) -> tuple[Plan, Problem]:
    """The rich plan, acting, its data kept for 1000 h; ``kinds`` may be compressed."""
    request = rich_request().replaced("costs.keep_for.dataset", 1000 * 3600.0)
    request = request.replaced("job.compression", Compression.model_validate(kinds))
    base = rich_problem(request, acting=True)
    vcpu = None if price is None else replace(VCPU, usd_per_hour=price)
    tariffs = tuple(replace(tariff, tiers=tariff.tiers[:1], vcpu=vcpu) for tariff in base.tariffs)
    problem = replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))
    return plan_with(problem, zone=0, variant=0, tier=0), problem


def compressed(plan: Plan) -> set[str]:
    assert plan.decisions is not None
    return {kept.item for kept in plan.decisions.storage if kept.compressed}


RAW = 2 * 16 * 8 * 36 * 30 * 3e6 * 0.5 * 0.8 / 1e9
"""GB of all trajectories of two runs."""


def test_trajectories_are_compressed_where_that_pays() -> None:
    plan, _ = squeezed(trajectories={"ratio": 0.3, "vcpu_seconds_per_gib": 10.0})
    assert compressed(plan) == {"trajectories"}
    span = hours(plan) / 2 + 1000
    assert usd(plan)["storage/trajectories"] == pytest.approx(0.3 * RAW * 0.001 * span / 0.8)
    # written once and read once, 10 vCPU seconds a GiB each way at 0.04 USD an hour
    assert usd(plan)["compute/compression"] == pytest.approx(2 * RAW / GIB * 10 / 3600 * 0.04)
    without, _ = squeezed()
    # as many files, less to retrieve
    assert usd(plan)["storage/requests"] == pytest.approx(usd(without)["storage/requests"])
    less = usd(without)["storage/retrieval"] - usd(plan)["storage/retrieval"]
    assert less == pytest.approx(0.7 * RAW * 0.02)


def test_compression_that_does_not_pay_is_not_chosen() -> None:
    without, _ = squeezed()
    # 0.7 GB saved for 1000 h at 0.00125 USD and once at 0.02 are 0.889 USD a GB; 43,000 vCPU seconds each way 0.890
    dear, _ = squeezed(trajectories={"ratio": 0.3, "vcpu_seconds_per_gib": 43e3})
    assert compressed(dear) == set()
    assert usd(dear) == usd(without)
    # nothing is saved, nothing is known of the price
    assert compressed(squeezed(trajectories={"ratio": 1.0, "vcpu_seconds_per_gib": 0.0})[0]) == set()
    assert compressed(squeezed(None, trajectories={"ratio": 0.1, "vcpu_seconds_per_gib": 0.0})[0]) == set()
    # free of charge it always pays
    assert compressed(squeezed(trajectories={"ratio": 0.99, "vcpu_seconds_per_gib": 0.0})[0]) == {"trajectories"}


def test_stored_log_probabilities_are_intermediates() -> None:
    plan, _ = squeezed(intermediates={"ratio": 0.5, "vcpu_seconds_per_gib": 1.0})
    assert compressed(plan) == {"stored log-probabilities"}
    assert usd(plan)["storage/stored log-probabilities"] == pytest.approx(0.5 * 2 * 3 * 0.001 * hours(plan) / 0.8)
    assert usd(plan)["compute/compression"] == pytest.approx(2 * 2 * 3 / GIB * 1 / 3600 * 0.04)


KINDS = Compression.model_validate(
    {
        "trajectories": {"ratio": 0.4, "vcpu_seconds_per_gib": 20.0},
        "intermediates": {"ratio": 0.6, "vcpu_seconds_per_gib": 4000.0},
    }
)


@pytest.mark.parametrize(("backend", "seeds"), [("pulp", range(16)), ("ortools", range(0, 16, 3))])
def test_the_search_agrees_with_enumeration(backend: Any, seeds: range) -> None:
    found, chosen = 0, set[str]()
    for seed in seeds:
        problem = random_bill(seed)
        vcpu = replace(VCPU, usd_per_hour=0.5)
        tariffs = tuple(replace(tariff, vcpu=vcpu) for tariff in problem.tariffs)
        problem = replace(problem, request=problem.request.replaced("job.compression", KINDS), tariffs=tariffs)
        best, plan = exhaustive(problem), cheapest(problem, backend)
        assert (best is None) == (plan.cost is None), seed
        columns = every_column(problem)
        if len(columns):
            least = Bounds.of(problem).fixed[columns.placement, columns.zone, columns.variant, columns.group_size]
            assert (least <= columns.usd * (1 + 1e-12)).all(), seed
        if best is not None and plan.cost is not None:
            assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), seed
            found, chosen = found + 1, chosen | compressed(plan)
    assert found >= len(seeds) // 6
    assert "trajectories" in chosen or backend == "ortools"
