"""What is believed of a constant before any row is seen, and which engine of a family has the constant."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from rlopt.estimates import Calibration
from rlopt.fitting.fit import Parameter


@dataclass(frozen=True, slots=True)
class Prior:
    """Centre, bounds and log standard deviation of a constant; ``like`` names the family that is its centre instead."""

    centre: float
    low: float
    high: float
    sd: float
    like: str = ""

    def of(self, *path: str) -> Parameter:
        """The constant at ``path``; its family stands in the same table."""
        toward = (*path[:-1], self.like) if self.like else None
        return Parameter(path, self.centre, self.low, self.high, self.sd, toward)


def owner(engine: str, table: Container[str], calibration: Calibration) -> str:
    """The engine whose constant in ``table`` an engine takes: itself, or the nearest that it is like."""
    while engine not in table:
        engine = calibration.training["engines"][engine]["like"]
    return engine
