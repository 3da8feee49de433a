"""Preference pairs as a phase before the job: a pool that samples all candidates, then a pool that judges them.

Both are rented for their own work alone, one after the other. A response is kept as soon as it is there: a stop costs
a restart and no work. The pairs are the job's data set, and stand in the storage that the bill counts for it.

hours = start-up and shutdown + seconds / 3600 / (1 - stops per hour · restart)
USD   = (pool + head node) [USD/h] · (hours + idle before release by hand) + disks + on call
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlopt.costs.operations import by_hand_hours, engineer_usd
from rlopt.estimates import expected_hours
from rlopt.problem import Floats, Ints, Pools, Problem
from rlopt.problem.phases import Phase
from rlopt.request import CheckpointFloors, Floors, Job, ModelRef, Models, Pairs, Request
from rlopt.rules.gpus import offer_matches
from rlopt.search.staircase import pareto_index
from rlopt.units import HOURS_PER_DAY, SECONDS_PER_HOUR, seconds_to_hours
from rlopt.words import Placement

PAIRS = "preference pairs"


def pairs_of(request: Request) -> int:
    """Pairs that the job is trained on: those of the data set, else new ones at every step."""
    job = request.job
    known = job.data.new_samples if job.data.incremental else job.dataset_samples
    return known or job.prompts_per_step * (job.steps_for() or 0)


def prompts_of(request: Request, pairs: Pairs) -> int:
    """Prompts that candidates are sampled to."""
    return math.ceil(pairs_of(request) / pairs.pairs_per_prompt)


def pairs_request(request: Request, pairs: Pairs) -> Request:
    """One step that samples and judges every candidate, on separate pools; what trains in it is never rented."""
    job = request.job
    generator = job.models.policy if pairs.generator.is_policy else pairs.generator
    sampled = Job(
        name=f"{job.name}: {PAIRS}",
        algorithm="grpo",
        models=Models(policy=generator, reference=ModelRef(keyword="none"), reward=pairs.judge),
        prompts_per_step=prompts_of(request, pairs),
        steps=1,
        prompt_tokens=job.prompt_tokens,
        response_tokens=job.response_tokens,
        packing=job.packing,
        kernels=job.kernels,
    )
    choices = request.choices.model_copy(
        update={
            "placements": (Placement.DISAGGREGATED,),
            "group_size": (pairs.candidates,),
            "scoring": ("own",) if pairs.judge.is_model else ("shared",),
            "mixed_pools": False,
            "kernels": type(request.choices.kernels)(),
        }
    )
    floors = Floors(score_precision=request.floors.score_precision, checkpoints=CheckpointFloors())
    limits = request.limits.model_copy(update={"deadline": None, "budget": None})
    return Request(job=sampled, choices=choices, limits=limits, floors=floors, costs=request.costs)


@dataclass(frozen=True, slots=True)
class PricedPools:
    """Pools that keep every limit alone: rows of their table, USD and hours; shape (rows,) each."""

    pools: Pools
    rows: Ints
    usd: Floats
    hours: Floats
    confident_hours: Floats


def priced(problem: Problem, pools: Pools, on_demand_share: float | None) -> PricedPools:
    """What each pool of one kind takes for its part of the phase; those that break a limit are left out."""
    request, limits = problem.request, problem.request.limits
    operations, zone = problem.operations, pools.zone
    restart = operations.restart_minutes / 60.0
    median, confident = (
        operations.overhead_hours + expected_hours(seconds / SECONDS_PER_HOUR, pools.failures_per_hour, 0.0, restart)
        for seconds in pools.times.in_step.both
    )
    head = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])[zone]
    boot = np.array([float(tariff.boot_gb()[0]) for tariff in problem.tariffs])[zone]
    disk = np.array([0.0 if tariff.disk is None else tariff.disk.usd_gb_hour for tariff in problem.tariffs])[zone]
    idle = by_hand_hours(problem)  # a script that gives machines back is the job's to set up
    elastic = pools.usd_per_hour * (median + idle)
    term = np.where(pools.term_hours > 0.0, pools.term_hours, 1.0)
    whole = pools.usd_per_hour * term * np.maximum(np.ceil(median / term * (1.0 - 1e-12)), 1.0)
    usd = np.where(pools.term_hours > 0.0, whole, elastic) + head * (median + idle)
    usd = usd + (pools.disk_gb + boot) * disk * median
    usd = usd + median * (request.costs.on_call_hours_per_day or 0.0) / HOURS_PER_DAY * engineer_usd(problem)
    fine = np.isfinite(usd) & np.isfinite(confident)
    if limits.max_gpus is not None:
        fine &= pools.gpus <= limits.max_gpus
    for quota in limits.quotas:
        fine &= ~offer_matches(quota, problem)[pools.offer] | (pools.gpus <= quota.max_gpus)
    hourly = request.hourly_budget_usd
    if hourly is not None:
        fine &= pools.usd_per_hour + head <= hourly * (1.0 + 1e-9)
    if on_demand_share:
        fine &= ~pools.spot
    least = request.floors.score_precision
    if least is not None:
        fine &= pools.score_precision >= least.rank
    rows = np.flatnonzero(fine)
    return PricedPools(pools, rows, usd[rows], median[rows], np.maximum(confident, median)[rows])


def cheapest_pair(first: PricedPools, second: PricedPools | None, deadline_hours: float) -> tuple[int, int] | None:
    """Numbers of the pool that samples and the one that judges (-1 without) whose bill is least within the deadline."""
    stairs = [pareto_index(part.usd, part.confident_hours) for part in (first, second) if part is not None]
    if second is None:
        fine = stairs[0][first.confident_hours[stairs[0]] <= deadline_hours]
        return (int(fine[0]), -1) if len(fine) else None
    if not len(stairs[0]) or not len(stairs[1]):
        return None
    usd = first.usd[stairs[0]][:, None] + second.usd[stairs[1]][None, :]
    hours = first.confident_hours[stairs[0]][:, None] + second.confident_hours[stairs[1]][None, :]
    usd = np.where(hours <= deadline_hours, usd, np.inf)
    at = int(np.argmin(usd))
    if not np.isfinite(usd.flat[at]):
        return None
    i, j = divmod(at, usd.shape[1])
    return int(stairs[0][i]), int(stairs[1][j])


def pairs_phase(request: Request, pairs: Pairs, problem: Problem) -> Phase:
    """The cheapest machines that make the job's pairs, and what they cost; ``problem`` is of their `pairs_request`."""
    share = request.floors.on_demand_share
    first = priced(problem, problem.rollout, share)
    second = priced(problem, problem.scoring, share) if pairs.judge.is_model else None
    deadline = math.inf if pairs.deadline is None else seconds_to_hours(pairs.deadline)
    found = cheapest_pair(first, second, deadline)
    if found is None:
        return Phase(PAIRS, None, None, 0.0, 0.0, 1, "", (f"no machines make the {PAIRS} within the limits",))
    chosen = [(first, found[0], "sample")] + ([(second, found[1], "judge")] if second is not None else [])
    usd = math.fsum(float(part.usd[at]) for part, at, _ in chosen)
    hours = math.fsum(float(part.hours[at]) for part, at, _ in chosen)
    confident = math.fsum(float(part.confident_hours[at]) for part, at, _ in chosen)
    machines = ", ".join(_machines(part, at, verb, problem) for part, at, verb in chosen)
    count = prompts_of(request, pairs)
    says = (
        f"{pairs_of(request):,} pairs are made before the job, outside limits.deadline: {count:,} prompts x "
        f"{pairs.candidates} candidates, {hours:.2f} h expected, {confident:.2f} h at the request's confidence"
    )
    prices = tuple(_price(part, at, problem) for part, at, _ in chosen)
    return Phase(PAIRS, None, usd, hours, confident, 1, machines, (says,), prices)


def _machines(part: PricedPools, at: int, verb: str, problem: Problem) -> str:
    row = int(part.rows[at])
    offer, nodes = problem.market.offers[int(part.pools.offer[row])], int(part.pools.nodes[row])
    where = " ".join(filter(None, (offer.provider, offer.region)))
    return f"{nodes} x {offer.shape.instance_type} ({where}, {offer.pricing}) that {verb} for {part.hours[at]:.2f} h"


def _price(part: PricedPools, at: int, problem: Problem) -> dict[str, object]:
    row = int(part.rows[at])
    offer = problem.market.offers[int(part.pools.offer[row])]
    usd = float(part.pools.usd_per_hour[row]) / int(part.pools.nodes[row])
    return {"offer": offer.id, "usd_per_hour": usd, "source": offer.source, "as_of": offer.as_of}
