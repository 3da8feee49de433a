"""A plan at a load above what was asked: longer responses, or more samples in every step.

The plan keeps its machines, layouts, checkpoint interval and tier; memory, hours and bill are estimated anew from the
heavier request. Where the layout no longer fits, the pool and its memory are named. The right plan is that of the
heavier request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeVar

import numpy as np

from rlopt.candidates.build import Held
from rlopt.candidates.context import Context
from rlopt.candidates.detail import PoolDetail
from rlopt.candidates.joint import pool_rows
from rlopt.candidates.mixing import Remembered
from rlopt.candidates.sampling import SamplingTable
from rlopt.candidates.tables import Tables
from rlopt.candidates.training import TrainingTable
from rlopt.errors import MissingFactError
from rlopt.estimates import Layout
from rlopt.facts import Offer
from rlopt.plan import Peak, Plan
from rlopt.problem import COLOCATED, Columns, Ints, Problem
from rlopt.request import Request
from rlopt.request.robust import Robust
from rlopt.rules import rules_of
from rlopt.studies.answer import build_plan
from rlopt.studies.cheapest import find
from rlopt.studies.stress import beside, right_plan

T = TypeVar("T")
What = Literal["length", "samples"]
Build = Callable[[Request, "Held | None", Callable[[Offer], bool] | None], Problem]
Solve = Callable[[Problem], Plan]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One heavier load."""

    what: What
    times: float
    request: Request


def heavier(request: Request, what: What, times: float) -> Request | None:
    """The request with ``times`` the length of responses (of trajectories) or the samples of every step.

    Mean, 99th percentile and maximum of a length grow alike; the number of steps stays. A worst case that the request
    asks for is what the load is for: it is left out. None where the job has neither.
    """
    request = request.replaced("limits.robust", Robust())
    job = request.job
    if what == "samples":
        more = {"prompts_per_step": math.ceil(job.prompts_per_step * times)}
        if job.epochs is not None and job.dataset_samples is not None:
            more["dataset_samples"] = math.ceil(job.dataset_samples * times)
        data = job.data
        if data.incremental and data.new_samples and job.epochs is not None:
            data = data.model_copy(update={"new_samples": math.ceil(data.new_samples * times)})
        return request.replaced("job", job.model_copy(update={**more, "data": data}))
    if job.trajectory is not None:
        span = {"mean": job.trajectory.mean * times, "max": job.trajectory.max * times}
        return request.replaced("job.trajectory", job.trajectory.model_copy(update=span))
    text = job.response_tokens
    if not text.max:
        return None
    p99 = None if text.p99 is None else text.p99 * times
    longer = {"mean": text.mean * times, "max": math.ceil(text.max * times), "p99": p99}
    return request.replaced("job.response_tokens", text.model_copy(update=longer))


def peaks(problem: Problem, plan: Plan, column: Columns, times: float, build: Build, solve: Solve) -> list[Peak]:
    """The plan of ``column`` (one row) at each kind of heavier load, beside the plan that is right then."""
    found = []
    whats: tuple[What, ...] = ("length", "samples")
    for what in whats:
        request = heavier(problem.request, what, times)
        if request is not None:
            found.append(_peak(problem, plan, column, _Asked(what, times, request), build, solve))
    return found


def _peak(problem: Problem, plan: Plan, column: Columns, asked: _Asked, build: Build, solve: Solve) -> Peak:
    wide = build(asked.request, None, None)
    best = solve(wide)
    misfit = misfits(problem, wide, column)
    then = None if misfit else _held_plan(problem, plan, column, asked.request, build)
    if then is None:
        return Peak(
            what=asked.what,
            times=asked.times,
            fits=False,
            misfit=misfit or "its layout is not among those that fit the heavier load, host memory and disks included",
            total_usd=None,
            expected_hours=None,
            confident_hours=None,
            meets_deadline=None,
            broken=[],
            right=right_plan(best, None, plan),
            regret_usd=None,
        )
    told = beside(asked.times, then, best, wide)
    return Peak(what=asked.what, fits=True, misfit=None, **told.model_dump())


def misfits(problem: Problem, wide: Problem, column: Columns) -> str | None:
    """The pool that lacks most memory with its own layout under the load of ``wide``, in words; None where all fit."""
    known, now = problem.estimates, wide.estimates
    if not isinstance(known, Tables) or not isinstance(now, Tables):
        return None
    if len(known.training) != len(now.training) or len(known.scoring) != len(now.scoring):
        return "no layout of some way to run the job fits any machine then"
    at_load = replace(
        known,
        context=replace(known.context, request=wide.request, workload=now.context.workload),
        training=[_at_load(old, new) for old, new in zip(known.training, now.training, strict=True)],
        sampling=[_at_load(old, new) for old, new in zip(known.sampling, now.sampling, strict=True)],
        scoring=[_at_load(old, new) for old, new in zip(known.scoring, now.scoring, strict=True)],
        remembered=Remembered(),
    )
    worst: tuple[float, str] = (0.0, "")
    for name, detail in _details(replace(problem, estimates=at_load), column):
        lack = detail.needed_gib - detail.capacity_gib
        if lack > worst[0]:
            needs = f"needs {detail.needed_gib:.4g} GiB per GPU of {detail.capacity_gib:.4g}"
            worst = (lack, f"pool {name} {needs}, most at stage {detail.peak_stage}")
    return worst[1] or None


def _at_load(old: tuple[Context, T], new: tuple[Context, T]) -> tuple[Context, T]:
    """The old table with what it is estimated with at the new load; machines stay those that its rows number."""
    context, table = old
    return replace(context, request=new[0].request, workload=new[0].workload, once=new[0].once), table


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


def _held_plan(problem: Problem, plan: Plan, column: Columns, request: Request, build: Build) -> Plan | None:
    """The plan with its own layouts at the heavier load; None where no such column is left."""
    used = {problem.market.offers[int(pools.offer[row])].id for pools, row in pool_rows(column, 0, problem)}
    try:
        there = build(request, _held(problem, column), lambda offer: offer.id in used)
    except MissingFactError:
        return None
    found = find(there, "cost", [rule for rule in rules_of(there) if not rule.relaxable], reductions=False)
    same = [j for j in np.flatnonzero(found.admitted) if _alike(there, found.columns, int(j), problem, column)]
    if not same:
        return None
    j = min(same, key=lambda row: float(found.columns.usd[row]))
    return build_plan(found.columns, int(j), there, plan.solver, plan.status)


def _held(problem: Problem, column: Columns) -> Held:
    """The plan's own layout of training, and its own engines where they have pools of their own."""
    estimates, first = problem.estimates, int(column.train[0])
    assert isinstance(estimates, Tables)
    if int(column.placement[0]) == COLOCATED:
        entry = estimates.colocated_rows[int(problem.colocated.estimate[first])].train
    else:
        entry = estimates.training_rows[int(problem.training.estimate[first])]
    table = estimates.training[entry.table][1]
    layout, nodes = table.layout.take(slice(entry.row, entry.row + 1)), int(table.nodes[entry.row])
    engines: list[tuple[int, int, int]] = []
    for row in (int(column.rollout[0]), int(column.rollout2[0])):
        if row >= 0:
            one = estimates.sampling_rows[int(problem.rollout.estimate[row])]
            sampler = estimates.sampling[one.table][1]
            engines.append((int(sampler.tp[one.row]), int(sampler.ep[one.row]), int(sampler.nodes[one.row])))

    def training(rows: TrainingTable, _: Ints) -> Ints:
        kept = rows.nodes == nodes
        for field in fields(Layout):
            kept &= getattr(rows.layout, field.name) == getattr(layout, field.name)[0]
        return np.asarray(np.flatnonzero(kept), dtype=np.int64)

    def sampling(rows: SamplingTable, _: Ints) -> Ints:
        kept = np.zeros(len(rows), dtype=np.bool_)
        for tp, ep, count in engines:
            kept |= (rows.tp == tp) & (rows.ep == ep) & (rows.nodes == count)
        return np.asarray(np.flatnonzero(kept), dtype=np.int64)

    return Held(training, sampling)


def _alike(there: Problem, columns: Columns, j: int, problem: Problem, column: Columns) -> bool:
    """Whether a column of another problem rents, decides and keeps the same."""
    names = ("placement", "variant", "group_size", "update_precision", "score_precision", "environment", "care")
    if any(getattr(columns, name)[j] != getattr(column, name)[0] for name in (*names, "interval_steps")):
        return False
    tiers = [
        own.tariffs[int(some.zone[row])].tiers[int(some.tier[row])].name
        for own, some, row in ((there, columns, j), (problem, column, 0))
    ]
    return tiers[0] == tiers[1] and _machines(there, columns, j) == _machines(problem, column, 0)


def _machines(problem: Problem, columns: Columns, j: int) -> Sequence[tuple[str, int, int]]:
    offers = problem.market.offers
    return [
        (offers[int(pools.offer[row])].id, int(pools.nodes[row]), int(pools.precision[row]))
        for pools, row in pool_rows(columns, j, problem)
    ]
