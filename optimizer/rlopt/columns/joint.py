"""Joint columns: pools, an interval and a tier put together, with exact hours.

step      = train + sample + overheads                       colocated, disaggregated
          = max(train, sample) + exposed · min(...) + overheads     asynchronous
  on average over the run, where lengths change
confident = the hours of a run (`columns.hours`) at the confidence quantile, every step `limits.robust.time` times as
            long, · (1 + pilots before the deadline) + wait from the request on
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.checkpoint_compression import possible
from rlopt.columns.hours import (
    Checkpointing,
    CleanRun,
    Losses,
    Saves,
    pilot_runs,
    run_hours,
    wait_hours,
    within_deadline,
)
from rlopt.columns.interruptions import (
    Interruptions,
    interruptions,
    lost_share,
    spare_nodes,
    spares_stand,
    waiting_share,
)
from rlopt.columns.side_pools import parts_of
from rlopt.pools.run_points import composed
from rlopt.problem import UNSCORED, Columns, Floats, Ints, Pools, Problem, SidePools
from rlopt.table import groups
from rlopt.units import SECONDS_PER_HOUR
from rlopt.words import ASYNC, COLOCATED

NO_PROGRESS = "makes no progress: stops come faster than work"


def join(
    problem: Problem, placement: int, train: Ints, side: SidePools | None, checkpointing: Checkpointing
) -> Columns:
    """Columns of one placement, row by row; shape (columns,). ``side`` is None where one pool does it all."""
    first = (problem.colocated if placement == COLOCATED else problem.training).take(train)
    size, alone = len(first), side is None
    side = SidePools.none(size) if side is None else side
    recovery = checkpointing.recovery
    events, spare = interruptions(problem, first, side), spare_nodes(problem, recovery)
    saves = Saves.of(problem, first, checkpointing)
    hours = _hours(problem, placement, first, side, checkpointing, saves, events)
    control = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])[first.zone]
    used = hours["expected_hours"] * (problem.request.billed_runs + pilot_runs(problem))
    committed_rate, committed = _committed(problem, first, side, used, 1.0 + spare / first.nodes)
    spare_gpus = spare * np.asarray(first.gpus // first.nodes, dtype=np.int64)
    split, mixed_share = side.shares(placement)
    return Columns(
        placement=np.full(size, placement, dtype=np.int64),
        zone=first.zone,
        variant=first.variant,
        train=np.asarray(train, dtype=np.int64),
        rollout=side.rollout,
        rollout2=side.rollout2,
        score=side.score,
        score2=side.score2,
        split=split,
        score_split=side.score_split,
        environment=first.environment if alone else side.environment,
        group_size=first.group_size,
        update_precision=first.update_precision,
        score_precision=np.minimum(first.score_precision, _scored(problem, side)),
        staleness=np.full(size, problem.staleness if placement == ASYNC else 0, dtype=np.int64),
        interval_steps=checkpointing.interval_steps,
        tier=checkpointing.tier,
        recovery=recovery,
        gpus=first.gpus + side.gpus + spare_gpus,
        spare_gpus=spare_gpus,
        spot_gpus=np.where(first.spot, first.gpus, 0) + side.spot_gpus,
        nodes=first.nodes,
        usd_per_hour=first.usd_per_hour + side.usd_per_hour + spare * (first.usd_per_hour / first.nodes),
        spare_usd_per_hour=spare * (first.usd_per_hour / first.nodes),
        committed_usd_per_hour=committed_rate,
        committed_usd=committed,
        cpu_usd_per_hour=control
        + first.environment_usd_per_hour
        + side.environment_usd_per_hour
        + first.load_usd_per_hour,
        mount_usd_per_hour=first.mount_usd_per_hour,
        disk_gb=first.disk_gb + side.disk_gb + first.load_disk_gb + spare * (first.disk_gb / first.nodes),
        mixed_share=mixed_share,
        failures_per_hour=events.per_hour,
        lost_per_hour=events.lost_per_hour,
        faults_per_hour=events.faults_per_hour,
        recovery_minutes=saves.read * 60.0,
        usd=np.full(size, np.nan),
        **hours,
    )


def _hours(
    problem: Problem,
    placement: int,
    first: Pools,
    side: SidePools,
    checkpointing: Checkpointing,
    saves: Saves,
    events: Interruptions,
) -> dict[str, Any]:
    """The fields of `Columns` that say how long a run takes."""
    steps, collapses = problem.steps(first.variant, first.group_size), problem.request.job.divergences
    waited = waiting_share(problem, first, events.per_hour, checkpointing.recovery)
    wait = wait_hours(problem, first, side)

    def run(confident: bool) -> tuple[CleanRun, Losses]:
        """What a run does and loses, by median seconds or by confident ones, which include the worst case already."""
        there = problem.with_slower_overheads(problem.request.limits.robust.time) if confident else problem
        step = composed(placement, first, side, there, confident)
        once = first.once.both[confident] / SECONDS_PER_HOUR
        lost = waited + lost_share(there, placement, first, side, checkpointing.recovery, confident)
        return CleanRun(step, steps, checkpointing.interval_steps, once), Losses(events.per_hour, lost)

    work, losses = run(confident=False)
    clean, expected = run_hours(problem, work, saves, losses, collapses)
    confident_work, confident_losses = run(confident=True)
    confident = run_hours(problem, confident_work, saves, confident_losses, collapses)[1]
    stable = run_hours(problem, work, saves, losses)[1] if collapses else expected
    return {
        "steps": steps,
        "once_hours": work.once_hours,
        "step_seconds": work.step_seconds,
        "failure_free_hours": clean,
        "expected_hours": expected,
        "confident_hours": within_deadline(problem, np.maximum(confident, expected), wait),
        "divergence_hours": expected - stable,
        "wait_hours": wait,
    }


def pool_rows(columns: Columns, j: int, problem: Problem) -> list[tuple[Pools, int]]:
    """The pools of one column, training first: table and row number."""
    first = problem.colocated if columns.placement[j] == COLOCATED else problem.training
    sides = [(pools, int(index[j])) for pools, index in parts_of(problem, columns)]
    return [(first, int(columns.train[j])), *((pools, row) for pools, row in sides if row >= 0)]


def _scored(problem: Problem, side: SidePools) -> Ints:
    """Rank of the least precision that the pools beside training score in, shape (rows,); a mix shares one."""
    rank = np.full(len(side), UNSCORED, dtype=np.int64)
    for pools, index in ((problem.rollout, side.rollout), (problem.scoring, side.score)):
        here = np.flatnonzero(index >= 0)
        rank[here] = np.minimum(rank[here], pools.score_precision[index[here]])
    return rank


def _committed(
    problem: Problem, first: Pools, side: SidePools, hours: Floats, with_spares: Floats
) -> tuple[Floats, Floats]:
    """USD per hour of reserved pools, and what they bill over ``hours`` in whole terms.

    ``with_spares``: nodes of the first pool and its spares over its nodes.
    """
    rate, billed = np.zeros(len(first)), np.zeros(len(first))
    if not np.any(problem.market.term_hours):
        return rate, billed
    everything = [(first, np.arange(len(first))), *parts_of(problem, side)]
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
    side: SidePools | None,
    allowed: NDArray[np.bool_] | None = None,
    left_out: Counter[str] | None = None,
) -> Columns:
    """Every checkpoint interval, tier and recovery of the given pools, those that make no progress left out.

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
    side = None if side is None else side.take(pair)
    columns = join(problem, placement, train[pair], side, Checkpointing(table[:, 1], table[:, 2], recovery))
    advances = np.isfinite(columns.expected_hours) & np.isfinite(columns.confident_hours)
    if left_out is not None and not advances.all():
        left_out[NO_PROGRESS] += int((~advances).sum())
    return columns.take(advances & spares_stand(columns, problem))
