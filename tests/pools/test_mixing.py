"""Rollout pools of two offers: the bound that pruning asks, the split, and two offers of one machine against one."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from rlopt import api
from rlopt.columns.side_pools import may_mix, mixed
from rlopt.problem import Ints, Problem
from rlopt.words import ASYNC, DISAGGREGATED

EXAMPLES = Path(__file__).parents[2] / "examples" / "requests"
PAIRS = 6_000


@lru_cache(maxsize=4)
def problem(example: str) -> Problem:
    request = api.load(next(EXAMPLES.glob(f"{example}-*.yaml")))
    for key in ("choices.providers", "choices.regions", "choices.gpus"):
        request = request.replaced(key, None)
    return api.problem_of(request)


def pairs(found: Problem, seed: int = 0) -> tuple[Ints, Ints]:
    """Pairs of one zone that may be one pool, drawn at random."""
    draw, pools = np.random.default_rng(seed), found.rollout
    order = np.argsort(pools.zone, kind="stable")
    first = draw.integers(0, len(pools), PAIRS * 8)
    start, end = (np.searchsorted(pools.zone[order], pools.zone[first], side=side) for side in ("left", "right"))
    second = order[start + (draw.random(len(first)) * (end - start)).astype(int)]
    fine = may_mix(found, "rollout", first, second) & (pools.group_size[first] == pools.group_size[second])
    return first[fine][:PAIRS], second[fine][:PAIRS]


@pytest.mark.parametrize("example", ["07", "10"])
def test_the_bound_is_never_above_the_estimate(example: str) -> None:
    found = problem(example)
    i, j = pairs(found)
    assert len(i) > 500
    least, exact = mixed(found, "rollout", i, j, bound=True), mixed(found, "rollout", i, j)
    for placement, confident in product((DISAGGREGATED, ASYNC), (False, True)):
        low, high = (pools.times.at(placement).both[confident] for pools in (least, exact))
        assert (low <= high * (1 + 1e-9)).all(), (placement, confident)
        finite = np.isfinite(high)
        assert np.quantile(high[finite] / low[finite], 0.1) < 1.2, "a bound that is never near bounds nothing"


def test_a_mixed_pool_samples_everything_at_the_rates_of_both() -> None:
    found = problem("07")
    i, j = pairs(found, 1)
    exact, pools = mixed(found, "rollout", i, j), found.rollout
    assert ((exact.split > 0) & (exact.split < 1)).all()
    assert exact.usd_per_hour == pytest.approx(pools.usd_per_hour[i] + pools.usd_per_hour[j])
    assert exact.failures_per_hour == pytest.approx(pools.failures_per_hour[i] + pools.failures_per_hour[j])
    # half of the mixes are as quick as any split could be, to a few percent
    least = mixed(found, "rollout", i, j, bound=True)
    assert np.median(exact.times.in_step.median / least.times.in_step.median) < 1.05
    assert np.median(exact.times.asynchronous.median / least.times.asynchronous.median) < 1.2


def test_two_prices_of_one_machine_are_as_quick_as_one_pool_of_all_its_nodes() -> None:
    found = problem("07")
    pools, market = found.rollout, found.market
    seconds = pools.times.in_step.median
    shape = np.array([market.offers[offer].shape.key for offer in pools.offer])
    spot = np.flatnonzero(pools.spot)
    draw, errors = np.random.default_rng(3), []
    for row in draw.choice(spot, 400, replace=False):
        mine = (shape == shape[row]) & (pools.zone == pools.zone[row]) & (pools.precision == pools.precision[row])
        twin = np.flatnonzero(mine & ~pools.spot & (pools.nodes == pools.nodes[row]))
        whole = np.flatnonzero(mine & pools.spot & (pools.nodes == 2 * pools.nodes[row]))
        if len(twin) and len(whole) and seconds[twin].min() == seconds[row]:
            one, other = sorted((int(row), int(twin[np.argmin(seconds[twin])])), key=lambda r: int(pools.offer[r]))
            both = mixed(found, "rollout", np.array([one]), np.array([other]))
            assert both.split[0] == pytest.approx(0.5, abs=0.01)
            errors.append(float(both.times.in_step.median[0] / seconds[whole].min() - 1.0))
    assert len(errors) >= 50
    # one pool of all nodes may run another engine, so it may be quicker but hardly slower
    assert np.quantile(errors, 0.02) > -0.02
    assert np.median(errors) < 0.05


def test_uneven_tool_calls_lengthen_a_step_and_not_what_runs_out_of_step() -> None:
    request = api.load(next(EXAMPLES.glob("10-*.yaml")))
    alike, uneven = (api.problem_of(request.replaced("job.environment.seconds_per_call.max", s)) for s in (2.0, 30.0))
    for pools in ("colocated", "rollout"):
        least = [getattr(problem, pools).times.in_step.median.min() for problem in (alike, uneven)]
        assert least[0] + 1.0 < least[1]
    assert alike.rollout.times.asynchronous.median.min() == uneven.rollout.times.asynchronous.median.min()
