"""What stands beside a training pool: rollout and scoring pools, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.table import Floats, Ints, Table
from rlopt.words import ASYNC


@dataclass(frozen=True, slots=True)
class SidePools(Table):
    """Everything beside the training pool of a disaggregated plan: rollout and scoring pools, each perhaps mixed.

    Arrays of shape (rows,); indices point into the problem's rollout and scoring pools, -1 where there is none.
    Seconds are those of rollout and scoring together: one after the other in step, side by side out of step.
    """

    rollout: Ints
    rollout2: Ints
    score: Ints
    score2: Ints
    split: Floats
    steady_split: Floats
    score_split: Floats
    environment: Ints
    gpus: Ints
    spot_gpus: Ints
    usd_per_hour: Floats
    environment_usd_per_hour: Floats
    failures_per_hour: Floats
    mixed_share: Floats
    steady_mixed_share: Floats
    disk_gb: Floats
    committed_usd: Floats
    """One whole term of every reserved offer."""
    seconds: Floats
    confident_seconds: Floats
    steady_seconds: Floats
    confident_steady_seconds: Floats
    points: Floats
    """As `Pools.points`; no columns where no length changes over the run."""

    @property
    def rate(self) -> Floats:
        """USD per hour of the machines and of the environment that they sample from."""
        return np.asarray(self.usd_per_hour + self.environment_usd_per_hour)

    def times(self, placement: int) -> tuple[Floats, Floats]:
        """Median and confident seconds in a placement: out of step, nothing waits for the longest response."""
        if placement == ASYNC:
            return self.steady_seconds, self.confident_steady_seconds
        return self.seconds, self.confident_seconds

    def shares(self, placement: int) -> tuple[Floats, Floats]:
        """What the first rollout offer samples, and the least part of a mixed pool that is never taken back."""
        if placement == ASYNC:
            return self.steady_split, self.steady_mixed_share
        return self.split, self.mixed_share
