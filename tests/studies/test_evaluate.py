"""Configurations held as stated: each of the listing has the bill that the listing says, none beats the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from rlopt import api
from rlopt.candidates.build import Held, build_problem
from rlopt.facts import Catalog, Offer
from rlopt.plan import SolverSummary
from rlopt.problem import Problem
from rlopt.reading.config_plan import of_plan
from rlopt.request import Request
from rlopt.studies.answer import build_plan
from rlopt.studies.cheapest import cheapest
from rlopt.studies.evaluate import price
from rlopt.studies.exhaustive import every_column, opened
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


def builder(problem: Problem) -> Callable[..., Problem]:
    """Build like the command does."""

    def build(request: Request, facts: Catalog, only: Callable[[Offer], bool] | None, held: Held | None) -> Problem:
        return replace(build_problem(request, facts, problem.models, held=held, only=only), phases=problem.phases)

    return build


@pytest.mark.parametrize("name", JOBS)
def test_every_configuration_costs_what_the_listing_says_and_none_beats_the_optimum(name: str) -> None:
    problem = problem_of(name)
    listed = opened(problem)
    columns = every_column(listed)
    best = usd(cheapest(problem))
    rng = np.random.default_rng(7)
    order = np.argsort(columns.usd)
    chosen = {int(order[0]), int(order[-1]), *rng.choice(len(columns), SHOWN, replace=False).tolist()}
    for j in sorted(chosen):
        config = of_plan(build_plan(columns, j, listed, SUMMARY, "feasible"))
        found = price(config, problem.request, problem.catalog, builder(problem))
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
