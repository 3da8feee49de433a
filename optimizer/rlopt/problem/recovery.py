"""What a checkpoint holds, by the way to run the job, and the ways to keep a run alive (`market.recovery_options`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.units import bytes_to_gb


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Bytes of one checkpoint: resumable (weights and optimizer state) and weights only.

    ``by_variant`` are those of a resumable copy by variant, where a model that is trained is chosen, and
    ``weights_by_variant`` those of weights only, where heads of different sizes are; () where all save the same.
    """

    resumable_bytes: float
    weights_bytes: float
    by_variant: tuple[float, ...] = ()
    weights_by_variant: tuple[float, ...] = ()

    def state_bytes(self, variant: int) -> float:
        """Bytes of a resumable copy of one variant."""
        return self.by_variant[variant] if self.by_variant else self.resumable_bytes

    def state_gb(self, variant: NDArray[np.int64] | int) -> NDArray[np.float64]:
        """GB of a resumable copy by variant, shape of ``variant``."""
        if not self.by_variant:
            return np.full(np.shape(variant), bytes_to_gb(self.resumable_bytes))
        return np.asarray(np.array([bytes_to_gb(size) for size in self.by_variant])[variant])

    def weights_of(self, variant: int) -> float:
        """Bytes of a copy of one variant's weights."""
        return self.weights_by_variant[variant] if self.weights_by_variant else self.weights_bytes

    def weights_gb(self, variant: NDArray[np.int64] | int) -> NDArray[np.float64]:
        """GB of a copy of weights by variant, shape of ``variant``."""
        if not self.weights_by_variant:
            return np.full(np.shape(variant), bytes_to_gb(self.weights_bytes))
        return np.asarray(np.array([bytes_to_gb(size) for size in self.weights_by_variant])[variant])


@dataclass(frozen=True, slots=True)
class RecoveryOption:
    """One way to keep a run alive, decided beside the checkpoint's interval and tier."""

    spare_nodes: int = 0
    """Nodes of the training pool's offer that stand ready to take a failed one's place."""
    rollouts_every: int = 0
    """Tokens between two copies of an unfinished response on shared storage; 0 where none are made."""
    compressed: bool = False
    """Whether checkpoints are compressed."""
