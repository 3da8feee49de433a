"""Ways to keep a run alive are columns like intervals and tiers: every one is made, and none where there is one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlopt.columns.joint import options
from rlopt.problem import RecoveryOption
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column
from rlopt.search.pricing import unique
from rlopt.words import COLOCATED
from tests.costs.hand import hand_problem

CARES = (RecoveryOption(), RecoveryOption(compressed=True), RecoveryOption(spare_nodes=1))


def test_every_care_of_every_interval_and_tier() -> None:
    problem = hand_problem()
    plain = options(problem, COLOCATED, np.arange(3), None)
    columns = options(replace(problem, recovery_options=CARES), COLOCATED, np.arange(3), None)
    assert not plain.recovery.any()
    assert len(columns) == 3 * len(plain)
    assert set(zip(columns.train, columns.interval_steps, columns.tier, columns.recovery, strict=True)) == {
        (train, interval, tier, recovery)
        for train, interval, tier in zip(plain.train, plain.interval_steps, plain.tier, strict=True)
        for recovery in range(len(CARES))
    }
    assert len(unique(columns)) == len(columns)


def test_search_and_enumeration_make_the_same_columns() -> None:
    problem = hand_problem(recovery_options=CARES)
    every = every_column(problem)
    assert len(every) == 3 * len(every_column(hand_problem()))
    assert np.bincount(every.recovery).tolist() == [len(every) // 3] * 3


def test_bounds_stay_below_every_care() -> None:
    problem = hand_problem(recovery_options=CARES)
    every, bounds = every_column(problem), Bounds.of(problem)
    fixed = bounds.fixed[every.placement, every.zone, every.variant, every.group_size]
    assert (fixed <= every.usd).all()


def test_numbers_of_a_care() -> None:
    assert hand_problem(recovery_options=CARES).recovery(lambda recovery: recovery.spare_nodes).tolist() == [
        0.0,
        0.0,
        1.0,
    ]
