"""What the job is for: a metric, where it stands and where it is to stand."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, model_validator

from rlopt.request.values.kinds import LARGEST, Name, Number, refuse, show
from rlopt.strict import Strict

LEAST: Final = 1e-9
"""A smaller change of a metric is a slip of the keyboard."""
Reading = Annotated[float, Number(-LARGEST, example="55")]


class Target(Strict):
    """A metric that the job moves, up or down; the plan says what one point of it costs."""

    metric: Name
    """Its name, for example success_rate or loss."""
    from_: Reading = Field(alias="from")
    """Before the job."""
    to: Reading
    """After it. A point is 1 of the metric as it is written here: from 55 to 80 are 25 points, 0.55 to 0.8 are 0.25."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    @model_validator(mode="after")
    def _moves(self) -> Target:
        if self.points < LEAST:
            message = f"the target moves {self.metric} from {show(self.from_)} to {show(self.to)}"
            raise refuse(message, "to differs from from", "write where the metric is to stand, for example to: 80")
        return self

    @property
    def points(self) -> float:
        """Points that are gained: |to - from|; a loss may fall."""
        return abs(self.to - self.from_)
