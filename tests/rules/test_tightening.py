"""A tighter limit or floor never lowers the cost of the cheapest plan, and no plan appears that was not there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlopt.problem import Problem
from rlopt.request import Environment, Floors, Limits, Metrics
from rlopt.search.search import search
from rlopt.units import Money
from rlopt.workloads import Role
from tests.oracle.problems import random_problem

USD = [Money(amount, "USD") for amount in (200.0, 60.0, 25.0, 10.0, 3.0, 1.0)]
LOOSE_TO_TIGHT: dict[str, Sequence[Any]] = {
    "limits.budget": USD,
    "limits.budget.compute": USD,
    "limits.budget.storage": USD,
    "limits.budget.operations": USD,
    "floors.score_precision": ["fp8", "bf16", "fp32"],
    "floors.data_precision": ["jpeg75", "bf16", "source"],
    "floors.value_bins": [10, 51, 101, 201],
    "floors.value_params": [1000, 4 * 10**8, 10**9, 10**12],
    "floors.replay_buffer": [100, 3000, 10_000, 100_000],
    "floors.simulator_bandwidth": [1e9, 1e11, 4e11, 1e12],
    "floors.core_metrics.every": [100, 10, 2, 1],
    "floors.group_size": [4, 8, 16],
    "floors.on_demand_share": [0.0, 0.5, 1.0],
}
SEEDS = range(4)


def least_usd(problem: Problem) -> float:
    """Cost of the cheapest column that keeps every rule; infinite where none does."""
    found = search(problem, "cost")
    return float(np.min(found.columns.usd, initial=math.inf, where=found.admitted))


def varied(seed: int) -> Problem:
    """A random problem with a value model, pools that score in different precisions, and various networks."""
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    request = problem.request.replaced("job.environment", Environment(kind="simulator", steps_per_second=10.0))
    request = request.replaced("job.metrics", Metrics(every=5)).replaced("job.data.precision", "bf16")
    request = request.replaced("limits", Limits()).replaced("floors", Floors(checkpoints=request.floors.checkpoints))
    offers = tuple(
        replace(offer, shape=replace(offer.shape, internode_gbps=rng.choice([None, 50.0, 200.0, 800.0])))
        for offer in problem.market.offers
    )
    ranks = {
        name: replace(pools, score_precision=rng.integers(1, 4, len(pools)))
        for name, pools in (("training", problem.training), ("colocated", problem.colocated))
    }
    variants = tuple(
        replace(variant, value_bins=bins) for variant, bins in zip(problem.variants, (51, 201), strict=False)
    )
    value = Role("value", problem.models["policy"], True, outputs=201)
    workload = replace(problem.workload, roles=(*problem.workload.roles, value))
    market = replace(problem.market, offers=offers)
    return replace(problem, request=request, workload=workload, market=market, variants=variants, **ranks)


@pytest.mark.parametrize("key", LOOSE_TO_TIGHT)
def test_tightening_never_lowers_cost(key: str) -> None:
    moved = 0
    for seed in SEEDS:
        problem = varied(seed)
        before = least_usd(replace(problem, request=problem.request.replaced(key, None)))
        first = before
        for value in LOOSE_TO_TIGHT[key]:
            after = least_usd(replace(problem, request=problem.request.replaced(key, value)))
            assert after >= before * (1 - 1e-12) or (math.isinf(after) and math.isinf(before)), (seed, value)
            before = after
        moved += before > first
    assert moved, "no value of this key ever changed anything"
