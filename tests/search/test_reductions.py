"""What the search leaves out can never matter: bounds, staircases and dominance against brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.columns.side_pools import alone, mixed, with_scoring
from rlopt.pools.sampling.colocated import staircase as grouped_staircase
from rlopt.problem import Checkpoint, Columns, Pools, Problem, SidePools
from rlopt.problem.tariff import CpuPool, TierTable
from rlopt.rules import rules_of
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column, exhaustive
from rlopt.search.groups import Group
from rlopt.search.prune import NOISE, Prune
from rlopt.search.search import search
from rlopt.search.staircase import Stairs, pareto_index, staircase
from rlopt.units import Money
from rlopt.words import COLOCATED
from tests.costs.hand import hand_problem, request
from tests.oracle.problems import random_problem

ROUNDING = 1e-12
COARSE = st.integers(0, 6).map(float)
WIDE = st.one_of(COARSE, st.floats(1e-9, 1e9), st.floats(1e8, 1e8 + 1e-6))
POINTS = st.lists(st.tuples(WIDE, WIDE), max_size=30)


def least(problem: Problem, reductions: bool = True) -> float:
    """Cost of the cheapest column that the search finds, inf where there is none."""
    found = search(problem, "cost", reductions=reductions)
    return float(found.columns.usd[found.admitted].min(initial=math.inf)) if len(found.columns) else math.inf


def replaced(problem: Problem, key: str, value: Any) -> Problem:
    return replace(problem, request=problem.request.replaced(key, value))


def beside(problem: Problem, columns: Columns) -> tuple[np.ndarray, SidePools]:
    """What stands beside the training pools of some columns, put together again: their places, and the pools."""
    found = []
    for mixed_rollout, scores, mixed_score in product((False, True), repeat=3):
        fits = (columns.rollout2 >= 0) == mixed_rollout
        here = np.flatnonzero(fits & ((columns.score >= 0) == scores) & ((columns.score2 >= 0) == mixed_score))
        if not len(here):
            continue
        mine = columns.take(here)
        part = alone(problem, "rollout", mine.rollout)
        if mixed_rollout:
            part = mixed(problem, "rollout", mine.rollout, mine.rollout2)
        if scores:
            scored = alone(problem, "score", mine.score)
            if mixed_score:
                scored = mixed(problem, "score", mine.score, mine.score2)
            part = with_scoring(problem, part, scored)
        found.append((here, part))
    return np.concatenate([here for here, _ in found]), SidePools.join([part for _, part in found])


@pytest.mark.parametrize("shard", range(4))
def test_bounds_never_exceed_what_they_bound(shard: int) -> None:
    tight = math.inf
    for seed in range(shard, 120, 4):
        problem = random_problem(seed, mixes=seed % 8 < 2)
        columns, bounds = every_column(problem), Bounds.of(problem)
        for placement in range(3):
            mine = columns.take(columns.placement == placement)
            if not len(mine):
                continue
            train = (problem.colocated if placement == COLOCATED else problem.training).take(mine.train)
            sample = confident = np.zeros(len(mine))
            committed = train.committed_usd
            if placement != COLOCATED:
                order, support = beside(problem, mine)
                support = support.take(np.argsort(order))
                sample, confident = support.times.at(placement).both
                committed = committed + support.committed_usd
            group = Group(mine.zone, mine.variant, mine.group_size)
            cost = bounds.cost(placement, group, mine.usd_per_hour, train.times.in_step.median, sample)
            cost = np.maximum(cost, bounds.committed(placement, group, committed))
            hours = bounds.hours(placement, group, train.times.in_step.confident, confident)
            assert (cost <= mine.usd * (1 + ROUNDING)).all(), seed
            assert (hours <= mine.confident_hours * (1 + ROUNDING)).all(), seed
            tight = min(tight, float((mine.usd / cost).min()))
    assert tight < 1.5, "a bound that is never near the cost bounds nothing"


def test_bounds_hold_without_the_recovery_floor_as_well() -> None:
    # 20 GB are back within 30 s on many nodes, not on one: a lone node keeps its best copies in the cold tier. The
    # floor bars that plan; where an explanation leaves the floor out, the bound must not bar it instead
    floors = request().floors.model_dump()
    floors["checkpoints"] = {"keep_recent": 1, "keep_best": 9, "recovery_time": 30.0}
    problem = hand_problem(request(floors=floors), checkpoint=Checkpoint(20e9, 20e9))
    safe = replace(problem.colocated, failures_per_hour=np.zeros(3))
    problem = replace(problem, colocated=safe)
    columns, none = every_column(problem), np.zeros(len(problem.colocated))
    pools = problem.colocated
    bounds = Bounds.of(problem)
    group = Group(pools.zone, pools.variant, pools.group_size)
    cost = bounds.cost(COLOCATED, group, pools.usd_per_hour, pools.times.in_step.median, none)
    mine = columns.take(columns.placement == COLOCATED)
    assert (cost[mine.train] <= mine.usd * (1 + ROUNDING)).all()
    rules = [rule for rule in rules_of(problem) if rule.name != "recovery_time"]
    best, found = exhaustive(problem, rules), search(problem, "cost", rules)
    assert best is not None
    assert float(found.columns.usd[found.admitted].min()) == pytest.approx(best.usd, rel=1e-9)


@given(st.lists(st.tuples(WIDE, WIDE, WIDE), min_size=1, max_size=30))
def test_some_stair_is_no_worse_than_each_pool(pools: list[tuple[float, float, float]]) -> None:
    rate, seconds, confident = np.array(pools).T
    stairs = Stairs.of(rate, seconds, confident)
    for row in range(len(rate)):
        better = (
            (stairs.usd_per_hour <= rate[row])
            & (stairs.seconds <= seconds[row])
            & (stairs.confident_seconds <= confident[row])
        )
        assert better.any(), row
    assert (np.diff(stairs.usd_per_hour) >= 0).all()
    # and no stair promises what no pool of its rate or less can do
    for step in range(len(stairs.usd_per_hour)):
        fit = rate <= stairs.usd_per_hour[step]
        assert stairs.seconds[step] in seconds[fit]
        assert stairs.confident_seconds[step] in confident[fit]


def beaten(points: list[tuple[float, float]], one: tuple[float, float]) -> bool:
    """Whether another point is no worse in both and better in one."""
    return any(q != one and q[0] <= one[0] and q[1] <= one[1] for q in points)


@given(POINTS)
def test_the_pareto_set(points: list[tuple[float, float]]) -> None:
    first, second = np.array(points).reshape(-1, 2).T
    index = pareto_index(first, second)
    expected = sorted({p for p in points if not beaten(points, p)})
    assert [points[i] for i in index] == expected
    left, right = staircase(first, second)
    assert list(zip(left, right, strict=True)) == expected


@given(st.lists(st.tuples(st.integers(0, 4), WIDE, WIDE), max_size=40))
def test_the_staircase_of_each_group(rows: list[tuple[int, float, float]]) -> None:
    table = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    kept = grouped_staircase(table[0].astype(np.int64), table[1], table[2])
    for group in range(5):
        points = [(a, b) for g, a, b in rows if g == group]
        expected = sorted({p for p in points if not beaten(points, p)})
        assert sorted((rows[i][1], rows[i][2]) for i in kept if rows[i][0] == group) == expected


def test_the_staircase_of_many_groups_at_full_precision() -> None:
    # thousands of groups and values a billion apart: a difference of one part in ten million still counts
    groups = np.repeat(np.arange(5_000), 2)
    first = np.tile([1.0, 2.0], 5_000)
    second = np.tile([1.0 + 1e-7, 1.0], 5_000)
    second[0] = 1e9
    assert len(grouped_staircase(groups, first, second)) == 10_000


def test_the_staircase_where_nothing_fits() -> None:
    kept = grouped_staircase(np.array([0, 0, 1]), np.ones(3), np.full(3, np.inf))
    assert sorted(kept.tolist()) in ([], [0, 2])


@given(st.lists(st.tuples(COARSE, COARSE), max_size=12), COARSE, COARSE)
def test_the_ceiling_of_a_frontier(points: list[tuple[float, float]], hours: float, cost: float) -> None:
    prune = Prune("frontier")
    prune.hours, prune.costs = staircase(*np.array(points).reshape(-1, 2).T)
    kept = bool(prune.keep(np.array([cost]), np.array([hours]))[0])
    dominated = any(h <= hours and c * (1 + NOISE) < cost for h, c in points)
    assert kept is not dominated


def test_nothing_known_excludes_nothing() -> None:
    for goal in ("cost", "time", "frontier"):
        prune = Prune(goal)  # type: ignore[arg-type]
        assert prune.keep(np.array([1e300]), np.array([1e300])).all()
        assert not prune.excluded.total()


@pytest.mark.parametrize("shard", range(4))
def test_a_rule_left_out_is_left_out_of_the_bounds_too(shard: int) -> None:
    # explaining drops one rule at a time: the search must then find what enumeration finds without it
    compared = 0
    for seed in range(shard, 48, 4):
        problem = random_problem(seed)
        rules = rules_of(problem)
        for rule in (r for r in rules if r.relaxable and r.amount is not None):
            others = [other for other in rules if other is not rule]
            best, found = exhaustive(problem, others), search(problem, "cost", others)
            usd = float(found.columns.usd[found.admitted].min(initial=math.inf)) if len(found.columns) else math.inf
            assert usd == pytest.approx(math.inf if best is None else best.usd, rel=1e-9), (seed, rule.key)
            compared += 1
    assert compared >= 30


def test_a_later_deadline_is_never_dearer() -> None:
    changed = 0
    for seed in range(30):
        problem, before = random_problem(seed), math.inf
        for hours in (0.5, 1.0, 2.0, 4.0, 8.0, None):
            now = least(replaced(problem, "limits.deadline", None if hours is None else hours * 3600.0))
            assert now <= before * (1 + ROUNDING), (seed, hours)
            changed += now < before
            before = now
    assert changed >= 15


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("floors.group_size", (None, 4, 8, 16, 32)),
        ("floors.samples_per_update", (None, 64, 128, 256, 257)),
        ("floors.informative_groups", (None, 0.5, 0.9, 0.99)),
        ("floors.update_precision", (None, "fp8", "bf16", "fp32")),
        ("floors.on_demand_share", (None, 0.0, 0.3, 0.6, 1.0)),
        ("floors.max_staleness", (None, 1, 0)),
        ("floors.checkpoints.recovery_time", (None, 3600.0, 600.0, 60.0, 6.0)),
        ("floors.free_storage", (None, 0.1, 0.5)),
        ("floors.text_log_rate", (None, 0.1, 1.0)),
        ("floors.checkpoints.keep_recent", (1, 2, 5)),
        ("floors.checkpoints.keep_best", (None, 1, 3)),
        ("limits.max_gpus", (None, 16, 8, 4, 2, 1)),
        ("limits.budget", (None, *(Money(usd, "USD") for usd in (1e4, 300.0, 100.0, 30.0)))),
        ("limits.hourly_budget", (None, *(Money(usd, "USD") for usd in (100.0, 20.0, 5.0, 1.0)))),
    ],
)
def test_a_tighter_limit_or_floor_is_never_cheaper(key: str, values: tuple[Any, ...]) -> None:
    changed = 0
    for seed in range(60 if key == "floors.max_staleness" else 25):
        problem, before = random_problem(seed), 0.0
        for value in values:
            now = least(replaced(problem, key, value))
            assert now >= before * (1 - ROUNDING), (seed, value)
            changed += before > 0 and now > before
            before = now
    assert changed >= 2, "this key never mattered"


def without_offer(problem: Problem, offer: int) -> Problem:
    """The problem as if one offer did not exist."""

    def rest(pools: Pools) -> Pools:
        return pools.take(pools.offer != offer)

    return replace(
        problem,
        training=rest(problem.training),
        rollout=rest(problem.rollout),
        scoring=rest(problem.scoring),
        colocated=rest(problem.colocated),
    )


def test_one_more_offer_is_never_dearer() -> None:
    changed = 0
    for seed in range(25):
        problem = random_problem(seed)
        for offer in range(len(problem.market.offers)):
            fewer, more = least(without_offer(problem, offer)), least(problem)
            assert more <= fewer * (1 + ROUNDING), (seed, offer)
            changed += more < fewer
    assert changed >= 8


def scaled(problem: Problem, factor: float) -> Problem:
    """All prices and budgets times ``factor``."""

    def pools(old: Pools) -> Pools:
        return replace(old, usd_per_hour=old.usd_per_hour * factor)

    def money(old: Money | None) -> Money | None:
        return None if old is None else Money(old.amount * factor, old.currency)

    def cpu(old: CpuPool | None) -> CpuPool | None:
        return None if old is None else replace(old, usd_per_hour=old.usd_per_hour * factor)

    tariffs = tuple(
        replace(
            tariff,
            tiers=tuple(
                replace(
                    tier,
                    usd_gb_hour=tier.usd_gb_hour * factor,
                    retrieval_per_gb=tier.retrieval_per_gb * factor,
                    upload_per_gb=tier.upload_per_gb * factor,
                )
                for tier in tariff.tiers
            ),
            egress_per_gb=tariff.egress_per_gb * factor,
            log_ingest_per_gb=tariff.log_ingest_per_gb * factor,
            log_gb_hour=tariff.log_gb_hour * factor,
            control=cpu(tariff.control),
            environments=tuple(cpu(machines) for machines in tariff.environments),
        )
        for tariff in problem.tariffs
    )
    request = problem.request.replaced("costs.engineer_hour", money(problem.request.costs.engineer_hour))
    for key in ("budget", "hourly_budget"):
        request = request.replaced(f"limits.{key}", money(getattr(request.limits, key)))
    return replace(
        problem,
        request=request,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        training=pools(problem.training),
        rollout=pools(problem.rollout),
        scoring=pools(problem.scoring),
        colocated=pools(problem.colocated),
    )


@pytest.mark.parametrize("factor", [0.001, 0.5, 7.0, 1e4])
def test_prices_times_c_cost_c_times_as_much(factor: float) -> None:
    feasible = 0
    for seed in range(30):
        problem = random_problem(seed)
        before, after = least(problem), least(scaled(problem, factor))
        assert after == pytest.approx(before * factor, rel=1e-9), seed
        feasible += math.isfinite(before)
    assert feasible >= 10


def test_a_tier_that_another_dominates_is_never_chosen() -> None:
    dropped = 0
    for seed in range(150):
        problem = random_problem(seed)
        # the same upload price in all tiers of a zone, as the tiers of one store have
        same = tuple(
            replace(t, tiers=tuple(replace(tier, upload_per_gb=t.tiers[0].upload_per_gb) for tier in t.tiers))
            for t in problem.tariffs
        )
        kept = tuple(
            replace(t, tiers=tuple(tier for tier in t.tiers if not any(o.dominates(tier) for o in t.tiers)))
            for t in same
        )
        full = exhaustive(replace(problem, tariffs=same, tiers=TierTable.of(same)))
        few = exhaustive(replace(problem, tariffs=kept, tiers=TierTable.of(kept)))
        dropped += any(len(a.tiers) > len(b.tiers) for a, b in zip(same, kept, strict=True))
        assert (full is None) == (few is None), seed
        if full is not None and few is not None:
            assert few.usd == pytest.approx(full.usd, rel=1e-12), seed
    assert dropped >= 20


def test_no_pool_beyond_the_gpus_that_are_searched() -> None:
    # where the request sets no limit, the range that was searched is part of the problem: with and without reductions
    for seed in range(40):
        problem = replace(replaced(random_problem(seed), "limits.max_gpus", None), gpu_limit=5)
        best = exhaustive(problem)
        for reductions in (True, False):
            assert least(problem, reductions) == pytest.approx(math.inf if best is None else best.usd, rel=1e-9), seed
