"""Joint columns by hand: the step, the hours, what a column holds; and the enumeration against the options."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.columns.hours import Checkpointing, CleanRun, Losses, Saves, run_hours
from rlopt.columns.joint import join, options
from rlopt.columns.side_pools import every_side_pools
from rlopt.pools.run_points import compose
from rlopt.problem import Columns, Seconds
from rlopt.search.exhaustive import describe, every_column, exhaustive, pareto
from rlopt.words import ASYNC, COLOCATED, DISAGGREGATED
from tests.costs.hand import HOUR, columns_of, hand_problem, pools, request
from tests.oracle.problems import random_problem

TRAIN, SAMPLE = np.array([60.0, 20.0]), np.array([30.0, 50.0])


def index(*rows: int) -> np.ndarray:
    return np.array(rows, dtype=np.int64)


def test_the_step_of_each_placement() -> None:
    problem = hand_problem(sync_seconds=(10.0, 7.0, 4.0), exposed_share=0.2)
    assert compose(COLOCATED, TRAIN, SAMPLE, problem).tolist() == [70.0, 30.0]
    assert compose(DISAGGREGATED, TRAIN, SAMPLE, problem).tolist() == [97.0, 77.0]
    # the longer, a fifth of the shorter, 4 s: 60 + 6 + 4, 50 + 4 + 4
    assert compose(ASYNC, TRAIN, SAMPLE, problem).tolist() == pytest.approx([70.0, 58.0])


def hours(interval: int, failures: float, upload: float, snapshot: float, read: float) -> tuple[float, float]:
    """Clean and expected hours of 36 steps of 100 s."""
    work = CleanRun(np.full(1, 100.0), index(36), index(interval), np.zeros(1))
    saves = Saves(*(np.full(1, value) for value in (snapshot, upload, read)))
    clean, expected = run_hours(hand_problem(), work, saves, Losses(np.full(1, failures), 0.0))
    return float(clean[0]), float(expected[0])


def test_hours_without_saves_and_stops() -> None:
    # 15 min outside the steps and an hour of steps
    assert hours(6, 0.0, 0.0, 0.0, 0.0) == pytest.approx((1.25, 1.25))


def test_a_save_blocks_for_its_snapshot_and_for_what_of_its_upload_does_not_fit() -> None:
    # every 6 steps (1/6 h): 36 s (0.01 h) of snapshot make 6 % more
    assert hours(6, 0.0, 0.1, 0.01, 0.0)[0] == pytest.approx(0.25 + 1.06)
    # an upload of 0.2 h is 0.2 - 1/6 h too long for the interval
    assert hours(6, 0.0, 0.2, 0.01, 0.0)[0] == pytest.approx(0.25 + 1 + (0.01 + 0.2 - 1 / 6) * 6)


def test_a_stop_loses_the_restart_the_read_and_half_an_interval() -> None:
    # 10 min restart, 0.05 h read, 1/12 h of work: 0.3 h a stop, half a stop an hour
    assert hours(6, 0.5, 0.0, 0.0, 0.05)[1] == pytest.approx(0.25 + 1 / (1 - 0.5 * 0.3))


def test_a_run_that_does_not_advance_has_no_hours() -> None:
    assert np.isnan(hours(6, 4.0, 0.0, 0.0, 0.05)[1])  # 1 - 4 x 0.3 < 0
    assert np.isnan(hours(6, 3.2, 0.0, 0.0, 0.05)[1])  # 1 - 3.2 x 0.3 = 0.04 is too little to hold to first order
    assert not np.isnan(hours(6, 3.0, 0.0, 0.0, 0.05)[1])


def test_what_a_column_holds() -> None:
    columns = columns_of(hand_problem())
    # colocated north on demand, hot and cold; spot, hot; south; apart, hot and cold; async, hot and cold
    assert columns.placement.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert columns.zone.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert columns.rollout.tolist() == [-1, -1, -1, -1, 0, 0, 0, 0]
    assert columns.group_size.tolist() == [8, 8, 8, 16, 8, 8, 8, 8]
    assert columns.steps.tolist() == [36, 36, 36, 18, 36, 36, 36, 36]
    assert columns.staleness.tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    assert columns.gpus.tolist() == [2, 2, 2, 4, 4, 4, 4, 4]
    assert columns.spot_gpus.tolist() == [0, 0, 2, 0, 2, 2, 2, 2]
    assert columns.usd_per_hour.tolist() == [10.0, 10.0, 4.0, 12.0, 14.0, 14.0, 14.0, 14.0]
    assert columns.cpu_usd_per_hour.tolist() == [0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5]
    assert columns.failures_per_hour == pytest.approx([0.36, 0.36, 0.9, 0.36, 0.3, 0.3, 0.3, 0.3])
    # 100 GB at 0.5 GB/s; cold at 1 GB/s after two hours
    assert columns.recovery_minutes[:2] == pytest.approx([200 / 60, 120 + 100 / 60])
    assert (columns.confident_hours >= columns.expected_hours).all()
    assert (columns.expected_hours >= columns.failure_free_hours).all()


def test_more_nodes_read_and_more_gpus_copy_faster() -> None:
    two = pools((0, 8, 2, 0, 90.0, 108.0, 0.36))
    two = replace(two, nodes=two.nodes * 2, gpus=two.gpus * 2)
    columns = join(hand_problem(colocated=two), COLOCATED, index(0), None, Checkpointing.first(index(6)))
    assert columns.recovery_minutes == pytest.approx([100 / 60])
    # 100 GB / 4 GPUs = 25 s in 600 s
    assert columns.failure_free_hours == pytest.approx([0.25 + 1 + 25 / 600])


def test_the_rollouts_asynchronous_seconds_count() -> None:
    problem = hand_problem()
    quicker = Seconds(np.array([10.0]), np.array([12.0]))
    rollout = replace(problem.rollout, times=replace(problem.rollout.times, asynchronous=quicker))
    columns = columns_of(replace(problem, rollout=rollout))
    assert columns.step_seconds[4] == pytest.approx(60 + 30 + 10)
    assert columns.step_seconds[6] == pytest.approx(60 + 0.2 * 10 + 4)


def test_confident_hours_use_the_confident_seconds() -> None:
    # no stops: 0.25 h, 36 steps of 118 s and six saves that block for 50 s
    calm = replace(hand_problem().colocated, failures_per_hour=np.zeros(3))
    columns = columns_of(hand_problem(colocated=calm))
    assert columns.confident_hours[0] == pytest.approx(0.25 + (36 * 118 + 6 * 50) / 3600)


def rows(columns: Columns) -> set[tuple[int, ...]]:
    pools = (columns.train, columns.rollout, columns.rollout2, columns.score, columns.score2)
    parts = (columns.placement, *pools, columns.interval_steps, columns.tier)
    return {tuple(int(value) for value in row) for row in zip(*parts, strict=True)}


def test_the_options_are_every_interval_and_tier_that_advances() -> None:
    for seed in range(30):
        problem = random_problem(seed)
        every = every_column(problem)
        mine = every.take(every.placement == COLOCATED)
        if "colocated" in problem.request.placements:
            train = np.arange(len(problem.colocated))
            assert rows(options(problem, COLOCATED, train, None)) == rows(mine), seed
        for placement, name in ((DISAGGREGATED, "disaggregated"), (ASYNC, "async")):
            if name not in problem.request.placements:
                continue
            apart = every.take(every.placement == placement)
            found = []
            for variant, size, zone in {
                (int(v), int(k), int(z)) for v, k, z in zip(apart.variant, apart.group_size, apart.zone, strict=True)
            }:
                left, right, scored = problem.training, problem.rollout, problem.scoring
                train = np.flatnonzero((left.zone == zone) & (left.group_size == size) & (left.variant == variant))
                sampled = np.flatnonzero((right.zone == zone) & (right.group_size == size))
                score = np.flatnonzero((scored.zone == zone) & (scored.group_size == size))
                own = bool(problem.variants[variant].own)
                support = every_side_pools(problem, sampled, score if own else None)
                i, j = np.repeat(train, len(support)), np.tile(np.arange(len(support)), len(train))
                found.append(options(problem, placement, i, support.take(j)))
            assert {row for part in found for row in rows(part)} == rows(apart), seed


def test_no_pools_no_columns() -> None:
    problem = hand_problem()
    nothing = problem.training.take(index())
    empty = replace(problem, training=nothing, rollout=nothing, colocated=nothing)
    assert len(every_column(empty)) == 0
    assert exhaustive(empty) is None
    assert pareto(empty) == []


def test_the_oracle_by_hand() -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    best = exhaustive(problem)
    assert best is not None
    j = 2  # the spot machine, by far the cheapest per hour
    assert best.usd == pytest.approx(float(columns.usd.min()))
    assert best.usd == float(columns.usd[j])
    assert best.column == describe(columns, j, problem)
    assert best.column == (
        "colocated: 1 x north/n1/any/two/spot, group size 8, a save every 6 steps to hot"
    )  # fmt: skip
    fastest = exhaustive(problem, objective="time")
    assert fastest is not None
    assert fastest.hours == float(columns.confident_hours.min())
    assert fastest.column.startswith("async")
    safe = exhaustive(hand_problem(request(floors={"on_demand_share": 1.0})))
    assert safe is not None
    assert "on_demand" in safe.column
    assert exhaustive(hand_problem(request(limits={"deadline": HOUR}))) is None


def test_the_pareto_set_by_hand() -> None:
    points = pareto(hand_problem())
    columns = columns_of(hand_problem())
    assert points[0][0] == float(columns.confident_hours.min())
    assert points[-1][1] == float(columns.usd.min())
    hours_, usd = np.array(points).T
    assert (np.diff(hours_) > 0).all()
    assert (np.diff(usd) < 0).all()
