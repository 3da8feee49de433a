"""A model on the replicas of an engine: what every estimate of sampling takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Words
from rlopt.estimates.sampling.serving import Serving, of_engine
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Replica:
    """A model as an engine serves it on max(tp, ep) GPUs; arrays of shape (n,).

    Where ep > tp, attention runs data-parallel over replica / tp groups and experts over all of the replica; where
    1 < ep <= tp, whole experts stand on ep ranks of a tensor-parallel group.
    """

    shape: ModelShape
    hardware: Hardware
    tp: Floats | Ints
    precision: str | Words
    serving: Serving
    calibration: Calibration
    ep: Floats | Ints | int = 1

    @staticmethod
    def planned(
        shape: ModelShape,
        hardware: Hardware,
        tp: Floats | Ints,
        precision: str | Words,
        calibration: Calibration,
        ep: Floats | Ints | int = 1,
    ) -> Replica:
        """On the engine planned with for each GPU generation."""
        return Replica(shape, hardware, tp, precision, Serving.planned(hardware, calibration), calibration, ep)

    @property
    def ways(self) -> Floats:
        """GPUs that share a layer by tensor parallelism."""
        return np.asarray(self.tp, dtype=np.float64)

    @property
    def gpus(self) -> Floats:
        """GPUs of a replica."""
        return np.maximum(self.ways, self.ep)

    def engine(self, key: str) -> Floats:
        """A constant of the engine table."""
        return of_engine(key, self.serving, self.calibration)
