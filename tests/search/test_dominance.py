"""Pools that another set of pools beats in everything: the front, and that leaving the rest out loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.columns.side_pools import alone
from rlopt.search import dominance, mixed_search
from rlopt.search.dominance import least
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.cheapest import cheapest
from rlopt.words import DISAGGREGATED
from tests.costs.hand import hand_problem, pools
from tests.oracle.problems import random_problem

ROWS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=60)


@given(ROWS)
def test_the_front_is_what_no_other_row_beats(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=np.float64)
    kept = {rows[i] for i in least(table)}
    beaten = {row for row in rows if any(q != row and all(a <= b for a, b in zip(q, row, strict=True)) for q in rows)}
    assert kept == set(rows) - beaten
    assert len(least(table)) == len(kept), "of equal rows one is enough"


def test_the_front_over_many_blocks() -> None:
    table = np.random.default_rng(0).integers(0, 40, (3_000, 3)).astype(np.float64)
    kept = least(table)
    for row in table[np.random.default_rng(1).integers(0, len(table), 300)]:
        assert (table[kept] <= row).all(axis=1).any()
    for i in kept:
        below = (table[kept] <= table[i]).all(axis=1)
        assert below.sum() == 1


@pytest.mark.parametrize("mixes", [False, True])
def test_leaving_beaten_pools_out_loses_nothing(mixes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "FEW", 0)
    monkeypatch.setattr(mixed_search, "MANY", 0)
    dropped = 0
    for seed in range(2000, 2060):
        problem = random_problem(seed, mixes=mixes)
        plan, best = cheapest(problem), exhaustive(problem)
        assert (plan.cost is None) == (best is None), seed
        if best is not None and plan.cost is not None:
            assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-9), seed
        dropped += plan.solver.excluded.get("dominated by other pools", 0)
    assert dropped > 100


def test_a_cheaper_pool_that_is_waited_for_longer_beats_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "FEW", 0)
    sampling = pools((0, 8, 2, 0, 30.0, 36.0, 0.2), (1, 8, 2, 0, 30.0, 36.0, 0.2))  # 10 and 4 USD/h
    training = pools((1, 8, 2, 0, 60.0, 72.0, 0.1), (0, 8, 2, 0, 60.0, 72.0, 0.1))
    problem = hand_problem(rollout=sampling, training=training)
    beside, train = alone(problem, "rollout", np.arange(2)), np.arange(2)
    assert len(dominance.undominated(problem, DISAGGREGATED, train, beside, ())) == 1
    # the first training pool is waited for as long as the cheaper of the two: beside the second they differ
    waits = hand_problem(rollout=sampling, training=training, wait_hours=np.array([5.0, 7.0, 0.0]))
    assert len(dominance.undominated(waits, DISAGGREGATED, train, beside, ())) == 2
