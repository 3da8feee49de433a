"""Peaks of GPUs that train and sample in turn, GiB.

While the trainer updates, the rollout engine sleeps and keeps a residue, or stays awake with its whole share. While
the engine samples, what the trainer does not offload stays beside it. A pool fits only if both peaks do, and the
engine's share holds its weights and one longest sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates.arrays import Flags, Floats, Values
from rlopt.estimates.sampling.memory import rollout_other_gib
from rlopt.facts.calibration import Calibration


@dataclass(frozen=True, slots=True)
class ColocatedPeaks:
    """GiB per GPU, shape (n,) each.

    Parameters
    ----------
    update
        While the trainer updates.
    sampling
        While the engine samples.
    spare
        What the engine's share leaves beside its weights and one longest sequence; negative
        where they do not fit into it.
    """

    update: Floats
    sampling: Floats
    spare: Floats

    def fits(self, memory_gib: Floats) -> NDArray[np.bool_]:
        """Whether both peaks fit into ``memory_gib`` and the engine's share holds what it must."""
        return np.asarray((np.maximum(self.update, self.sampling) <= memory_gib) & (self.spare >= 0.0))


def colocated_peaks(
    update_gib: Floats,
    resident_gib: Floats,
    weights_gib: Floats,
    sequence_gib: Floats,
    given: Values,
    memory_gib: Floats,
    calibration: Calibration,
    sleeps: Flags = True,
) -> ColocatedPeaks:
    """Peaks of both halves; shape of the arguments.

    Parameters
    ----------
    update_gib, resident_gib
        The trainer's own peak, and what it leaves on the GPU while the engine samples.
    weights_gib, sequence_gib
        Of one rollout rank: weights, and the cache of one longest sequence.
    given
        Share of the device that the engine takes (gpu_memory_utilization).
    sleeps
        Whether the engine frees its share during updates; it keeps a residue.
    """
    share = np.asarray(given) * memory_gib
    other = rollout_other_gib(calibration)
    asleep = calibration.value("memory", "engine_asleep_gib")
    beside = np.where(sleeps, asleep, share)
    return ColocatedPeaks(
        update=np.asarray(update_gib + beside),
        sampling=np.asarray(resident_gib + np.maximum(share, weights_gib + sequence_gib + other)),
        spare=np.asarray(share - weights_gib - sequence_gib),
    )
