"""Estimate tables of a run whose responses change in length: the same rows at each point of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rlopt.estimates.loop.run_average import SHARES, averaged
from rlopt.pools.builder import Builder
from rlopt.pools.context import Context
from rlopt.pools.parts import PartTables
from rlopt.pools.run_points import at_share, growing
from rlopt.pools.sampling.table import SamplingTable
from rlopt.pools.scoring.table import ScoringTable
from rlopt.pools.tables import Tables
from rlopt.pools.training.table import TrainingTable
from rlopt.problem import Ints, Mix
from rlopt.problem.detail import PoolDetail, StageDetail
from rlopt.workloads.growth import grows

T = TypeVar("T", TrainingTable, SamplingTable, ScoringTable)


@dataclass(frozen=True, slots=True)
class GrowingTables(Tables):
    """Tables at the run's average length, and ``points`` of the same rows over the run; seconds are averages of those.

    Memory, layouts and what limits a stage are those of the average length.
    """

    points: tuple[Tables, ...] = ()
    first_and_last: tuple[Tables, ...] = ()

    @property
    def ends(self) -> tuple[Tables, ...]:
        """The same at the first and at the last step."""
        return self.first_and_last

    def training_detail(self, row: int) -> PoolDetail:
        """A pool that trains, and sends its weights to another."""
        return self._over_run(lambda tables: Tables.training_detail(tables, row))

    def colocated_detail(self, row: int) -> PoolDetail:
        """A pool that trains and, where the job samples, samples in turn."""
        return self._over_run(lambda tables: Tables.colocated_detail(tables, row))

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        """A rollout pool that takes ``share`` of the samples; ``asynchronous``: where it runs so."""
        return self._over_run(lambda tables: Tables.rollout_detail(tables, row, asynchronous, share))

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        """A pool that only scores, ``share`` of the samples."""
        return self._over_run(lambda tables: Tables.scoring_detail(tables, row, share))

    def mixed(self, first: Ints, second: Ints) -> Mix:
        """Rollout pools of two estimates each, every one at its share of the samples at each point."""
        return growing([tables.mixed(first, second) for tables in self.points])

    def mixed_bound(self, first: Ints, second: Ints) -> Mix:
        """Never more than `mixed` says, and quick."""
        return growing([tables.mixed_bound(first, second) for tables in self.points])

    def mixed_least(self, estimate: Ints) -> Mix:
        """Seconds that a rollout pool of a mix takes whatever its share."""
        return growing([tables.mixed_least(estimate) for tables in self.points])

    def _over_run(self, detail: Callable[[Tables], PoolDetail]) -> PoolDetail:
        return _averaged(detail(self), [detail(tables) for tables in self.points])


def _averaged(base: PoolDetail, points: Sequence[PoolDetail]) -> PoolDetail:
    """A pool of average lengths with the seconds, and what follows from them, of all points."""
    stages = []
    for stage, *alike in zip(base.stages, *(point.stages for point in points), strict=True):
        seconds = np.array([one.seconds for one in alike])
        busy = stage.utilization
        total = float(averaged(seconds))
        if busy is not None and total > 0.0:
            worked = seconds * np.array([one.utilization or 0.0 for one in alike])
            busy = float(averaged(worked)) / total
        stages.append(StageDetail(stage.stage, stage.model, total, busy, stage.limited_by))
    gradients = np.array([point.gradient_gb for point in points]).T
    return replace(
        base,
        stages=tuple(stages),
        spared_seconds=float(averaged(np.array([point.spared_seconds for point in points]))),
        gradient_gb=(float(averaged(gradients[0])), float(averaged(gradients[1]))),
    )


def tables_of(context: Context, parts: PartTables, builder: Builder) -> Tables:
    """The tables behind the pools that ``builder`` made of them."""
    tables = (
        context,
        parts.training,
        list(parts.sampling.values()),
        list(parts.scoring.values()),
        builder.training_rows,
        builder.sampling_rows,
        builder.scoring_rows,
        builder.colocated_rows,
    )
    whole = Tables(*tables)
    if not grows(context.workload):
        return whole
    points = []
    for point, share in enumerate(SHARES):
        there = tables_at(whole, float(share))
        points.append(replace(there, sampling=[(here, _engines(table, point)) for here, table in there.sampling]))
    ends = (tables_at(whole, 0.0), tables_at(whole, 1.0))
    return GrowingTables(*tables, points=tuple(points), first_and_last=ends)


def tables_at(tables: Tables, share: float) -> Tables:
    """What the same rows are estimated with when ``share`` of the run is done; of seconds their details alone."""

    def then(parts: Sequence[tuple[Context, T]]) -> list[tuple[Context, T]]:
        return [(at_share(here, share), table) for here, table in parts]

    return Tables(
        context=at_share(tables.context, share),
        training=then(tables.training),
        sampling=then(tables.sampling),
        scoring=then(tables.scoring),
        training_rows=tables.training_rows,
        sampling_rows=tables.sampling_rows,
        scoring_rows=tables.scoring_rows,
        colocated_rows=tables.colocated_rows,
    )


def _engines(table: SamplingTable, point: int) -> SamplingTable:
    """Engines with their seconds at one point of the run."""
    return replace(
        table,
        engine_seconds={key: values[:, point] for key, values in table.points.items()},
        engine_async_seconds={key: values[:, point] for key, values in table.async_points.items()},
    )
