"""Everything the search needs, frozen: pool candidates column by column, and the joint columns made of them.

A joint column is one complete way to run the job: placement, group size, precision, a training pool, a rollout pool
(none when colocated), checkpoint interval and tier. Its hours and cost are plain numbers, so the program over joint
columns is exact by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlopt.candidates.detail import Estimates
from rlopt.candidates.market import Market
from rlopt.candidates.operations import Operations
from rlopt.candidates.tariff import Tariff, TierTable
from rlopt.facts import Catalog, Model
from rlopt.request import Request
from rlopt.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLACEMENTS = ("colocated", "disaggregated", "async")
COLOCATED, DISAGGREGATED, ASYNC = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pools:
    """Priced pool candidates of one kind. All arrays have shape (pools,).

    ``seconds`` is the median time of the pool's own stages in one step, ``confident_seconds`` the same with every
    stage at its confidence quantile (stage errors fully correlated). ``steady_seconds`` hold where the pool runs
    out of step (asynchronous). ``estimate`` points into the estimate table that knows the layout.
    """

    offer: Ints
    nodes: Ints
    gpus: Ints
    zone: Ints
    usd_per_hour: Floats
    failures_per_hour: Floats
    spot: NDArray[np.bool_]
    group_size: Ints
    update_precision: Ints
    seconds: Floats
    confident_seconds: Floats
    steady_seconds: Floats
    confident_steady_seconds: Floats
    estimate: Ints

    def times(self, placement: int) -> tuple[Floats, Floats]:
        """Median and confident seconds in a placement: out of step, nothing waits for the longest response."""
        if placement == ASYNC:
            return self.steady_seconds, self.confident_steady_seconds
        return self.seconds, self.confident_seconds

    def __len__(self) -> int:
        return int(self.offer.shape[0])

    def take(self, index: Any) -> Pools:
        """The rows of ``index`` (integers or a mask)."""
        return Pools(*(getattr(self, field.name)[index] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Columns:
    """Joint columns. All arrays have shape (columns,); pool indices are -1 where a column has no such pool."""

    placement: Ints
    zone: Ints
    train: Ints
    rollout: Ints
    group_size: Ints
    steps: Ints
    update_precision: Ints
    staleness: Ints
    interval_steps: Ints
    tier: Ints
    gpus: Ints
    spot_gpus: Ints
    nodes: Ints
    usd_per_hour: Floats
    cpu_usd_per_hour: Floats
    step_seconds: Floats
    failure_free_hours: Floats
    expected_hours: Floats
    confident_hours: Floats
    failures_per_hour: Floats
    recovery_minutes: Floats
    usd: Floats

    def __len__(self) -> int:
        return int(self.zone.shape[0])

    def take(self, index: Any) -> Columns:
        """The rows of ``index`` (integers or a mask)."""
        return Columns(*(getattr(self, field.name)[index] for field in fields(self)))

    def with_cost(self, usd: Floats) -> Columns:
        """The same columns with their total cost filled in."""
        return replace(self, usd=usd)

    @staticmethod
    def join(parts: list[Columns]) -> Columns:
        """All rows of ``parts`` in order; there must be at least one part."""
        return Columns(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Columns)))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Bytes of one checkpoint: resumable (weights and optimizer state) and weights only."""

    resumable_bytes: float
    weights_bytes: float


@dataclass(frozen=True, slots=True)
class Problem:
    """A request with its facts, candidates and prices, frozen. ``colocated`` pools train and sample in one."""

    request: Request
    catalog: Catalog
    workload: Workload
    models: Mapping[str, Model]
    market: Market
    operations: Operations
    tariffs: tuple[Tariff, ...]
    tiers: TierTable
    """The tariffs' storage tiers as arrays."""
    checkpoint: Checkpoint
    intervals: Mapping[int, tuple[int, ...]]
    """Checkpoint intervals in steps to choose from, by group size."""
    training: Pools
    rollout: Pools
    colocated: Pools
    estimates: Estimates
    """Layouts and stage details behind the pools' ``estimate`` rows."""
    sync_seconds: tuple[float, float, float]
    """Seconds of every step outside the stages, by placement: weight transfer and fixed overheads."""
    staleness: int
    """Steps that samples lag behind in an asynchronous plan."""
    exposed_share: float
    """Share of the shorter pool's time that an asynchronous step still waits for."""
    candidates: int
    excluded: Mapping[str, int]
    warnings: tuple[str, ...]
    gpu_limit: int
