"""Pools over a run whose lengths change: what must be kept, what bounds a mix, and how a step is put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.columns.side_pools import alone, mixed, together, with_scoring
from rlopt.estimates.loop.run_average import PARTS, SHARES, averaged
from rlopt.pools.run_points import composed, front, growth_of, quickest
from rlopt.problem import Growth, Pools, SidePools
from rlopt.search import dominance
from rlopt.table import each
from rlopt.words import ASYNC, DISAGGREGATED
from tests.costs.hand import hand_problem, pools

ROWS = st.lists(st.tuples(st.integers(0, 1), *[st.integers(0, 3)] * 3), min_size=1, max_size=40)


@given(ROWS)
def test_the_front_is_what_no_other_row_of_the_group_beats(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows)
    kept = {rows[i] for i in front(table[:, 0], table[:, 1:].astype(float))}
    beaten = {
        row
        for row in rows
        if any(q != row and q[0] == row[0] and all(a <= b for a, b in zip(q[1:], row[1:], strict=True)) for q in rows)
    }
    assert kept == set(rows) - beaten
    assert len(front(table[:, 0], table[:, 1:].astype(float))) == len(kept)


def grown(some: Pools, *slopes: float) -> Pools:
    """Pools whose seconds rise evenly over the run, by ``slopes`` times their average."""
    shape = 1.0 + np.array(slopes)[:, None] * (SHARES - 0.5)
    rising = each(some.times, lambda seconds: seconds[:, None] * shape)
    return replace(some, times=replace(some.times, growth=Growth(rising.in_step.median, rising.asynchronous)))


TRAIN = grown(pools((0, 8, 2, 0, 60.0, 72.0, 0.1)), 0.0)
SAMPLE = grown(pools((0, 8, 2, 0, 60.0, 90.0, 0.2), (1, 8, 2, 0, 62.0, 93.0, 0.2)), 1.6, 0.0)


def test_side_by_side_the_slower_pool_of_each_point_counts() -> None:
    problem = hand_problem(training=TRAIN, rollout=SAMPLE)
    beside = alone(problem, "rollout", np.array([0]))
    one, other = np.full(PARTS, 60.0), 60.0 * (1.0 + 1.6 * (SHARES - 0.5))
    exposed, overhead = problem.exposed_share, problem.sync_seconds[ASYNC]
    by_hand = np.mean(np.maximum(one, other) + exposed * np.minimum(one, other)) + overhead
    step = composed(ASYNC, TRAIN, beside, problem, confident=False)
    assert step == pytest.approx([by_hand], rel=1e-12)
    assert step[0] > 60.0 * (1.0 + exposed) + overhead + 5.0  # what the averages alone would say
    in_turn = composed(DISAGGREGATED, TRAIN, beside, problem, confident=False)
    assert in_turn == pytest.approx([120.0 + problem.sync_seconds[DISAGGREGATED]])
    assert composed(ASYNC, TRAIN, beside, problem, confident=True)[0] > step[0]
    assert composed(ASYNC, TRAIN, SidePools.none(1), problem, confident=False) == pytest.approx([60.0 + overhead])


def test_a_pool_that_is_slower_on_average_may_still_be_the_better_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "FEW", 0)
    cheap = pools((0, 8, 2, 0, 60.0, 90.0, 0.2), (0, 8, 2, 0, 62.0, 93.0, 0.2))  # one offer: one price
    steady = grown(cheap, 0.0, 0.0)
    problem = hand_problem(training=TRAIN, rollout=steady)
    train = np.zeros(1, dtype=np.int64)
    assert len(dominance.undominated(problem, ASYNC, train, alone(problem, "rollout", np.arange(2)), ())) == 1
    rising = replace(problem, rollout=grown(cheap, 1.6, 0.0))
    beside = alone(rising, "rollout", np.arange(2))
    assert len(dominance.undominated(rising, ASYNC, train, beside, ())) == 2
    steps = [float(composed(ASYNC, TRAIN, beside.take([row]), rising, confident=False)[0]) for row in range(2)]
    assert steps[1] < steps[0], "the second is never much slower than training"


def test_no_two_pools_that_share_samples_are_quicker_than_their_bound() -> None:
    rng, broken = np.random.default_rng(0), 0
    for _ in range(200):
        some = grown(pools(*[(0, 8, 2, 0, float(rng.uniform(5, 90)), 100.0, 0.1)] * 2), *rng.uniform(-1.5, 1.9, 2))
        assert some.times.growth is not None
        exact = float(averaged(together(*some.times.growth.asynchronous.median)))
        bound = quickest(some).times.in_step.median
        assert float(together(bound[:1], bound[1:])[0]) <= exact * (1 + 1e-12)
        broken += float(together(*some.times.in_step.median[:, None])[0]) > exact * (1 + 1e-9)
    assert broken > 50, "averages alone are no bound"


def test_scoring_pools_share_samples_out_anew_at_each_point() -> None:
    score = grown(pools((0, 8, 2, 0, 30.0, 36.0, 0.1), (1, 8, 2, 0, 60.0, 90.0, 0.1)), 1.5, -1.0)
    problem = hand_problem(training=TRAIN, rollout=SAMPLE, scoring=score)
    both = mixed(problem, "score", np.array([0]), np.array([1]))
    a, b = 30.0 * (1.0 + 1.5 * (SHARES - 0.5)), 60.0 * (1.0 - (SHARES - 0.5))
    assert both.times.in_step.median == pytest.approx([np.mean(1.0 / (1.0 / a + 1.0 / b))])
    assert both.score_split == pytest.approx([np.mean(b / (a + b))])
    beside = with_scoring(problem, alone(problem, "rollout", np.array([0])), alone(problem, "score", np.array([0])))
    sample = 60.0 * (1.0 + 1.6 * (SHARES - 0.5))
    by_hand = np.maximum(sample, a) + problem.exposed_share * np.minimum(sample, a)
    assert beside.times.growth is not None
    assert beside.times.growth.asynchronous.median == pytest.approx(by_hand[None, :])
    assert beside.times.asynchronous.median == pytest.approx([by_hand.mean()])


def test_one_point_is_no_run() -> None:
    assert growth_of(np.ones((3, 1)), np.ones(3)) is None
    found = growth_of(np.ones((3, PARTS)), np.full(3, 2.0))
    assert found is not None
    assert found.asynchronous.confident.shape == found.in_step.shape == (3, PARTS)
