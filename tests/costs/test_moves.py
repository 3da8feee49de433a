"""Ways of bytes that grow old: the choice equals enumeration of every pair of tiers and every day."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from rlopt.answers.plan import Plan
from rlopt.costs.stored.tier_moves import NEVER, best_route, choose_way, route_charge, way_parts
from rlopt.costs.stored.tiers import Stay
from rlopt.problem import Problem
from rlopt.problem.tariff import Tier, TierTable
from rlopt.request.job.data_life import Accesses
from tests.costs.hand import HOT, hand_problem
from tests.costs.rich import rich_problem
from tests.costs.test_rich_by_hand import asked, hours, plan_with, usd
from tests.costs.test_tiering import random_tiers

CASES = 200
COLD = replace(HOT, name="cold", usd_gb_hour=HOT.usd_gb_hour / 10, min_hours=720.0, retrieval_per_gb=0.05)


def random_stay(rng: random.Random) -> Stay:
    """Bytes that are read until they are ``busy`` hours old, and some of them ever after."""
    span = rng.choice([10.0, 90.0, 800.0, 3000.0])
    gb = rng.uniform(1.0, 1000.0)
    return Stay(
        gb=gb,
        hours=span,
        read_gb=gb * rng.choice([0.0, 1.0, 2.0]),
        later_gb=gb * rng.choice([0.0, 0.0, 0.1, 3.0, 30.0]),
        busy=rng.choice([0.0, 5.0, 30.0, 300.0]),
        files=rng.choice([0.0, 100.0]),
    )


def tiered(tiers: tuple[Tier, ...]) -> Problem:
    base = hand_problem()
    tariffs = (replace(base.tariffs[0], tiers=tiers), base.tariffs[1])
    return replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))


def usd_of(one: Tier, two: Tier | None, age: float, stay: Stay, free: float) -> float:
    """USD of one way, written out anew."""
    gb, span, later = float(stay.gb), float(stay.hours), float(stay.later_gb)
    leave = one.retrieval_per_gb + one.download_per_gb
    if two is None:
        held = gb * max(span, one.min_hours) * one.usd_gb_hour / (1 - free)
        return held + (float(stay.read_gb) + later) * leave
    held = gb * (max(age, one.min_hours) * one.usd_gb_hour + max(span - age, two.min_hours) * two.usd_gb_hour)
    usd = held / (1 - free) + (float(stay.read_gb) + gb + later * age / span) * leave + gb * two.upload_per_gb
    usd += later * (span - age) / span * (two.retrieval_per_gb + two.download_per_gb)
    return usd + float(stay.files) * (one.get_usd + two.put_usd)


def test_the_way_equals_enumeration_over_every_pair_and_day() -> None:
    moved = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        tiers, stay = random_tiers(rng), random_stay(rng)
        problem = tiered(tiers)
        free = problem.request.floors.free_storage or 0.0
        fine = [tier for tier in tiers if tier.ready] or list(tiers)
        every = [usd_of(one, None, 0.0, stay, free) for one in fine]
        seconds = [tier for tier in tiers if tier.shared and (tier in fine or not stay.later_gb)]
        for day in range(1, int(float(stay.hours) / 24) + 1):
            age = 24.0 * day
            if float(stay.busy or 0.0) <= age < float(stay.hours):
                every += [usd_of(one, two, age, stay, free) for one in fine for two in seconds]
        zone = np.zeros(1, dtype=np.int64)
        ready, shared = problem.tiers.ready[zone], problem.tiers.shared[zone]
        way = choose_way(problem, zone, stay, ready, moves_to=ready | shared)
        found = float(np.asarray(way_parts(problem, zone, way, stay).total).reshape(-1)[0])
        assert found == pytest.approx(min(every), rel=1e-8), seed
        route = best_route(fine, tiers, stay, free)
        assert float(route_charge(route, stay, free).total) == pytest.approx(min(every), rel=1e-8), seed
        moved += way.second[0] != NEVER
    assert moved >= 15


def rich_plan(days: float, monthly: Accesses | None = None, cold: Tier = COLD) -> tuple[Plan, Problem]:
    """The rich plan whose data are kept for some days, beside a cold tier that needs no restoring."""
    request = asked("costs.keep_for.dataset", days * 86400.0)
    if monthly is not None:
        request = request.replaced("job.data.accesses_per_month", monthly)
    base = rich_problem(request)
    tariffs = (replace(base.tariffs[0], tiers=(HOT, cold)), base.tariffs[1])
    problem = replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))
    return plan_with(problem, zone=0, variant=0, tier=0), problem


def tier_and_move(plan: Plan, item: str) -> tuple[str, str | None]:
    assert plan.decisions is not None
    found = next(one for one in plan.decisions.storage if one.item == item)
    return found.tier, found.to


def test_data_stay_hot_move_or_stand_in_cold_from_the_start() -> None:
    # kept for two days: cold bills thirty at a tenth of the price, so hot for 2 days is cheaper
    plan, _ = rich_plan(2)
    assert tier_and_move(plan, "dataset") == ("hot", None)
    # kept for 300: hot while two runs read 16 GB each at 0.02 USD/GB instead of 0.05, and then cold
    plan, _ = rich_plan(300)
    assert tier_and_move(plan, "dataset") == ("hot", "cold")
    span = 2 * hours(plan) + 7200
    assert usd(plan)["storage/dataset"] == pytest.approx(8 * (24 * 0.001 + (span - 24) * 0.0001) / 0.8)
    assert plan.decisions is not None
    best = 20 * (0.05 if plan.decisions.checkpoint.tiers[-1].tier == "cold" else 0.02)
    stops = 0.36 * hours(plan) * 100 * 0.02
    paid = 2 * (stops + best) + (32 + 8) * 0.02 + 2 * 3 * 0.02
    assert usd(plan)["storage/retrieval"] == pytest.approx(paid)
    # what no run reads stands in cold at once
    assert tier_and_move(plan, "earlier versions") == ("cold", None)
    # where cold can be read at the price of hot, the day in hot does not pay
    plan, _ = rich_plan(300, cold=replace(COLD, retrieval_per_gb=0.0))
    assert tier_and_move(plan, "dataset") == ("cold", None)


def test_what_people_read_often_stays_hot() -> None:
    # 4 GB of earlier versions for 300 days: holding saves 0.0009 USD/GB/h = 0.66 a month; reading in cold costs
    # 0.5 USD/GB more each time, for each of two projects
    dear = replace(COLD, retrieval_per_gb=0.52)
    plan, _ = rich_plan(300, Accesses(warm=0.5), dear)
    assert tier_and_move(plan, "earlier versions") == ("cold", None)
    plan, _ = rich_plan(300, Accesses(warm=1.0), dear)
    assert tier_and_move(plan, "earlier versions") == ("hot", None)
    # one read a month of 4 GB by two projects over the life of the data, at 0.02 in hot
    span = 2 * hours(plan) + 7200
    quiet, _ = rich_plan(300, None, dear)
    more = usd(plan)["storage/retrieval"] - usd(quiet)["storage/retrieval"]
    assert more == pytest.approx(4 * 2 * span / 730 * 0.02)
    # raw data nobody reads are in cold all the same
    assert tier_and_move(plan, "data history") == ("cold", None)


def test_longer_in_hot_before_a_move_is_never_shorter_than_its_minimum() -> None:
    first = replace(HOT, min_hours=240.0)
    problem = tiered((first, COLD))
    stay = Stay(10.0, 5000.0, read_gb=1000.0, busy=1.0)
    dear = replace(COLD, retrieval_per_gb=1.0)
    problem = tiered((first, dear))
    zone = np.zeros(1, dtype=np.int64)
    way = choose_way(problem, zone, stay, np.ones((1, 2), dtype=bool))
    assert (way.first[0], way.second[0], way.after[0]) == (0, 1, 240.0)


def test_the_basis_of_recent_copies_says_how_long_they_stay_and_where_they_go() -> None:
    request = asked("costs.keep_for.checkpoints", 5000 * 3600.0)
    base = rich_problem(request)
    tariffs = (replace(base.tariffs[0], tiers=(HOT, COLD)), base.tariffs[1])
    problem = replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))
    plan = plan_with(problem, zone=0, variant=0, tier=0)
    assert plan.cost is not None
    line = next(line for line in plan.cost.lines if line.item == "recent checkpoints")
    assert "; kept afterwards in hot: 400 GB x 24 h x 0.73000 USD/GB/month" in line.basis
    assert "; from an age of 24 h on in cold: 400 GB x 4976.00 h x 0.07300 USD/GB/month" in line.basis
    held = 2 * 100 * 3 * hours(plan) * 0.001 + 400 * (24 * 0.001 + 4976 * 0.0001)
    assert line.usd == pytest.approx(held / 0.8)
