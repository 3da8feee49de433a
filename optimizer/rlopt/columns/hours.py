"""Hours of a run: what it does, what saves add, what interruptions take, and what comes before it.

useful    = steps · step
clean     = start-up + once + useful · (1 + save / interval)
expected  = start-up + (once + useful · (1 + save / interval) + collapses · (rollback + restart + read))
            / (1 - interruptions per hour · (restart + read + interval / 2) - what else is lost of each hour)
rollback  = half of what lies between two history copies (between two saves where none are kept), saves included
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.columns.checkpoint_compression import hours_per_gb, size_share
from rlopt.columns.side_pools import every_pool
from rlopt.estimates import expected_hours as interrupted_hours
from rlopt.estimates import working_hours
from rlopt.problem import Floats, Ints, Pools, Problem, SidePools
from rlopt.table import Table
from rlopt.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class Checkpointing(Table):
    """How a run is saved and kept alive, shape (columns,)."""

    interval_steps: Ints
    tier: Ints
    recovery: Ints
    """Number of the way to keep it alive, in `Problem.recovery_options`."""

    @staticmethod
    def first(interval_steps: Ints) -> Checkpointing:
        """To the first tier, and with the first way to keep a run alive."""
        none = np.zeros(len(interval_steps), dtype=np.int64)
        return Checkpointing(np.asarray(interval_steps, dtype=np.int64), none, none)


@dataclass(frozen=True, slots=True)
class Saves(Table):
    """Hours of one checkpoint, shape (columns,)."""

    snapshot: Floats
    """The run stands still while the state is copied off the GPUs."""
    upload: Floats
    """Beside the steps, as far as the interval lasts."""
    read: Floats

    @staticmethod
    def of(problem: Problem, first: Pools, checkpointing: Checkpointing) -> Saves:
        """Those of the pools that train."""
        tier, recovery = checkpointing.tier, checkpointing.recovery
        restore = problem.tiers.restore_hours[first.zone, tier]
        state_gb = problem.checkpoint.state_gb(first.variant)
        gb_s = problem.tiers.gb_s_per_node[first.zone, tier] * first.nodes
        sent = state_gb * size_share(problem, recovery) / gb_s / SECONDS_PER_HOUR
        read = restore + sent + state_gb * hours_per_gb(problem, first.offer, first.nodes, recovery)
        copied = problem.operations.checkpoint_snapshot_gb_s_per_gpu * first.gpus
        return Saves(np.asarray(state_gb / copied / SECONDS_PER_HOUR, dtype=np.float64), read - restore, read)


@dataclass(frozen=True, slots=True)
class CleanRun(Table):
    """What a run does where nothing fails, shape (columns,)."""

    step_seconds: Floats
    steps: Ints
    interval_steps: Ints
    once_hours: Floats
    """Before the first step."""


@dataclass(frozen=True, slots=True)
class Losses(Table):
    """What a run loses, shape (columns,)."""

    interruptions_per_hour: Floats
    share: Floats | float
    """What else is lost of each hour."""


def run_hours(
    problem: Problem, work: CleanRun, saves: Saves, losses: Losses, divergences: float = 0.0
) -> tuple[Floats, Floats]:
    """Clean and expected hours of one run, shape of the inputs; NaN where the run would not make progress.

    Young (1974), Daly (2006): every stop loses half an interval, the restart and the read. A collapse (one of
    ``divergences``) goes back to the last history copy.
    """
    operations, step_seconds = problem.operations, work.step_seconds
    interval_hours = work.interval_steps * step_seconds / SECONDS_PER_HOUR
    save = saves.snapshot + np.maximum(saves.upload - interval_hours, 0.0)
    useful = work.steps * step_seconds / SECONDS_PER_HOUR
    working = working_hours(useful, interval_hours, save) + work.once_hours
    restart, redo = operations.restart_minutes / 60.0 + saves.read, 0.0 * saves.read
    if divergences:
        apart = problem.request.floors.checkpoints.history_every or work.interval_steps
        back = np.minimum(apart, work.steps) / 2.0 * step_seconds / SECONDS_PER_HOUR
        redo = divergences * (working_hours(back, interval_hours, save) + restart)
    expected = interrupted_hours(working + redo, losses.interruptions_per_hour, interval_hours, restart, losses.share)
    return operations.overhead_hours + working, operations.overhead_hours + expected


def pilot_runs(problem: Problem) -> float:
    """Length of all pilots together, in runs of the job."""
    pilots = problem.request.job.pilots
    return 0.0 if pilots is None else pilots.runs * pilots.share


def within_deadline(problem: Problem, hours: Floats, wait: Floats | float) -> Floats:
    """Hours that the deadline is held against, from those of a run and of the wait for its machines."""
    pilots = problem.request.job.pilots
    if pilots is not None and pilots.before_deadline:
        hours = hours * (1.0 + pilot_runs(problem))
    return hours + wait if problem.request.limits.deadline_from == "request" else hours


def wait_hours(problem: Problem, first: Pools, side: SidePools) -> Floats:
    """Longest wait of any pool with GPUs, shape (columns,): a run starts when all its machines are there."""
    if problem.wait_hours is None:
        return np.zeros(len(first))
    return np.maximum(problem.wait_hours[first.offer], side_wait_hours(problem, side))


def side_wait_hours(problem: Problem, side: SidePools) -> Floats:
    """The same of the pools beside the training pool alone, shape (rows,)."""
    found = np.zeros(len(side))
    if problem.wait_hours is None:
        return found
    for here, pools, rows in every_pool(problem, side):
        found[here] = np.maximum(found[here], problem.wait_hours[pools.offer[rows]])
    return found
