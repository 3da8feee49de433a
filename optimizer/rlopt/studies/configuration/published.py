"""What a published configuration costs under the same model and prices, beside the plan.

The configuration is held as far as it was stated (GPU type and counts, placement, layout, precisions) and free
otherwise: checkpoints, micro-batch and what else nobody printed take their cheapest values, so that it is never made
dearer than it was. Limits of the request that it breaks are lifted and named, and the cheapest plan with the same
limits lifted stands beside it: it is never dearer than the configuration, because the configuration is among its
choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlopt.answers.plan import Plan
from rlopt.pools.build import build_problem
from rlopt.problem import Problem
from rlopt.problem.fixed import Fixed, FixedEngine, FixedSampling, FixedTraining
from rlopt.request import Request
from rlopt.rules import Rule, Scope, rules_of
from rlopt.search.search import search
from rlopt.studies.cheapest import cheapest, solve_found
from rlopt.studies.configuration.broken_limits import broken as keys_broken
from rlopt.studies.configuration.published_request import (
    Published,
    PublishedMachine,
    Question,
    question,
    with_market,
    without,
)
from rlopt.words import Offload


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """The plan of the request, the configuration's, and the cheapest under the limits that the configuration had."""

    plan: Plan
    configuration: Plan | None
    unlimited: Plan | None
    """The cheapest plan with the same limits lifted."""
    lifted: tuple[str, ...]
    """Dotted keys of the request that the configuration does not keep."""
    freed: tuple[str, ...]
    """What was stated and is not held."""
    assumed: tuple[str, ...]
    reason: str = ""
    """Why there is no configuration to price."""


def _held(run: Published, layout: bool) -> Fixed:
    """Rows of the estimates that are the configuration; ``layout`` False holds the machines alone."""
    trained = (0, run.gpus) if run.training_gpus is None else (run.training_gpus, run.training_gpus)
    beside = (0, run.gpus) if run.training_gpus is None else (run.gpus - run.training_gpus,) * 2
    if not layout:
        return Fixed(training=FixedTraining(trained), sampling=FixedSampling(beside))
    columns = dict(run.degrees)
    if run.offload is not None:
        columns["offload"] = Offload(run.offload).code
    engines = None if run.rollout_tp is None else (FixedEngine(run.rollout_tp),)
    return Fixed(
        training=FixedTraining(trained, layout=columns, sharding=run.sharding),
        sampling=FixedSampling(beside, engines),
    )


def _size(run: Published) -> Rule:
    return Rule(
        "published",
        "published.gpus",
        "GPUs",
        "==",
        float(run.gpus),
        lambda columns, _: columns.gpus.astype(np.float64),
        lambda plan, _: float(sum(pool.gpus for pool in plan.pools)),
        scope=Scope.POOLS,
    )


def compare(problem: Problem, run: Published, plan: Plan | None = None, backend: str = "pulp") -> PublishedComparison:
    """Price one published configuration of the problem's job beside its plan (``plan`` where it is known already).

    Bills are compared, whatever the request's objective. Raises SolverError where a plan fails its audit.
    """
    own = cheapest(problem, backend) if plan is None else plan
    request = problem.request.replaced("objective", "cost")
    asked = with_market(question(request, run, problem.catalog), run)
    if isinstance(asked, str):
        return PublishedComparison(own, None, None, (), (), (), asked)
    freed: tuple[str, ...] = ()
    if run.rollout_tp is not None and run.training_gpus is None and run.gpus > 1:
        freed = ("rollout tp",)  # the engine of a pool that trains too takes its best degree
    for layout in (True, False):
        held = _held(run, layout)
        narrow = _built(problem, asked, asked.narrow, held)
        broken = keys_broken(narrow, [_size(run)])
        if broken is not None:
            break
        freed = ("layout",)
    if broken is None:
        return PublishedComparison(own, None, None, asked.lifted, (), asked.assumed, _misfit(narrow, run))
    if broken:
        narrow = _built(problem, asked, without(asked.narrow, broken), held)
    found = search(narrow, "cost", [*rules_of(narrow), _size(run)])
    configuration = solve_found(narrow, found, "cost", backend)
    lifted = tuple(dict.fromkeys((*asked.lifted, *broken)))
    unlimited = own
    if lifted or asked.assumed:
        unlimited = _cheapest_of(problem, asked, without(asked.wide, broken), backend)
    return PublishedComparison(own, configuration, unlimited, lifted, freed, asked.assumed)


def _misfit(problem: Problem, run: Published) -> str:
    """Why no layout of these machines can do the job."""
    if run.offload not in (None, "none") and not problem.market.host_memory_gib.any():
        return "it offloads to host memory, and how much of that these machines have is not known"
    return "by the memory model the job does not fit on these machines"


def _cheapest_of(problem: Problem, asked: Question, request: Request, backend: str) -> Plan:
    """The cheapest plan, one update precision at a time: each has training memory of its own."""
    plans = []
    for precision in request.choices.precision.update:
        one = request.replaced("choices.precision.update", (precision,))
        plans.append(cheapest(_built(problem, asked, one, None), backend))
    return min(plans, key=lambda plan: plan.cost.total_usd if plan.cost else math.inf)


def _built(problem: Problem, asked: Question, request: Request, held: Fixed | None) -> Problem:
    return build_problem(request, asked.catalog, problem.models, held=held)


__all__ = ["Published", "PublishedComparison", "PublishedMachine", "compare"]
