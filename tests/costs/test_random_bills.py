"""Random whole bills: algebra against arithmetic, and no cost falls where hours, rates, stops or sizes grow."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rlopt.costs import COSTS, bill, column_costs
from rlopt.costs.stored.copies import quick_enough
from rlopt.problem import Columns, Problem
from rlopt.search.bounds import Bounds
from rlopt.search.exhaustive import every_column, exhaustive
from rlopt.studies.cheapest import cheapest
from tests.costs.random_bills import random_bill
from tests.costs.test_twins import plan_of

PLANS = 4


def sample(seed: int) -> tuple[Problem, Columns]:
    """A few random columns of a random problem; () where it has none."""
    problem = random_bill(seed)
    columns = every_column(problem)
    count = min(PLANS, len(columns))
    return problem, columns.take(
        np.random.default_rng(seed).choice(len(columns), count, replace=False) if count else []
    )


@pytest.mark.parametrize("shard", range(2))
def test_the_bill_is_the_columns_cost(shard: int) -> None:
    seen: dict[str, int] = {}
    for seed in range(shard, 40, 2):
        problem, columns = sample(seed)
        for j in range(len(columns)):
            lines, one = bill(plan_of(columns, j, problem), problem), columns.take(slice(j, j + 1))
            for cost in COSTS:
                terms = math.fsum(float(usd[0]) for usd in cost.terms(one, problem).values())
                billed = math.fsum(line.usd for line in lines if line.dimension == cost.DIMENSION)
                assert billed == pytest.approx(terms, rel=1e-9, abs=1e-12), (seed, j, cost.DIMENSION)
            for line in lines:
                assert line.usd >= 0
                assert any(sign.isdigit() for sign in line.basis), line.item
                seen[line.item] = seen.get(line.item, 0) + (line.usd > 0)
    assert {item for item, count in seen.items() if not count} == {
        "base weights from the hub", "trajectories to the trainer"
    }  # fmt: skip
    assert {"setup of the release", "uploads to the store", "reads from the store", "orphan volumes"} <= set(seen)


GROWS = (
    {"expected_hours": 1.3, "confident_hours": 1.3},
    {"expected_hours": 1.3, "failure_free_hours": 1.3},
    {"usd_per_hour": 1.5},
    {"cpu_usd_per_hour": 1.5},
    {"failures_per_hour": 2.0},
    {"disk_gb": 2.0},
    {"gpus": 2},
    {"committed_usd": 2.0},
)


@pytest.mark.parametrize("factors", GROWS, ids=lambda factors: " ".join(factors))
def test_no_cost_falls_where_something_grows(factors: dict[str, float]) -> None:
    rose = 0
    for seed in range(40):
        problem, columns = sample(seed)
        if not len(columns):
            continue
        more = replace(columns, **{name: getattr(columns, name) * factor for name, factor in factors.items()})
        before, after = column_costs(columns, problem), column_costs(more, problem)
        assert (after >= before * (1 - 1e-12)).all(), seed
        rose += int((after > before).sum())
    assert rose or "committed_usd" in factors


def test_more_nodes_to_read_a_copy_back_never_cost_more() -> None:
    for seed in range(40):
        problem, columns = sample(seed)
        weights_gb = problem.checkpoint.weights_bytes / 1e9
        # where no tier is quick enough the column breaks the floor, and its copies stand beside the recent ones
        quick = quick_enough(columns, problem, weights_gb).any(axis=1)
        columns = columns.take(np.broadcast_to(quick, len(columns)))
        if len(columns):
            more = replace(columns, nodes=columns.nodes * 100)
            assert (column_costs(more, problem) <= column_costs(columns, problem) * (1 + 1e-12)).all(), seed


@pytest.mark.parametrize("mixes", [False, True])
def test_the_search_finds_what_enumeration_finds(mixes: bool) -> None:
    found = 0
    for seed in range(24 if mixes else 60):
        problem = random_bill(seed, mixes)
        best, plan = exhaustive(problem), cheapest(problem)
        assert (best is None) == (plan.cost is None), seed
        if best is not None and plan.cost is not None:
            assert plan.cost.total_usd == pytest.approx(best.usd, rel=1e-6), (seed, best.column)
            found += 1
    assert found >= 8


def test_the_bounds_hold_for_the_whole_bill() -> None:
    for seed in range(30):
        problem, columns = sample(seed)
        if not len(columns):
            continue
        least = Bounds.of(problem).fixed
        assert (
            least[columns.placement, columns.zone, columns.variant, columns.group_size] <= columns.usd * (1 + 1e-12)
        ).all(), seed
