"""One model of a training pool as its stack runs it: what every estimate of updates and scoring passes takes."""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.estimates.arrays import Layout, Stack, Training, Words
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.states import planned_stack
from rlopt.facts.calibration import Calibration


@dataclass(frozen=True, slots=True)
class Worker:
    """A model under a layout; arrays of shape (n,).

    Parameters
    ----------
    training
        What is trained of it; ``None`` in a scoring pass.
    precision
        Of the update, or of the scoring pass.
    stack
        How the training stack runs it.
    """

    shape: ModelShape
    training: Training | None
    layout: Layout
    precision: str | Words
    stack: Stack
    calibration: Calibration

    @staticmethod
    def planned(
        shape: ModelShape, training: Training | None, layout: Layout, precision: str | Words, calibration: Calibration
    ) -> Worker:
        """On the stack that plans assume for the layout."""
        return Worker(shape, training, layout, precision, planned_stack(layout, training), calibration)

    @property
    def trained(self) -> Training:
        """What is trained, of a model that is. Raises LookupError in a scoring pass."""
        if self.training is None:
            raise LookupError("a scoring pass trains nothing")
        return self.training
