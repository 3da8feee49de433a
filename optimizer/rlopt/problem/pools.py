"""Priced pool candidates, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlopt.table import Floats, Ints, Table
from rlopt.words import ASYNC, Precision

UNSCORED = max(precision.rank for precision in Precision)
"""Rank of the scoring precision where nothing scores: no floor speaks of it."""


@dataclass(frozen=True, slots=True)
class Pools(Table):
    """Priced pool candidates of one kind, each of one offer. All arrays have shape (pools,).

    ``seconds`` is the median time of the pool's own stages in one step, ``confident_seconds`` the same with every
    stage at its confidence quantile (stage errors fully correlated). ``steady_seconds`` hold where the pool runs
    out of step (asynchronous). ``once_seconds`` come before the first step. ``variant`` numbers the way the job is
    laid out (of rollout pools the first of those that sample alike), ``environment`` the number of environment
    instances, ``precision`` the pool's own (rollout pools of one mix share it). ``estimate`` points into the estimate
    table that knows the layout.
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
    variant: Ints
    environment: Ints
    environment_usd_per_hour: Floats
    precision: Ints
    once_seconds: Floats
    confident_once_seconds: Floats
    term_hours: Floats
    """Hours that a reserved offer bills at least and in multiples of; 0 elsewhere."""
    disk_gb: Floats
    """Block storage to rent beside the machines' own disks, all nodes."""
    disk_gib: Floats
    """Disk that each node needs, GiB."""
    host_gib: Floats
    """Host memory that each node needs, GiB."""
    score_precision: Ints
    """Rank of the least precision that any model scores in on the pool; `UNSCORED` where none does."""
    nodes_per_replica: Ints
    """Nodes that one rollout engine spans; 1 where nothing samples."""
    load: Ints
    """How the pool gets its samples: number of an option of the problem's `loading`."""
    load_seconds: Floats
    """Seconds to read and prepare one step's samples, beside the step before."""
    stall_seconds: Floats
    """Part of ``seconds`` in which the pool waits for them."""
    load_usd_per_hour: Floats
    """Machines that prepare samples."""
    load_disk_gb: Floats
    """Volumes that they boot from."""
    mount_usd_per_hour: Floats
    """File system or volumes that are mounted for them."""
    points: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """Seconds at each point of a run whose lengths change (`pools.run_points`); no columns where none does."""

    def __post_init__(self) -> None:
        if len(self.points) != len(self.offer):
            object.__setattr__(self, "points", np.zeros((len(self.offer), 0)))

    @property
    def rate(self) -> Floats:
        """USD per hour of the machines, of the environment that they sample from, and of those that prepare samples."""
        return np.asarray(self.usd_per_hour + self.environment_usd_per_hour + self.load_usd_per_hour)

    def rate_of(self, index: Ints) -> Floats:
        """`rate` of some rows, without a look at the others."""
        parts = (self.usd_per_hour, self.environment_usd_per_hour, self.load_usd_per_hour)
        return np.asarray(np.sum([part[index] for part in parts], axis=0))

    @property
    def committed_usd(self) -> Floats:
        """Least that reserved offers bill, USD: one whole term."""
        return np.asarray(self.usd_per_hour * self.term_hours)

    def times(self, placement: int) -> tuple[Floats, Floats]:
        """Median and confident seconds in a placement: out of step, nothing waits for the longest response."""
        if placement == ASYNC:
            return self.steady_seconds, self.confident_steady_seconds
        return self.seconds, self.confident_seconds
