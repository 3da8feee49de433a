"""Hours of a chosen column in the plan's words: those of the run, and the seconds of each stage of a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from rlopt.answers.plan import StageTime, Time
from rlopt.assembly.chosen import ChosenColumn, ChosenPool
from rlopt.assembly.loading import stage as load_stage
from rlopt.columns.checkpoint_compression import hours_per_gb, size_share
from rlopt.columns.hours import pilot_runs
from rlopt.columns.pace import as_predicted
from rlopt.market.cpu_machines import SCORERS
from rlopt.pools.run_points import compose
from rlopt.problem.detail import Estimates
from rlopt.units import SECONDS_PER_HOUR, seconds_to_hours
from rlopt.words import ASYNC, StageKind

FIELDS = ("first_step_seconds", "last_step_seconds")


def time_of(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> Time:
    """Hours of one run as the limits count them, and what a step is made of."""
    problem, column, limits = chosen.problem, chosen.column, chosen.problem.request.limits
    ends = problem.estimates.ends  # those of the first and of the last step, where responses change in length
    return Time(
        expected_hours=float(column.expected_hours[0]),
        confidence=limits.confidence,
        confident_hours=float(column.confident_hours[0]),
        deadline_hours=None if limits.deadline is None else seconds_to_hours(limits.deadline),
        step_seconds=float(column.step_seconds[0]),
        steps=int(column.steps[0]),
        stages=stages(chosen, machines),
        failure_free_hours=float(column.failure_free_hours[0]),
        startup_hours=problem.operations.overhead_hours,
        once_hours=float(column.once_hours[0]),
        saving_hours=saving_hours(chosen),
        divergence_hours=float(column.divergence_hours[0]),
        waiting_hours=float(column.wait_hours[0]),
        waiting_counts=limits.deadline_from == "request",
        pilot_hours=float(column.confident_hours[0]) - counted_wait(chosen) - own_hours(chosen),
        **{name: step_at(chosen, end) for name, end in zip(FIELDS, ends, strict=bool(ends))},
    )


def counted_wait(chosen: ChosenColumn) -> float:
    """Hours of waiting for machines that the deadline counts."""
    counts = chosen.problem.request.limits.deadline_from == "request"
    return float(chosen.column.wait_hours[0]) if counts else 0.0


def own_hours(chosen: ChosenColumn) -> float:
    """Confident hours of the run itself, without waits and pilots."""
    pilots, confident = chosen.problem.request.job.pilots, float(chosen.column.confident_hours[0])
    before = pilots is not None and pilots.before_deadline
    return (confident - counted_wait(chosen)) / (1.0 + pilot_runs(chosen.problem) if before else 1.0)


def error_band(chosen: ChosenColumn) -> float:
    """Standard deviation of the run's hours by the time model's own error, as a logarithm; 0 at even odds."""
    limits, expected = chosen.problem.request.limits, float(chosen.column.expected_hours[0])
    error = math.log(own_hours(chosen) / expected)
    if limits.robust.time > 1.0:  # the band is the model's own, without the worst case on top
        error = math.log(as_predicted(chosen.problem, chosen.column) / expected)
    z = NormalDist().inv_cdf(limits.confidence)
    return error / z if z > 1e-9 else 0.0


def stages(chosen: ChosenColumn, machines: Sequence[ChosenPool]) -> list[StageTime]:
    """Seconds of a step by stage and pool: loading, what pools do, weights on their way, scoring without GPUs."""
    found = load_stage(chosen, machines[0].name)
    found += [
        StageTime(
            stage=one.stage,
            pool=pool.name,
            seconds=one.seconds,
            utilization=one.utilization,
            model=one.model,
            limited_by=one.limited_by,
        )
        for pool in machines
        for one in pool.detail.stages
    ]
    overhead = float(chosen.problem.overhead(chosen.placement.code, chosen.column.variant[0]))
    engine = next((pool.name for pool in machines if StageKind.SAMPLE in pool.detail.roles), machines[-1].name)
    found.append(StageTime(stage="transfer", pool=engine, seconds=overhead, model="policy"))
    return found + cpu_stages(chosen)


def cpu_stages(chosen: ChosenColumn) -> list[StageTime]:
    """Seconds that machines without GPUs score in one step; nothing where they do not."""
    variant = chosen.variant
    if variant.cpu is None:
        return []
    seconds = variant.cpu.seconds(variant.workload, chosen.group_size)
    return [StageTime(stage=StageKind.SCORE, pool=SCORERS, seconds=seconds, model="reward")]


def saving_hours(chosen: ChosenColumn) -> float:
    """Hours of one run in which steps stand still: copies off the GPUs, and uploads beyond the next save."""
    problem, column, (pools, row) = chosen.problem, chosen.column, chosen.rows[0]
    state, steps = float(problem.checkpoint.state_gb(chosen.variant_number)), int(column.interval_steps[0])
    between = steps * float(column.step_seconds[0])
    off = state / (problem.operations.checkpoint_snapshot_gb_s_per_gpu * int(pools.gpus[row]))
    speed = float(problem.tiers.gb_s_per_node[column.zone[0], column.tier[0]])
    share = float(np.reshape(size_share(problem, column.recovery), -1)[0])
    offer = pools.offer[column.train]
    work = float(np.reshape(hours_per_gb(problem, offer, column.nodes, column.recovery), -1)[0]) * SECONDS_PER_HOUR
    upload = state * share / (speed * int(column.nodes[0])) + state * work
    saves = float(column.steps[0]) / steps
    return saves * (off + max(upload - between, 0.0)) / SECONDS_PER_HOUR


def step_at(chosen: ChosenColumn, estimates: Estimates) -> float:
    """Seconds of one step with the pools as ``estimates`` take them."""
    placement, variant, problem = chosen.placement.code, chosen.variant, chosen.problem
    first, *others = replace(chosen, problem=replace(problem, estimates=estimates)).pools()
    seconds: dict[str, float] = {}
    for one in (first, *others):
        kind = one.name.split("-")[0]  # the two offers of a mixed pool work side by side
        spent = sum(stage.seconds for stage in one.detail.stages if stage.stage != StageKind.ENVIRONMENT)
        seconds[kind] = max(seconds.get(kind, 0.0), spent)
    train = seconds[first.name]
    if variant.cpu is not None:
        train += problem.pace * variant.cpu.seconds(variant.workload, chosen.group_size)
    beside = [part for kind, part in seconds.items() if kind != first.name]
    sample = sum(beside)
    if placement == ASYNC and len(beside) > 1:
        sample = max(beside) + problem.exposed_share * min(beside)
    return float(compose(placement, np.array([train]), np.array([sample]), problem, chosen.column.variant)[0])
