"""A problem whose steps take longer, or come out at another quantile, and joint columns put together anew in it.

Everything that a step is made of scales: stages, loading of samples, transfer of weights. Start-up, restarts,
checkpoint saves and reads, and waits do not. The same factor holds for every pool, so layouts, splits of mixed pools
and ways to load keep their order, and a search of the slower problem is exact. What is done before the job keeps the
bill that it has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join
from rlopt.columns.side_pools import alone, mixed, with_scoring
from rlopt.problem import Columns, Floats, Growth, Ints, Mix, Pools, Problem, Seconds, SidePools, Times
from rlopt.problem.detail import Estimates, PoolDetail
from rlopt.request.limits import Robust
from rlopt.table import groups, put_back
from rlopt.words import COLOCATED, PoolRole


@dataclass(frozen=True, slots=True)
class Pace:
    """How a problem's median and confident seconds become others.

    ``factor`` scales both. With ``power`` both become ``median · (confident / median)^power``: as stage errors are
    log-normal and fully correlated, the quantile z / z(confidence) = power. ``robust`` is what confident seconds
    include of a worst case, and is taken out. ``ratio`` stands in for confident / median where that is 1 by request.
    """

    factor: float = 1.0
    power: float | None = None
    robust: float = 1.0
    ratio: float | None = None

    def of(self, seconds: Seconds) -> Seconds:
        """Seconds at this pace."""
        scaled = self.factor * seconds.median
        if self.power is None:
            return Seconds(scaled, self.factor / self.robust * seconds.confident)
        positive = np.where(seconds.median > 0.0, seconds.median, 1.0)
        ratio: Floats | float = (
            np.where(seconds.median > 0.0, seconds.confident / positive / self.robust, 1.0)
            if self.ratio is None
            else self.ratio
        )
        at = np.asarray(scaled * ratio**self.power)
        return Seconds(at, at)

    def of_times(self, times: Times) -> Times:
        """Times of a step at this pace."""
        growth = times.growth
        if growth is not None:
            in_step = self.of(Seconds(growth.in_step, growth.in_step)).median
            growth = Growth(in_step, self.of(growth.asynchronous))
        return Times(self.of(times.in_step), self.of(times.asynchronous), growth)

    def of_pools(self, pools: Pools) -> Pools:
        """The pools at this pace; what loads beside a step keeps its share of it."""
        times, before = self.of_times(pools.times), pools.times.in_step.median
        share = times.in_step.median / np.where(before > 0.0, before, 1.0)
        return replace(
            pools,
            times=times,
            once=self.of(pools.once),
            load_seconds=pools.load_seconds * share,
            stall_seconds=pools.stall_seconds * share,
        )


@dataclass(frozen=True, slots=True)
class PacedEstimates:
    """Estimates of another problem at a pace."""

    estimates: Estimates
    pace: Pace

    @property
    def ends(self) -> tuple[Estimates, ...]:
        """The estimates of the first and of the last step."""
        return tuple(replace(self, estimates=one) for one in self.estimates.ends)

    def _mixed(self, mix: Mix) -> Mix:
        return replace(mix, times=self.pace.of_times(mix.times))

    def _detail(self, found: PoolDetail) -> PoolDetail:
        factor = self.pace.factor
        stages = tuple(replace(stage, seconds=stage.seconds * factor) for stage in found.stages)
        return replace(found, stages=stages, spared_seconds=found.spared_seconds * factor)

    def training_detail(self, row: int) -> PoolDetail:
        """A training pool of a disaggregated placement."""
        return self._detail(self.estimates.training_detail(row))

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        """A rollout pool that takes ``share`` of the samples."""
        return self._detail(self.estimates.rollout_detail(row, asynchronous, share))

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        """A pool that only scores, ``share`` of the samples."""
        return self._detail(self.estimates.scoring_detail(row, share))

    def colocated_detail(self, row: int) -> PoolDetail:
        """A pool that trains and samples in turn."""
        return self._detail(self.estimates.colocated_detail(row))

    def mixed(self, first: Ints, second: Ints) -> Mix:
        """Rollout pools of two estimates each, shape (pairs,)."""
        return self._mixed(self.estimates.mixed(first, second))

    def mixed_bound(self, first: Ints, second: Ints) -> Mix:
        """Never more than `mixed` says, and quick."""
        return self._mixed(self.estimates.mixed_bound(first, second))

    def mixed_least(self, estimate: Ints) -> Mix:
        """Seconds that a rollout pool of a mix takes whatever its share of the samples."""
        return self._mixed(self.estimates.mixed_least(estimate))


def paced(problem: Problem, pace: Pace) -> Problem:
    """The problem at a pace, its worst case left out: what is slower already needs none on top."""
    pace = replace(pace, robust=problem.request.limits.robust.time)
    bare = problem.bare and (pace.of_pools(problem.bare[0]), pace.of_pools(problem.bare[1]))
    return replace(
        problem.with_slower_overheads(pace.factor),
        request=problem.request.replaced("limits.robust", Robust()),
        training=pace.of_pools(problem.training),
        rollout=pace.of_pools(problem.rollout),
        scoring=pace.of_pools(problem.scoring),
        colocated=pace.of_pools(problem.colocated),
        bare=bare,
        pace=problem.pace * pace.factor,
        estimates=PacedEstimates(problem.estimates, pace),
    )


def slower(problem: Problem, factor: float) -> Problem:
    """The problem with every step ``factor`` times as long, and no worst case on top."""
    return paced(problem, Pace(factor))


def again(problem: Problem, columns: Columns) -> Columns:
    """The same pools, interval, tier and recovery put together in ``problem``; shape (columns,), without a cost.

    ``problem`` is the columns' own at another pace: row numbers are the same.
    """
    parts: list[tuple[Ints, Columns]] = []
    for (placement,), here in groups(columns.placement).items():
        part = columns.take(here)
        side = None if placement == COLOCATED else side_pools_of(problem, part)
        checkpointing = Checkpointing(part.interval_steps, part.tier, part.recovery)
        parts.append((here, join(problem, placement, part.train, side, checkpointing)))
    return put_back(parts) if parts else columns


def as_predicted(problem: Problem, columns: Columns) -> float:
    """Confident hours of one column's run without the worst case that the request asks for, waits and pilots."""
    own = paced(problem, Pace())
    request = own.request.replaced("limits.deadline_from", "provisioning").replaced("job.pilots", None)
    return float(again(replace(own, request=request), columns).confident_hours[0])


def side_pools_of(problem: Problem, columns: Columns) -> SidePools:
    """What stands beside the training pools of columns that are not colocated, shape (columns,)."""
    parts: list[tuple[Ints, SidePools]] = []
    for (_, scored, _), here in groups(columns.rollout2 >= 0, columns.score >= 0, columns.score2 >= 0).items():
        part = columns.take(here)
        found = _part(problem, PoolRole.SAMPLE, part.rollout, part.rollout2)
        if scored:
            found = with_scoring(problem, found, _part(problem, PoolRole.SCORE, part.score, part.score2))
        parts.append((here, found))
    return put_back(parts)


def _part(problem: Problem, kind: PoolRole, first: Ints, second: Ints) -> SidePools:
    """Pools of one kind, all of them mixed or none."""
    return mixed(problem, kind, first, second) if np.any(second >= 0) else alone(problem, kind, first)


def narrowed(problem: Problem, column: Columns) -> tuple[Problem, Columns]:
    """The problem with the pools of ``column`` (one row) alone, and the column with its row numbers there.

    In it the column is put together anew in no time.
    """
    colocated = int(column.placement[0]) == COLOCATED
    first = np.asarray(column.train, dtype=np.int64)
    rollout, scoring = _rows(column.rollout, column.rollout2), _rows(column.score, column.score2)
    own = replace(
        problem,
        training=problem.training.take(slice(0, 0) if colocated else first),
        colocated=problem.colocated.take(first if colocated else slice(0, 0)),
        rollout=problem.rollout.take(rollout),
        scoring=problem.scoring.take(scoring),
        bare=None,
    )
    numbers = {
        "train": np.zeros(1, dtype=np.int64),
        "rollout": np.minimum(column.rollout, 0),
        "rollout2": np.where(column.rollout2 >= 0, 1, -1),
        "score": np.minimum(column.score, 0),
        "score2": np.where(column.score2 >= 0, 1, -1),
    }
    return own, replace(column, **numbers)


def _rows(first: Ints, second: Ints) -> Ints:
    rows = np.concatenate([first, second])
    return np.asarray(rows[rows >= 0], dtype=np.int64)
