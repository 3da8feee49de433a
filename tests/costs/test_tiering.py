"""Tiers of the three roles of checkpoints: the choice equals enumeration, and cold is refused where it is dearer."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from rlopt.costs import network, storage
from rlopt.problem import Checkpoint, Problem
from rlopt.problem.tariff import Tier, TierTable
from rlopt.request import Request
from rlopt.request.floors import CheckpointFloors
from tests.costs.hand import HOT, columns_of, hand_problem, request
from tests.costs.test_twins import plan_of

CASES = 200
FILES, NODES, STEPS, INTERVAL = 2, 1, 36, 6


def random_tiers(rng: random.Random) -> tuple[Tier, ...]:
    """One to four tiers: the colder, the longer their minimum, the dearer to read, the slower."""
    found = []
    for number in range(rng.randint(1, 4)):
        cold = rng.random()
        found.append(
            Tier(
                name=f"t{number}",
                kind="archive" if cold > 0.7 else "object",
                usd_gb_hour=10 ** rng.uniform(-6, -3),
                min_hours=rng.choice([0.0, 0.0, 24.0, 720.0, 2160.0]) if cold > 0.3 else 0.0,
                retrieval_per_gb=rng.choice([0.0, 0.01, 0.1, 1.0]) if cold > 0.3 else 0.0,
                restore_hours=rng.choice([0.0, 0.1, 12.0]) if cold > 0.7 else 0.0,
                gb_s_per_node=rng.uniform(0.02, 1.0),
                upload_per_gb=rng.choice([0.0, 0.0, 0.09]),
                source="random",
                as_of="",
                put_usd=rng.choice([0.0, 5e-6, 0.05]),
                get_usd=rng.choice([0.0, 4e-7, 0.01]),
                download_per_gb=rng.choice([0.0, 0.0, 0.09]),
            )
        )
    return tuple(found)


def asked(rng: random.Random) -> Request:
    found = request()
    floors = CheckpointFloors(
        keep_recent=rng.randint(1, 3),
        keep_best=rng.randint(0, 2),
        history_every=rng.choice([None, 6, 18]),
        recovery_time=rng.choice([None, 600.0, 60.0]),
    )
    for key, value in (
        ("job.dataset_size", 0.0),
        ("job.trials", rng.randint(1, 3)),
        ("floors.checkpoints", floors),
        ("floors.free_storage", rng.choice([None, 0.2])),
        ("costs.keep_for.checkpoints", rng.choice([0.0, 50.0, 720.0, 5000.0]) * 3600.0),
    ):
        found = found.replaced(key, value)
    return found


def case(seed: int) -> Problem:
    """The first pool of the hand problem alone, with random tiers and floors."""
    rng = random.Random(seed)
    base = hand_problem(asked(rng))
    tariffs = (replace(base.tariffs[0], tiers=random_tiers(rng)), base.tariffs[1])
    checkpoint = Checkpoint(rng.uniform(1e9, 4e11), rng.uniform(1e9, 5e10))
    empty = base.training.take(slice(0))
    return replace(
        base,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        checkpoint=checkpoint,
        training=empty,
        colocated=base.colocated.take(slice(0, 1)),
    )


def aged_usd(one: Tier, two: Tier | None, gb: float, hours: float, soonest: float, files: float, scale: float) -> float:
    """Least USD of ``gb`` kept for ``hours`` in one tier, or moved to another at any whole day from ``soonest`` on."""
    if two is None:
        return gb * one.usd_gb_hour * max(hours, one.min_hours) * scale
    days = np.arange(1.0, hours / 24.0 + 1.0) * 24.0
    days = days[(days >= soonest) & (days < hours)]
    if not len(days) or two.kind == "block":
        return math.inf
    held = np.maximum(days, one.min_hours) * one.usd_gb_hour + np.maximum(hours - days, two.min_hours) * two.usd_gb_hour
    moving = gb * (one.retrieval_per_gb + one.download_per_gb + two.upload_per_gb) + files * (one.get_usd + two.put_usd)
    return float((gb * held * scale + moving).min())


def recent_usd(problem: Problem, recent: Tier, to: Tier | None, hours: float, stops: float) -> float:
    """USD of the recent copies of one run, which move to ``to`` after it, by the bill's rules, none of its code."""
    state, kept = problem.checkpoint.resumable_bytes / 1e9, problem.request.costs.keep_for.checkpoints / 3600.0
    keep, saves = problem.request.floors.checkpoints.keep_recent or 1, math.ceil(STEPS / INTERVAL)
    scale = 1.0 / (1.0 - (problem.request.floors.free_storage or 0.0))
    early = max(saves - keep, 0) * max(recent.min_hours - keep * hours / saves, 0.0)
    usd = state * recent.usd_gb_hour * ((keep + 1) * hours + early) * scale
    usd += saves * (state * recent.upload_per_gb + FILES * recent.put_usd)
    usd += stops * (state * (recent.retrieval_per_gb + recent.download_per_gb) + FILES * recent.get_usd)
    return usd + aged_usd(recent, to, keep * state, kept, 0.0, keep * FILES, scale)


def best_usd(problem: Problem, best: Tier, to: Tier | None, hours: float) -> float:
    """The same of the best copies: all but one are kept, and one is read when the run is over."""
    keep, weights = problem.request.floors.checkpoints.keep_best, problem.checkpoint.weights_bytes / 1e9
    if not keep:
        return 0.0 if to is None else math.inf
    kept = problem.request.costs.keep_for.checkpoints / 3600.0
    scale = 1.0 / (1.0 - (problem.request.floors.free_storage or 0.0))
    usd = weights * best.usd_gb_hour * max(hours, best.min_hours) * scale
    usd += (keep + 1) * (weights * best.upload_per_gb + FILES * best.put_usd)
    usd += weights * (best.retrieval_per_gb + best.download_per_gb) + FILES * best.get_usd
    return usd + aged_usd(best, to, keep * weights, hours + kept, hours, keep * FILES, scale)


def history_usd(problem: Problem, history: Tier, to: Tier | None, hours: float) -> float:
    """The same of the history: never read, so that nothing keeps it from moving on its first day."""
    every, weights = problem.request.floors.checkpoints.history_every, problem.checkpoint.weights_bytes / 1e9
    count, kept = STEPS // every if every else 0, problem.request.costs.keep_for.checkpoints / 3600.0
    scale = 1.0 / (1.0 - (problem.request.floors.free_storage or 0.0))
    usd = count * (weights * history.upload_per_gb + FILES * history.put_usd)
    return usd + aged_usd(history, to, count * weights, hours / 2 + kept, 0.0, count * FILES, scale)


def minutes(tier: Tier, size_bytes: float) -> float:
    return tier.restore_hours * 60 + size_bytes / 1e9 / (tier.gb_s_per_node * NODES) / 60


Way = tuple[Tier, Tier | None]


@pytest.mark.parametrize("shard", range(4))
def test_the_choice_equals_enumeration_over_all_ways(shard: int) -> None:
    """Every first tier, second tier and day of the move, for each role by itself: the bill is their sum."""
    apart = several = moved = 0
    for seed in range(shard, CASES, 4):
        problem = case(seed)
        tiers, limit = problem.tariffs[0].tiers, problem.request.floors.checkpoints.recovery_time
        most = math.inf if limit is None else limit / 60.0
        columns = columns_of(problem)
        for j in range(len(columns)):
            recent, hours = tiers[int(columns.tier[j])], float(columns.expected_hours[j])
            stops = float(columns.failures_per_hour[j] * hours)
            quick = [t for t in tiers if minutes(t, problem.checkpoint.weights_bytes) <= most]
            fine = [t for t in tiers if minutes(t, problem.checkpoint.resumable_bytes) <= most]
            first, to = (quick, [None, *quick]) if quick else ([recent], [None])
            every: dict[str, dict[Way, float]] = {
                "recent": {(recent, two): recent_usd(problem, recent, two, hours, stops) for two in (None, *fine)},
                "best": {way: best_usd(problem, *way, hours) for way in itertools.product(first, to)},
                "history": {way: history_usd(problem, *way, hours) for way in itertools.product(tiers, (None, *tiers))},
            }
            least = sum(min(usd.values()) for usd in every.values()) * problem.request.job.trials
            one = columns.take(slice(j, j + 1))
            terms = storage.terms(one, problem) | {f"n {k}": v for k, v in network.terms(one, problem).items()}
            rest = float(terms["base weights"][0] + terms["n final weights"][0])
            found = sum(float(usd[0]) for usd in terms.values()) - rest
            assert found == pytest.approx(least, rel=1e-9), (seed, j)
            decisions = plan_of(columns, j, problem).decisions
            assert decisions is not None
            chosen = {role: use.tier for use in decisions.checkpoint.tiers for role in use.roles}
            second = {move.role: move.to for move in decisions.checkpoint.moves}
            by_name = {tier.name: tier for tier in tiers}
            for role, name in chosen.items():
                picked = (by_name[name], by_name.get(second.get(role, "")))
                assert every[role][picked] == pytest.approx(min(every[role].values()), rel=1e-8), (seed, j, role)
            moved += bool(second)
            apart += len(set(chosen.values())) > 1
            several += len(tiers) > 1
    assert several >= 20
    assert apart >= 10
    assert moved >= 3


def one_copy(cold: Tier, kept_hours: float, **floors: object) -> str:
    """Where the best copies of a run stand when ``cold`` is offered beside the hot tier."""
    asked = request().replaced("floors.checkpoints", CheckpointFloors(keep_recent=1, keep_best=1, **floors))  # type: ignore[arg-type]
    base = hand_problem(asked.replaced("costs.keep_for.checkpoints", kept_hours * 3600.0))
    tariffs = (replace(base.tariffs[0], tiers=(HOT, cold)), base.tariffs[1])
    problem = replace(base, tariffs=tariffs, tiers=TierTable.of(tariffs))
    columns = columns_of(problem)
    plan = plan_of(columns, int(np.argmax(columns.tier == 0)), problem)
    assert plan.decisions is not None
    first = next(use.tier for use in plan.decisions.checkpoint.tiers if "best" in use.roles)
    return " then ".join([first, *(move.to for move in plan.decisions.checkpoint.moves if move.role == "best")])


def test_cold_is_refused_where_it_is_dearer() -> None:
    cold = replace(HOT, name="cold", usd_gb_hour=HOT.usd_gb_hour / 10, retrieval_per_gb=HOT.retrieval_per_gb)
    assert one_copy(cold, 100.0) == "cold"
    # its minimum duration: ten times as long as the copy is kept
    assert one_copy(replace(cold, min_hours=2000.0), 100.0) == "hot"
    # the copy that is deleted when the run is over stays hot, the other one moves: 2000 h in cold are 200 h in hot
    assert one_copy(replace(cold, min_hours=2000.0), 1000.0) == "hot then cold"
    # moving it costs a request to write that is worth more than what it saves
    assert one_copy(replace(cold, min_hours=2000.0, put_usd=20.0), 1000.0) == "hot"
    # what reading costs: 2 copies of about 101 h save 0.18 USD/GB; once it is read, 100 h save 0.09
    assert one_copy(replace(cold, retrieval_per_gb=0.3), 100.0) == "hot then cold"
    assert one_copy(replace(cold, retrieval_per_gb=0.3), 20.0) == "hot"
    # what each file costs: 4 of them for 20 GB copies
    assert one_copy(replace(cold, put_usd=2.0), 100.0) == "hot"
    # what bringing it there costs
    assert one_copy(replace(cold, upload_per_gb=0.2), 100.0) == "hot"
    # and where it is too slow to be back in time, whatever it costs
    slow = replace(cold, restore_hours=2.0)
    assert one_copy(slow, 100.0) == "cold"
    assert one_copy(slow, 100.0, recovery_time=600.0) == "hot"
