"""What stands beside a training pool: rollout and scoring pools, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from rlopt.problem.times import Seconds, Times
from rlopt.table import Floats, Ints, Table
from rlopt.words import ASYNC

ADDED: Final = ("gpus", "spot_gpus", "usd_per_hour", "failures_per_hour", "disk_gb", "committed_usd")
"""Fields of `SidePools` that add up over the pools of one row."""


@dataclass(frozen=True, slots=True)
class SidePools(Table):
    """Everything beside the training pool of a disaggregated plan: rollout and scoring pools, each perhaps mixed.

    Arrays of shape (rows,); indices point into the problem's rollout and scoring pools, -1 where there is none.
    Times are those of rollout and scoring together: one after the other in step, side by side where asynchronous.
    """

    rollout: Ints
    rollout2: Ints
    score: Ints
    score2: Ints
    split: Floats
    async_split: Floats
    score_split: Floats
    environment: Ints
    gpus: Ints
    spot_gpus: Ints
    usd_per_hour: Floats
    environment_usd_per_hour: Floats
    failures_per_hour: Floats
    mixed_share: Floats
    async_mixed_share: Floats
    disk_gb: Floats
    committed_usd: Floats
    """One whole term of every reserved offer."""
    times: Times

    @staticmethod
    def none(rows: int) -> SidePools:
        """Rows of nothing beside the training pool."""
        absent, whole = np.full(rows, -1, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        zero, one = np.zeros(rows), np.ones(rows)
        return SidePools(
            rollout=absent,
            rollout2=absent,
            score=absent,
            score2=absent,
            split=one,
            async_split=one,
            score_split=one,
            environment=whole,
            gpus=whole,
            spot_gpus=whole,
            usd_per_hour=zero,
            environment_usd_per_hour=zero,
            failures_per_hour=zero,
            mixed_share=one,
            async_mixed_share=one,
            disk_gb=zero,
            committed_usd=zero,
            times=Times.same(Seconds.zero(rows)),
        )

    def adding(self, other: SidePools, **changes: Any) -> SidePools:
        """The same rows with the machines of others, row by row, and ``changes`` of what does not add up."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in ADDED}
        return replace(self, **sums, **changes)

    @property
    def rate(self) -> Floats:
        """USD per hour of the machines and of the environment that they sample from."""
        return np.asarray(self.usd_per_hour + self.environment_usd_per_hour)

    def shares(self, placement: int) -> tuple[Floats, Floats]:
        """What the first rollout offer samples, and the least part of a mixed pool that is never taken back."""
        if placement == ASYNC:
            return self.async_split, self.async_mixed_share
        return self.split, self.mixed_share
