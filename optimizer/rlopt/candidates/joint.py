"""Joint columns: two pools (or one), an interval and a tier put together, with exact hours.

step      = train + sample + overheads                       colocated, disaggregated
= max(train, sample) + exposed · min(...) + overheads     asynchronous
useful    = steps · step
clean     = start-up + useful · (1 + save / interval)
expected  = start-up + useful · (1 + save / interval) / (1 - stops per hour · (restart + read + interval / 2))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates import expected_hours as with_stops
from rlopt.estimates import step_seconds, working_hours
from rlopt.problem import ASYNC, COLOCATED, Columns, Floats, Ints, Problem
from rlopt.units import SECONDS_PER_HOUR, bytes_to_gb


def compose(placement: int, train: Floats, sample: Floats, problem: Problem) -> Floats:
    """Seconds of one step from the pools' own seconds, for one placement; a colocated pool's own are all of them."""
    second = np.zeros(()) if placement == COLOCATED else sample
    overhead = problem.sync_seconds[placement]
    return step_seconds(train, second, overhead, placement == ASYNC, problem.exposed_share)


def run_hours(
    problem: Problem,
    step_seconds: Floats,
    steps: Ints,
    interval: Ints,
    failures_per_hour: Floats,
    upload_hours: Floats,
    snapshot_hours: Floats,
    read_hours: Floats,
) -> tuple[Floats, Floats]:
    """Clean and expected hours of one run, shape of the inputs; NaN where the run would not make progress.

    Young (1974), Daly (2006): every stop loses half an interval, the restart and the read.
    """
    operations = problem.operations
    interval_hours = interval * step_seconds / SECONDS_PER_HOUR
    save = snapshot_hours + np.maximum(upload_hours - interval_hours, 0.0)
    useful = steps * step_seconds / SECONDS_PER_HOUR
    working = working_hours(useful, interval_hours, save)
    expected = with_stops(working, failures_per_hour, interval_hours, operations.restart_minutes / 60.0 + read_hours)
    return operations.overhead_hours + working, operations.overhead_hours + expected


def join(problem: Problem, placement: int, train: Ints, rollout: Ints, interval: Ints, tier: Ints) -> Columns:
    """Columns of one placement. All index arrays have shape (columns,); ``rollout`` is ignored when colocated."""
    first = (problem.colocated if placement == COLOCATED else problem.training).take(train)
    size = len(first)
    if placement == COLOCATED:
        rollout = np.full(size, -1, dtype=np.int64)
        sample = confident_sample = np.zeros(size)
        gpus, spot = first.gpus, np.where(first.spot, first.gpus, 0)
        usd, failures = first.usd_per_hour, first.failures_per_hour
    else:
        second = problem.rollout.take(rollout)
        sample, confident_sample = second.times(placement)
        gpus = first.gpus + second.gpus
        spot = np.where(first.spot, first.gpus, 0) + np.where(second.spot, second.gpus, 0)
        usd = first.usd_per_hour + second.usd_per_hour
        failures = first.failures_per_hour + second.failures_per_hour
    step = compose(placement, first.seconds, sample, problem)
    confident_step = compose(placement, first.confident_seconds, confident_sample, problem)
    steps = np.array(
        [problem.workload.steps.get(int(k), 0) for k in range(int(first.group_size.max(initial=1)) + 1)], dtype=np.int64
    )[first.group_size]
    speed, restore = problem.tiers.gb_s_per_node, problem.tiers.restore_hours
    state_gb = bytes_to_gb(problem.checkpoint.resumable_bytes)
    read = restore[first.zone, tier] + state_gb / (speed[first.zone, tier] * first.nodes) / SECONDS_PER_HOUR
    upload = read - restore[first.zone, tier]
    gpu_rate = problem.operations.checkpoint_snapshot_gb_s_per_gpu * first.gpus
    snapshot = np.asarray(state_gb / gpu_rate / SECONDS_PER_HOUR, dtype=np.float64)
    clean, expected = run_hours(problem, step, steps, interval, failures, upload, snapshot, read)
    confident = run_hours(problem, confident_step, steps, interval, failures, upload, snapshot, read)[1]
    cpu = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])[first.zone]
    return Columns(
        placement=np.full(size, placement, dtype=np.int64),
        zone=first.zone,
        train=np.asarray(train, dtype=np.int64),
        rollout=np.asarray(rollout, dtype=np.int64),
        group_size=first.group_size,
        steps=steps,
        update_precision=first.update_precision,
        staleness=np.full(size, problem.staleness if placement == ASYNC else 0, dtype=np.int64),
        interval_steps=np.asarray(interval, dtype=np.int64),
        tier=np.asarray(tier, dtype=np.int64),
        gpus=gpus,
        spot_gpus=spot,
        nodes=first.nodes,
        usd_per_hour=usd,
        cpu_usd_per_hour=cpu,
        step_seconds=step,
        failure_free_hours=clean,
        expected_hours=expected,
        confident_hours=np.maximum(confident, expected),
        failures_per_hour=failures,
        recovery_minutes=read * 60.0,
        usd=np.full(size, np.nan),
    )


def options(
    problem: Problem, placement: int, train: Ints, rollout: Ints, allowed: NDArray[np.bool_] | None = None
) -> Columns:
    """Every checkpoint interval and tier of the given pool pairs, those that make no progress left out.

    ``allowed`` of shape (zones, tiers) leaves tiers out that some rule excludes whatever the pools.
    """
    pools = problem.colocated if placement == COLOCATED else problem.training
    rows: list[NDArray[np.int64]] = []
    tiers = np.array([len(tariff.tiers) for tariff in problem.tariffs], dtype=np.int64)[pools.zone[train]]
    sizes = pools.group_size[train]
    for size in np.unique(sizes):
        here = np.flatnonzero(sizes == size)
        intervals = np.array(problem.intervals[int(size)], dtype=np.int64)
        pair = np.repeat(here, tiers[here])
        tier = np.arange(len(pair)) - np.repeat(np.cumsum(tiers[here]) - tiers[here], tiers[here])
        count = len(intervals)
        rows.append(np.stack([np.repeat(pair, count), np.tile(intervals, len(pair)), np.repeat(tier, count)], axis=1))
    if not rows:
        return join(problem, placement, *(np.zeros(0, dtype=np.int64) for _ in range(4)))
    table = np.concatenate(rows)
    if allowed is not None:
        table = table[allowed[pools.zone[train[table[:, 0]]], table[:, 2]]]
    columns = join(problem, placement, train[table[:, 0]], rollout[table[:, 0]], table[:, 1], table[:, 2])
    return columns.take(np.isfinite(columns.expected_hours) & np.isfinite(columns.confident_hours))
