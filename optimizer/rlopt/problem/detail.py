"""What a plan says of one pool beyond its price: layout, memory by part, seconds by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from rlopt.problem.times import Mix
from rlopt.table import Ints


@dataclass(frozen=True, slots=True)
class StageDetail:
    """One stage of a step in one pool."""

    stage: str
    model: str
    seconds: float
    utilization: float | None
    limited_by: str | None = None
    """See `pools.limiting`."""


@dataclass(frozen=True, slots=True)
class PoolDetail:
    """One pool candidate in full. Memory is GiB per GPU at the peak stage; ``layout`` uses the plan's keys."""

    roles: tuple[str, ...]
    serves: tuple[str, ...]
    layout: Mapping[str, int | str | bool | None]
    precision: str
    score_precision: str | None
    rollout_precision: str | None
    needed_gib: float
    capacity_gib: float
    host_gib: float | None
    peak_stage: str
    parts: Mapping[str, float]
    stages: tuple[StageDetail, ...]
    memory_margin: float
    measured: bool = True
    """Whether the calibration has measurements of this GPU type."""
    frozen_gib: float = 0.0
    """Weights that the pool holds all the time and never changes, GiB per GPU."""
    spared_seconds: float = 0.0
    """Seconds of a step's updates on the samples that the filter drops, which the pool is spared."""
    gradient_gb: tuple[float, float] = (0.0, 0.0)
    """GB of gradients that a node sends in a step, and those of them that leave the node."""
    band: float = 0.0
    """Half of the 80 % band of its times, as a share: 0.35 means ±35 %."""
    by_stage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Memory of every stage by part, GiB per GPU; ``parts`` are those of the peak."""


class Nearest(NamedTuple):
    """The layout that comes closest to its device's memory where none fits, GiB per GPU at its fullest stage."""

    needed_gib: float
    capacity_gib: float
    stage: str
    part: str
    """The largest part of that stage."""
    part_gib: float
    gpus: int
    device: str

    @property
    def missing_gib(self) -> float:
        """What the device lacks."""
        return self.needed_gib - self.capacity_gib


class Estimates(Protocol):
    """Tables behind the pools' ``estimate`` numbers."""

    @property
    def ends(self) -> tuple[Estimates, ...]:
        """The estimates of the first and of the last step; nothing where no length changes over the run."""
        ...

    def training_detail(self, row: int) -> PoolDetail:
        """A training pool of a disaggregated placement."""
        ...

    def rollout_detail(self, row: int, asynchronous: bool, share: float = 1.0) -> PoolDetail:
        """A rollout pool that takes ``share`` of the samples; ``asynchronous``: where it runs so."""
        ...

    def mixed_least(self, estimate: Ints) -> Mix:
        """Seconds that a rollout pool of a mix takes whatever its share of the samples, shape of ``estimate``."""
        ...

    def scoring_detail(self, row: int, share: float = 1.0) -> PoolDetail:
        """A pool that only scores, ``share`` of the samples."""
        ...

    def colocated_detail(self, row: int) -> PoolDetail:
        """A pool that trains and samples in turn."""
        ...

    def mixed(self, first: Ints, second: Ints) -> Mix:
        """Rollout pools of two estimates each, shape (pairs,)."""
        ...

    def mixed_bound(self, first: Ints, second: Ints) -> Mix:
        """Never more than `mixed` says, and quick."""
        ...
