"""Configurations held as stated: each of the listing has the bill that the listing says, none beats the optimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from rlopt import api
from rlopt.answers.configuration import LayoutGiven
from rlopt.answers.plan import SolverSummary
from rlopt.assembly.plan import build_plan
from rlopt.problem import Columns, Problem
from rlopt.reading.configuration.saved_plan import of_plan
from rlopt.request import Request
from rlopt.rules import rules_of
from rlopt.search.exhaustive import every_column, keeps, opened
from rlopt.studies.cheapest import cheapest
from rlopt.studies.configuration.price import price
from tests.studies.small import asked, usd

APART = {"placements": ["colocated", "disaggregated", "async"]}
JOBS: dict[str, Callable[[], Request]] = {
    "colocated": lambda: asked("grpo"),
    "apart": lambda: asked("grpo", choices={**APART, "gpus": ["H100"]}, limits={"max_gpus": 3}),
    "trained alone": lambda: asked("dpo", job={"models": {"policy": "Qwen/Qwen2.5-1.5B"}}),
    "kept alive": lambda: asked(
        "grpo", recovery={"spare_nodes": [0, 1]}, choices={"gpus": ["A100-80GB"]}, limits={"max_gpus": 16}
    ),
    "scored apart": lambda: asked(
        "opd", choices={**APART, "gpus": ["H100"], "scoring": ["shared", "own"]}, limits={"max_gpus": 3}
    ),
}
SHOWN = 6
SUMMARY = SolverSummary(
    backend="none", engine="", objective_usd=None, bound_usd=None, gap=None, seconds=0.0, columns=0, candidates=0
)


@lru_cache(maxsize=8)
def problem_of(name: str) -> Problem:
    """A small job's problem."""
    return api.problem_of(JOBS[name]())


@lru_cache(maxsize=8)
def listing(name: str) -> tuple[Problem, Columns]:
    """Every plan of a small job, with the problem whose rows they are."""
    listed = opened(problem_of(name))
    return listed, every_column(listed)


@lru_cache(maxsize=8)
def best_of(name: str) -> float:
    """USD of a small job's optimum."""
    return usd(cheapest(problem_of(name)))


@pytest.mark.parametrize("name", JOBS)
def test_every_configuration_costs_what_the_listing_says_and_none_beats_the_optimum(name: str) -> None:
    problem = problem_of(name)
    listed, columns = listing(name)
    best = best_of(name)
    rng = np.random.default_rng(7)
    order = np.argsort(columns.usd)
    chosen = {int(order[0]), int(order[-1]), *rng.choice(len(columns), SHOWN, replace=False).tolist()}
    for j in sorted(chosen):
        config = of_plan(build_plan(columns, j, listed, SUMMARY, "feasible"))
        found = price(problem, config)
        assert found.plan is not None
        assert usd(found.plan) == pytest.approx(float(columns.usd[j]), rel=1e-9)
        assert found.plan.time is not None
        assert found.plan.time.expected_hours == pytest.approx(float(columns.expected_hours[j]), rel=1e-9)
        assert found.outside == ()
        for pool in found.plan.pools:  # told of exactly this configuration, stage by stage
            if pool.memory is not None and pool.share is None:
                peak = max((one for one in found.memory if one.pool == pool.name), key=lambda one: one.needed_gib)
                assert (peak.stage, peak.needed_gib) == (pool.memory.stage, pytest.approx(pool.memory.needed_gib))
        if not found.broken:
            assert best <= usd(found.plan) * (1 + 1e-9)


DROPPED = ("offer", "provider", "region", "zone", "instance_type", "pricing", "gpus_per_node", "nodes", "layout")
UNDECIDED = ("group_size", "interval_steps", "tier", "staleness", "spare_nodes", "compressed", "ways")


@settings(max_examples=16)
@given(name=st.sampled_from(sorted(JOBS)), share=st.floats(0.0, 1.0, exclude_max=True), data=st.data())
def test_stating_less_is_never_dearer_and_never_beats_the_optimum(name: str, share: float, data: st.DataObject) -> None:
    """Whatever part of a configuration is stated: the rest takes its cheapest value among the same choices."""
    problem = problem_of(name)
    listed, columns = listing(name)
    j = int(share * len(columns))
    whole = of_plan(build_plan(columns, j, listed, SUMMARY, "feasible"))
    keys = data.draw(st.sets(st.sampled_from([*DROPPED, *UNDECIDED]), min_size=2, max_size=10))
    if keys & {"provider", "region", "zone", "instance_type", "pricing", "gpus_per_node"}:
        keys |= {"offer"}
    loose = dict.fromkeys(keys & set(DROPPED) - {"layout"})
    loose |= {"layout": LayoutGiven()} if "layout" in keys else {}
    free = {"usd_per_hour": None} if "offer" in keys else {}
    pools = tuple(pool.model_copy(update={**loose, **free}) for pool in whole.pools)
    decided = whole.decisions.model_copy(update={key: {} if key == "ways" else None for key in keys & set(UNDECIDED)})
    found = price(problem, whole.model_copy(update={"pools": pools, "decisions": decided}))
    assert found.plan is not None
    if found.broken or found.outside:
        return
    assert best_of(name) <= usd(found.plan) * (1 + 1e-9)
    kept = keeps(columns.take(np.array([j])), listed, rules_of(problem)).all()
    if kept:
        assert usd(found.plan) <= float(columns.usd[j]) * (1 + 1e-9)
    event(f"{name}, {'kept' if kept else 'broken'}, {len(keys)} left out")
