"""Priced pool candidates, column by column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.problem.times import Seconds, Times
from rlopt.table import Floats, Ints, Table
from rlopt.words import Precision

UNSCORED = max(precision.rank for precision in Precision)
"""Rank of the scoring precision where nothing scores: no floor speaks of it."""


@dataclass(frozen=True, slots=True)
class Pools(Table):
    """Priced pool candidates of one kind, each of one offer. All arrays have shape (pools,).

    ``times`` are those of the pool's own stages in one step, ``once`` seconds before the first one. ``variant``
    numbers the way the job is laid out (of rollout pools the first of those that sample alike), ``environment`` the
    number of environment instances, ``precision`` the pool's own (rollout pools of one mix share it). ``estimate``
    points into the estimate table that knows the layout.
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
    times: Times
    estimate: Ints
    variant: Ints
    environment: Ints
    environment_usd_per_hour: Floats
    precision: Ints
    once: Seconds
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
    """Part of ``times`` in which the pool waits for them."""
    load_usd_per_hour: Floats
    """Machines that prepare samples."""
    load_disk_gb: Floats
    """Volumes that they boot from."""
    mount_usd_per_hour: Floats
    """File system or volumes that are mounted for them."""

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
