"""Compressed checkpoints: smaller copies against processor time in saves and recovery, by hand and by enumeration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlopt.answers.plan import Plan
from rlopt.columns.joint import options
from rlopt.market.recovery_options import recovery_options
from rlopt.problem import Problem
from rlopt.problem.tariff import TierTable
from rlopt.request import Compression
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column, exhaustive
from rlopt.studies.cheapest import cheapest
from rlopt.words import COLOCATED
from tests.costs.hand import HOT, MARKET, columns_of, hand_problem, request
from tests.costs.test_rich_by_hand import usd
from tests.costs.test_twins import plan_of
from tests.oracle.problems import random_problem

GIB = 2**30 / 1e9


def squeezed(problem: Problem, ratio: float, seconds: float) -> Problem:
    """The problem, whose checkpoints may be compressed."""
    kinds = Compression.model_validate({"checkpoints": {"ratio": ratio, "vcpu_seconds_per_gib": seconds}})
    asked = problem.request.replaced("job.compression", kinds)
    return replace(problem, request=asked, recovery_options=recovery_options(asked))


def hand(ratio: float, seconds: float, recovery: float | None = None) -> Problem:
    """The hand problem in the hot tier of the north alone."""
    base = hand_problem(request().replaced("floors.checkpoints.recovery_time", recovery))
    tariffs = (replace(base.tariffs[0], tiers=(HOT,)), base.tariffs[1])
    return squeezed(replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs)), ratio, seconds)


def pair(problem: Problem) -> tuple[Plan, Plan]:
    """The first pool's plan as it is, and with compressed copies."""
    columns = columns_of(problem)
    first = [j for j in range(len(columns)) if columns.train[j] == 0 and columns.placement[j] == COLOCATED]
    plain, small = first[:2]
    assert [problem.recovery_options[int(columns.recovery[j])].compressed for j in (plain, small)] == [False, True]
    return plan_of(columns, plain, problem), plan_of(columns, small, problem)


def test_copies_take_less_and_come_back_after_they_are_unpacked() -> None:
    plain, small = pair(hand(0.25, 8.0))
    assert plain.decisions is not None
    assert small.decisions is not None
    assert small.decisions.checkpoint.compressed
    # 100 GB at 0.5 GB/s are 200 s; 25 GB are 50 s, and 93.13 GiB x 8 vCPU seconds on 8 vCPUs are 93.13 s more
    assert plain.decisions.checkpoint.recovery_minutes == pytest.approx(200 / 60)
    assert small.decisions.checkpoint.recovery_minutes == pytest.approx((50 + 100 / GIB) / 60)
    assert plain.time is not None
    assert small.time is not None
    before, after, hours = usd(plain), usd(small), small.time.expected_hours
    # a quarter of 20 GB of best copies: one written for the run, one kept 50 h longer
    assert after["storage/best checkpoints"] == pytest.approx(5 * 0.001 * (hours + hours + 50) * 2 / 0.8)
    assert after["storage/recent checkpoints"] == pytest.approx(25 * 0.001 * (3 * hours + 2 * 50) * 2 / 0.8)
    assert before["storage/recent checkpoints"] == pytest.approx(
        100 * 0.001 * (3 * plain.time.expected_hours + 2 * 50) * 2 / 0.8
    )
    assert plain.decisions.checkpoint.tiers[0].gib == pytest.approx(4 * small.decisions.checkpoint.tiers[0].gib)


def test_a_slow_compression_delays_saves() -> None:
    plain, small = pair(hand(0.25, 200.0))
    assert plain.time is not None
    assert small.time is not None
    # 100 GB take 2328 s on 8 vCPUs and 50 s to send, 6 steps of 100 s go on meanwhile: 1778 s more at each of 6 saves
    waited = 6 * (100 / GIB * 200 / 8 + 50 - 6 * 100) / 3600
    assert small.time.failure_free_hours - plain.time.failure_free_hours == pytest.approx(waited)


@pytest.mark.parametrize(("seconds", "compressed"), [(0.0, True), (8.0, True), (500.0, False)])
def test_each_is_the_cheapest_somewhere(seconds: float, compressed: bool) -> None:
    problem = hand(0.25, seconds)
    best = exhaustive(problem)
    assert best is not None
    for backend in ("pulp", "ortools"):
        plan = cheapest(problem, backend)  # type: ignore[arg-type]
        assert plan.cost is not None
        assert plan.decisions is not None
        assert plan.decisions.checkpoint.compressed == compressed
        assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6)


def test_the_recovery_floor_counts_unpacking() -> None:
    # 250 s allowed: 200 s as they are; compressed 50 s to read and 232.8 s to unpack
    plan = cheapest(hand(0.25, 20.0, 250.0))
    assert plan.decisions is not None
    assert not plan.decisions.checkpoint.compressed
    # 150 s: only compressed, and 93 s to unpack
    plan = cheapest(hand(0.25, 8.0, 150.0))
    assert plan.decisions is not None
    assert plan.decisions.checkpoint.compressed


def test_nothing_is_compressed_where_vcpus_are_not_known() -> None:
    problem = hand(0.25, 1.0)
    offers = tuple(replace(one, shape=replace(one.shape, vcpus=None)) for one in MARKET.offers)
    problem = replace(problem, market=replace(MARKET, offers=offers))
    train = np.arange(len(problem.colocated))
    found = options(problem, COLOCATED, train, None)
    assert len(found)
    assert not any(problem.recovery_options[int(recovery)].compressed for recovery in found.recovery)
    plan = cheapest(problem)
    assert plan.decisions is not None
    assert not plan.decisions.checkpoint.compressed


@pytest.mark.parametrize(("backend", "seeds"), [("pulp", range(18)), ("ortools", range(0, 18, 3))])
def test_the_search_agrees_with_enumeration(backend: Any, seeds: range) -> None:
    found, chosen = 0, set[bool]()
    for seed in seeds:
        problem = squeezed(random_problem(seed), (0.3, 0.7, 0.95)[seed % 3], (1.0, 60.0, 400.0)[seed // 3 % 3])
        best, plan = exhaustive(problem), cheapest(problem, backend)
        assert (best is None) == (plan.cost is None), seed
        columns = every_column(problem)
        if len(columns):
            least = Bounds.of(problem).fixed[columns.placement, columns.zone, columns.variant, columns.group_size]
            assert (least <= columns.usd * (1 + 1e-12)).all(), seed
        if best is not None and plan.cost is not None:
            assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), seed
            assert plan.decisions is not None
            found, chosen = found + 1, chosen | {plan.decisions.checkpoint.compressed}
    assert found >= len(seeds) // 6
    assert chosen == {False, True} or backend == "ortools"
