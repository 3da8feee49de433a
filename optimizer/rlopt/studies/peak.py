"""A plan at a load above what was asked: longer responses, or more samples in every step.

The plan keeps its machines, layouts, checkpoint interval and tier; memory, hours and bill are estimated anew from the
heavier request. Where the layout no longer fits, the pool and its memory are named. The right plan is that of the
heavier request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np

from rlopt.answers.plan import FoundPlan, Peak, RightPlan
from rlopt.assembly.chosen import Chosen, ChosenColumn
from rlopt.assembly.plan import plan_of
from rlopt.columns.joint import pool_rows
from rlopt.errors import MissingFactError, NotSupportedError
from rlopt.estimates import Layout
from rlopt.pools.context import Context
from rlopt.pools.sampling.mixing import Remembered
from rlopt.pools.tables import Tables
from rlopt.problem import Columns, Problem
from rlopt.problem.detail import PoolDetail
from rlopt.problem.fixed import Fixed, FixedEngine, FixedSampling, FixedTraining
from rlopt.reports import words
from rlopt.request import Job, Request
from rlopt.request.limits import Robust
from rlopt.rules import rules_of
from rlopt.search.search import search
from rlopt.studies.cheapest import cheapest
from rlopt.studies.problem import part_of, rebuilt
from rlopt.studies.stress import beside, right_plan
from rlopt.words import COLOCATED

T = TypeVar("T")
What = Literal["length", "samples"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One heavier load."""

    what: What
    times: float
    request: Request


def heavier(request: Request, what: What, times: float) -> Request | None:
    """The request with ``times`` the length of responses (of trajectories) or the samples of every step.

    Means, 99th percentile and maximum of a length grow alike; the number of steps stays. A worst case that the request
    asks for is what the load is for: it is left out. None where the job has neither.
    """
    request = request.replaced("limits.robust", Robust())
    job = request.job
    if what == "samples":
        return request.replaced("job", _more_samples(job, times))
    if job.trajectory is not None:
        span = {"mean": job.trajectory.mean * times, "max": job.trajectory.max * times}
        return request.replaced("job.trajectory", job.trajectory.model_copy(update=span))
    text = job.response_tokens
    if not text.max:
        return None
    p99 = None if text.p99 is None else text.p99 * times
    end = None if text.mean_end is None else text.mean_end * times
    longer = {"mean": text.mean * times, "max": math.ceil(text.max * times), "p99": p99, "mean_end": end}
    return request.replaced("job.response_tokens", text.model_copy(update=longer))


def _more_samples(job: Job, times: float) -> Job:
    """``times`` the prompts of a step, rounded up, and as many more of all that is counted in steps.

    The data set grows with the steps that draw from it, and with it the samples that are bought new; so do the stored
    trajectories that batches of a step's size are made of before the first step. The number of steps stays. A data set
    of a stated size that a stated number of steps draws from stays too.
    """
    prompts = math.ceil(job.prompts_per_step * Fraction(str(times)))
    ratio, data, more = Fraction(prompts, job.prompts_per_step), job.data, job
    grows = job.epochs is not None or job.dataset_samples is None
    for whole in (math.ceil, math.floor):  # rounded up, the data set may need one step more
        grown: dict[str, object] = {"prompts_per_step": prompts}
        if grows and job.dataset_samples is not None:
            grown["dataset_samples"] = max(1, whole(job.dataset_samples * ratio))
        if grows and data.new_samples:
            grown["data"] = data.model_copy(update={"new_samples": max(1, whole(data.new_samples * ratio))})
        if grows and job.dataset_size is not None:
            grown["dataset_size"] = job.dataset_size * float(ratio)
        if job.offline is not None:
            grown["offline"] = job.offline.model_copy(update={"samples": max(1, whole(job.offline.samples * ratio))})
        more = job.model_copy(update=grown)
        if _passes(more) == _passes(job):
            break
    return more


def _passes(job: Job) -> tuple[int | None, int | None, int]:
    """Steps of one run on raw and on clean data, and batches of stored trajectories before the first step."""
    stored = 0 if job.offline is None else math.ceil(job.offline.samples / job.prompts_per_step)
    return job.steps_for(cleaned=False), job.steps_for(cleaned=True), stored


def peaks(chosen: Chosen, times: float, backend: str = "pulp", time_limit: float | None = None) -> list[Peak]:
    """What was chosen at each kind of heavier load, beside the plan that is right then."""
    found = []
    whats: tuple[What, ...] = ("length", "samples")
    for what in whats:
        request = heavier(chosen.problem.request, what, times)
        if request is not None:
            found.append(_peak(chosen, _Asked(what, times, request), backend, time_limit))
    return found


def _peak(chosen: Chosen, asked: _Asked, backend: str, time_limit: float | None) -> Peak:
    try:
        wide = rebuilt(chosen.problem, asked.request)
    except (MissingFactError, NotSupportedError) as error:
        return _unfit(asked, error.sentence(), None)
    best = cheapest(wide, backend, time_limit)
    then = misfits(chosen.problem, wide, chosen.column) or _held_plan(chosen, wide)
    if isinstance(then, str):
        return _unfit(asked, then, right_plan(best, None, chosen.plan))
    told = beside(asked.times, then, best, wide)
    return Peak(what=asked.what, fits=True, misfit=None, **told.model_dump())


def _unfit(asked: _Asked, misfit: str, right: RightPlan | None) -> Peak:
    return Peak(
        what=asked.what,
        times=asked.times,
        fits=False,
        misfit=misfit,
        total_usd=None,
        expected_hours=None,
        confident_hours=None,
        meets_deadline=None,
        broken=[],
        right=right,
        regret_usd=None,
    )


def misfits(problem: Problem, wide: Problem, column: Columns) -> str | None:
    """The pool that lacks most memory with its own layout under the load of ``wide``, in words; None where all fit."""
    known, now = problem.estimates, wide.estimates
    if not isinstance(known, Tables) or not isinstance(now, Tables):
        return None
    if len(known.training) != len(now.training) or len(known.scoring) != len(now.scoring):
        return "no layout of some way to run the job fits any machine then"
    at_load = replace(
        known,
        context=_context_at_load(known.context, now.context),
        training=[_at_load(old, new) for old, new in zip(known.training, now.training, strict=True)],
        sampling=[_at_load(old, new) for old, new in zip(known.sampling, now.sampling, strict=True)],
        scoring=[_at_load(old, new) for old, new in zip(known.scoring, now.scoring, strict=True)],
        remembered=Remembered(),
    )
    worst: tuple[float, str] = (0.0, "")
    for name, detail in _details(replace(problem, estimates=at_load), column):
        lack = detail.needed_gib - detail.capacity_gib
        if lack > worst[0]:
            stage, _, model = detail.peak_stage.partition(" ")
            needs = f"needs {detail.needed_gib:.1f} GiB of each GPU for {words.doing(stage, model, ())}"
            worst = (lack, f"pool {name} {needs}, and {detail.capacity_gib:.1f} GiB can be used")
    return worst[1] or None


def _at_load(old: tuple[Context, T], new: tuple[Context, T]) -> tuple[Context, T]:
    """The old table with what it is estimated with at the new load; machines stay those that its rows number."""
    context, table = old
    return replace(_context_at_load(context, new[0]), once=new[0].once), table


def _context_at_load(old: Context, new: Context) -> Context:
    """The load of ``new``; a column points into the numbers of environment instances of ``old``."""
    return replace(old, request=new.request, workload=replace(new.workload, instances=old.workload.instances))


def _details(problem: Problem, column: Columns) -> list[tuple[str, PoolDetail]]:
    estimates = problem.estimates
    found: list[tuple[str, PoolDetail]] = []
    for pools, row in pool_rows(column, 0, problem):
        at = int(pools.estimate[row])
        if pools is problem.colocated:
            found.append(("main" if problem.workload.generates else "train", estimates.colocated_detail(at)))
        elif pools is problem.training:
            found.append(("train", estimates.training_detail(at)))
        elif pools is problem.rollout:
            found.append(("rollout", estimates.rollout_detail(at, False)))
        else:
            found.append(("score", estimates.scoring_detail(at)))
    return found


def _held_plan(chosen: Chosen, wide: Problem) -> FoundPlan | str:
    """The plan with its own layouts and environment at the load of ``wide``; in words why no such column is left."""
    problem, column = chosen.problem, chosen.column
    used = {problem.market.offers[int(pools.offer[row])].id for pools, row in chosen.rows}
    request, count = wide.request, chosen.instances
    if count:
        request = request.replaced("job.environment.instances", count)
    try:
        there = part_of(problem, request, lambda offer: offer.id in used, _held(problem, column))
    except (MissingFactError, NotSupportedError) as error:
        return error.sentence()
    there = replace(there, phases=wide.phases)
    found = search(there, "cost", [rule for rule in rules_of(there) if not rule.relaxable], reductions=False)
    same = [j for j in np.flatnonzero(found.admitted) if _alike(ChosenColumn.of(there, found.columns, int(j)), chosen)]
    if not same:
        return "its layout is not among those that fit the heavier load, host memory and disks included"
    j = min(same, key=lambda row: float(found.columns.usd[row]))
    return plan_of(ChosenColumn.of(there, found.columns, int(j)), chosen.plan.solver, chosen.plan.status)


def _held(problem: Problem, column: Columns) -> Fixed:
    """The plan's own layout of training, and its own engines where they have pools of their own."""
    estimates, first = problem.estimates, int(column.train[0])
    assert isinstance(estimates, Tables)
    if int(column.placement[0]) == COLOCATED:
        entry = estimates.colocated_rows[int(problem.colocated.estimate[first])].train
    else:
        entry = estimates.training_rows[int(problem.training.estimate[first])]
    table = estimates.training[entry.table][1]
    layout, nodes = table.layout.take(slice(entry.row, entry.row + 1)), int(table.nodes[entry.row])
    engines: list[FixedEngine] = []
    for row in (int(column.rollout[0]), int(column.rollout2[0])):
        if row >= 0:
            one = estimates.sampling_rows[int(problem.rollout.estimate[row])]
            sampler = estimates.sampling[one.table][1]
            engines.append(FixedEngine(int(sampler.tp[one.row]), int(sampler.ep[one.row]), int(sampler.nodes[one.row])))
    columns: dict[str, int] = {name: int(getattr(layout, name)[0]) for name in Layout.__match_args__}
    return Fixed(training=FixedTraining(nodes=nodes, layout=columns), sampling=FixedSampling(engines=tuple(engines)))


def _alike(there: ChosenColumn, here: ChosenColumn) -> bool:
    """Whether a column of another problem rents, decides and keeps the same."""
    names = ("placement", "variant", "group_size", "update_precision", "score_precision", "recovery", "interval_steps")
    if any(getattr(there.column, name)[0] != getattr(here.column, name)[0] for name in names):
        return False
    if there.instances != here.instances:
        return False
    tiers = [one.tariff.tiers[int(one.column.tier[0])].name for one in (there, here)]
    return tiers[0] == tiers[1] and _machines(there) == _machines(here)


def _machines(chosen: ChosenColumn) -> Sequence[tuple[str, int, int]]:
    offers = chosen.problem.market.offers
    return [
        (offers[int(pools.offer[row])].id, int(pools.nodes[row]), int(pools.precision[row]))
        for pools, row in chosen.rows
    ]
