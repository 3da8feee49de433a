"""Joint columns: pools, an interval and a tier put together, with exact hours.

step      = train + sample + overheads                       colocated, disaggregated
= max(train, sample) + exposed · min(...) + overheads     asynchronous
  on average over the run, where lengths change
useful    = steps · step
clean     = start-up + once + useful · (1 + save / interval)
expected  = start-up + (once + useful · (1 + save / interval) + collapses · (rollback + restart + read))
            / (1 - stops per hour · (restart + read + interval / 2) - waits for machines - lost rollout machines)
rollback  = half of what lies between two history copies (between two saves where none are kept), saves included
confident = the same at the confidence quantile, every step `limits.robust.time` times as long,
            · (1 + pilots before the deadline) + wait from the request on
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.checkpoint_compression import hours_per_gb, possible, size_share
from rlopt.columns.interruptions import lost_share, stops, waiting_share
from rlopt.columns.lead_time import pilot_runs, wait_hours, within_deadline
from rlopt.columns.overheads import late_overheads
from rlopt.columns.spare_nodes import per_node, spares, spares_stand
from rlopt.estimates import expected_hours as with_stops
from rlopt.estimates import working_hours
from rlopt.pools.run_points import composed
from rlopt.problem import UNSCORED, Columns, Floats, Ints, Pools, Problem, SidePools
from rlopt.table import groups
from rlopt.units import SECONDS_PER_HOUR
from rlopt.words import ASYNC, COLOCATED

NO_PROGRESS = "makes no progress: stops come faster than work"


def run_hours(
    problem: Problem,
    step_seconds: Floats,
    steps: Ints,
    interval: Ints,
    failures_per_hour: Floats,
    upload_hours: Floats,
    snapshot_hours: Floats,
    read_hours: Floats,
    once_hours: Floats | float = 0.0,
    lost_share: Floats | float = 0.0,
    divergences: float = 0.0,
) -> tuple[Floats, Floats]:
    """Clean and expected hours of one run, shape of the inputs; NaN where the run would not make progress.

    Young (1974), Daly (2006): every stop loses half an interval, the restart and the read. ``lost_share`` is what
    else is lost of each hour. A collapse goes back to the last history copy.
    """
    operations = problem.operations
    interval_hours = interval * step_seconds / SECONDS_PER_HOUR
    save = snapshot_hours + np.maximum(upload_hours - interval_hours, 0.0)
    useful = steps * step_seconds / SECONDS_PER_HOUR
    working = working_hours(useful, interval_hours, save) + once_hours
    restart, redo = operations.restart_minutes / 60.0 + read_hours, 0.0 * read_hours
    if divergences:
        apart = problem.request.floors.checkpoints.history_every or interval
        back = np.minimum(apart, steps) / 2.0 * step_seconds / SECONDS_PER_HOUR
        redo = divergences * (working_hours(back, interval_hours, save) + restart)
    expected = with_stops(working + redo, failures_per_hour, interval_hours, restart, lost_share)
    return operations.overhead_hours + working, operations.overhead_hours + expected


def join(
    problem: Problem,
    placement: int,
    train: Ints,
    support: SidePools | None,
    interval: Ints,
    tier: Ints,
    recovery: Ints | None = None,
) -> Columns:
    """Columns of one placement, row by row; shape (columns,). ``support`` is None where one pool does it all.

    ``recovery`` is each column's way to keep the run alive; the first one where it is left out.
    """
    first = (problem.colocated if placement == COLOCATED else problem.training).take(train)
    size = len(first)
    beside = SidePools.none(size) if support is None else support
    sample = beside.times.at(placement)
    ways = np.zeros(size, dtype=np.int64) if recovery is None else np.asarray(recovery, dtype=np.int64)
    events = stops(problem, first, beside)
    failures = events.per_hour
    step = composed(placement, first, beside, problem, confident=False)
    late_problem = late_overheads(problem)
    confident_step = composed(placement, first, beside, late_problem, confident=True)
    steps = problem.steps(first.variant, first.group_size)
    speed, restore = problem.tiers.gb_s_per_node, problem.tiers.restore_hours
    state_gb = problem.checkpoint.state_gb(first.variant)
    sent = state_gb * size_share(problem, ways) / (speed[first.zone, tier] * first.nodes) / SECONDS_PER_HOUR
    read = restore[first.zone, tier] + sent + state_gb * hours_per_gb(problem, first.offer, first.nodes, ways)
    upload = read - restore[first.zone, tier]
    gpu_rate = problem.operations.checkpoint_snapshot_gb_s_per_gpu * first.gpus
    snapshot = np.asarray(state_gb / gpu_rate / SECONDS_PER_HOUR, dtype=np.float64)
    once, late = (seconds / SECONDS_PER_HOUR for seconds in first.once.both)
    waited = waiting_share(problem, first, failures, ways)
    lost = waited + lost_share(
        problem, placement, beside, first.times.in_step.median, sample.median, ways, first.variant
    )
    late_lost = waited + lost_share(
        late_problem, placement, beside, first.times.in_step.confident, sample.confident, ways, first.variant
    )
    collapses, saves = problem.request.job.divergences, (upload, snapshot, read)
    clean, expected = run_hours(problem, step, steps, interval, failures, *saves, once, lost, collapses)
    confident = run_hours(problem, confident_step, steps, interval, failures, *saves, late, late_lost, collapses)[1]
    steady = run_hours(problem, step, steps, interval, failures, *saves, once, lost)[1] if collapses else expected
    wait, spare = wait_hours(problem, first, beside), spares(problem, ways)
    control = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])[first.zone]
    used = expected * (problem.request.billed_runs + pilot_runs(problem))
    committed_rate, committed = _committed(problem, first, beside, used, 1.0 + spare / first.nodes)
    return Columns(
        placement=np.full(size, placement, dtype=np.int64),
        zone=first.zone,
        variant=first.variant,
        train=np.asarray(train, dtype=np.int64),
        rollout=beside.rollout,
        rollout2=beside.rollout2,
        score=beside.score,
        score2=beside.score2,
        split=beside.shares(placement)[0],
        score_split=beside.score_split,
        environment=first.environment if support is None else beside.environment,
        group_size=first.group_size,
        steps=steps,
        update_precision=first.update_precision,
        score_precision=np.minimum(first.score_precision, _scored(problem, beside)),
        staleness=np.full(size, problem.staleness if placement == ASYNC else 0, dtype=np.int64),
        interval_steps=np.asarray(interval, dtype=np.int64),
        tier=np.asarray(tier, dtype=np.int64),
        recovery=ways,
        gpus=first.gpus + beside.gpus + spare * per_node(first.gpus, first),
        spare_gpus=spare * per_node(first.gpus, first),
        spot_gpus=np.where(first.spot, first.gpus, 0) + beside.spot_gpus,
        nodes=first.nodes,
        usd_per_hour=first.usd_per_hour + beside.usd_per_hour + spare * (first.usd_per_hour / first.nodes),
        spare_usd_per_hour=spare * (first.usd_per_hour / first.nodes),
        committed_usd_per_hour=committed_rate,
        committed_usd=committed,
        cpu_usd_per_hour=control
        + first.environment_usd_per_hour
        + beside.environment_usd_per_hour
        + first.load_usd_per_hour,
        mount_usd_per_hour=first.mount_usd_per_hour,
        disk_gb=first.disk_gb + beside.disk_gb + first.load_disk_gb + spare * (first.disk_gb / first.nodes),
        mixed_share=beside.shares(placement)[1],
        once_hours=once,
        step_seconds=step,
        failure_free_hours=clean,
        expected_hours=expected,
        confident_hours=within_deadline(problem, np.maximum(confident, expected), wait),
        failures_per_hour=failures,
        lost_per_hour=events.lost_per_hour,
        faults_per_hour=events.faults_per_hour,
        divergence_hours=expected - steady,
        wait_hours=wait,
        recovery_minutes=read * 60.0,
        usd=np.full(size, np.nan),
    )


def parts_of(problem: Problem, support: SidePools) -> list[tuple[Pools, Ints]]:
    """The tables that a support's pools stand in, with their row numbers; -1 where a row has no such pool."""
    return [
        (problem.rollout, support.rollout),
        (problem.rollout, support.rollout2),
        (problem.scoring, support.score),
        (problem.scoring, support.score2),
    ]


def pool_rows(columns: Columns, j: int, problem: Problem) -> list[tuple[Pools, int]]:
    """The pools of one column, training first: table and row number."""
    first = problem.colocated if columns.placement[j] == COLOCATED else problem.training
    found = [(first, int(columns.train[j]))]
    for pools, index in (
        (problem.rollout, columns.rollout),
        (problem.rollout, columns.rollout2),
        (problem.scoring, columns.score),
        (problem.scoring, columns.score2),
    ):
        if index[j] >= 0:
            found.append((pools, int(index[j])))
    return found


def _scored(problem: Problem, beside: SidePools) -> Ints:
    """Rank of the least precision that the pools beside training score in, shape (rows,); a mix shares one."""
    rank = np.full(len(beside), UNSCORED, dtype=np.int64)
    for pools, index in ((problem.rollout, beside.rollout), (problem.scoring, beside.score)):
        here = np.flatnonzero(index >= 0)
        rank[here] = np.minimum(rank[here], pools.score_precision[index[here]])
    return rank


def _committed(
    problem: Problem, first: Pools, beside: SidePools, hours: Floats, with_spares: Floats
) -> tuple[Floats, Floats]:
    """USD per hour of reserved pools, and what they bill over ``hours`` in whole terms.

    ``with_spares``: nodes of the first pool and its spares over its nodes.
    """
    rate, billed = np.zeros(len(first)), np.zeros(len(first))
    if not np.any(problem.market.term_hours):
        return rate, billed
    everything = [(first, np.arange(len(first))), *parts_of(problem, beside)]
    for pools, index in everything:
        here = np.flatnonzero(index >= 0)
        term, usd = pools.term_hours[index[here]], pools.usd_per_hour[index[here]]
        usd = usd * with_spares[here] if pools is first else usd
        reserved = term > 0.0
        here, term, usd = here[reserved], term[reserved], usd[reserved]
        whole = np.ceil(np.maximum(hours[here], 1e-9) / term * (1.0 - 1e-12))
        rate[here] += usd
        billed[here] += usd * term * np.maximum(whole, 1.0)
    return rate, billed


def options(
    problem: Problem,
    placement: int,
    train: Ints,
    support: SidePools | None,
    allowed: NDArray[np.bool_] | None = None,
    left_out: Counter[str] | None = None,
) -> Columns:
    """Every checkpoint interval, tier and care of the given pools, those that make no progress left out.

    ``allowed`` of shape (zones, tiers) leaves tiers out that some rule excludes whatever the pools. Columns without
    progress are counted in ``left_out``.
    """
    pools = problem.colocated if placement == COLOCATED else problem.training
    rows: list[NDArray[np.int64]] = []
    tiers = np.array([len(tariff.tiers) for tariff in problem.tariffs], dtype=np.int64)[pools.zone[train]]
    for kind, here in groups(pools.variant[train], pools.group_size[train]).items():
        intervals = np.array(problem.intervals[kind], dtype=np.int64)
        pair = np.repeat(here, tiers[here])
        tier = np.arange(len(pair)) - np.repeat(np.cumsum(tiers[here]) - tiers[here], tiers[here])
        count = len(intervals)
        rows.append(np.stack([np.repeat(pair, count), np.tile(intervals, len(pair)), np.repeat(tier, count)], axis=1))
    table = np.concatenate(rows) if rows else np.zeros((0, 3), dtype=np.int64)
    if allowed is not None:
        table = table[allowed[pools.zone[train[table[:, 0]]], table[:, 2]]]
    recovery_options = len(problem.recovery_options)
    recovery = np.tile(np.arange(recovery_options), len(table))
    table = np.repeat(table, recovery_options, axis=0)
    able = possible(problem, pools.offer[train[table[:, 0]]], recovery)
    table, recovery = table[able], recovery[able]
    pair = table[:, 0]
    beside = None if support is None else support.take(pair)
    columns = join(problem, placement, train[pair], beside, table[:, 1], table[:, 2], recovery)
    advances = np.isfinite(columns.expected_hours) & np.isfinite(columns.confident_hours)
    if left_out is not None and not advances.all():
        left_out[NO_PROGRESS] += int((~advances).sum())
    return columns.take(advances & spares_stand(columns, problem))
