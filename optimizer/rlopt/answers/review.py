"""A plan beside the bill that came: what `rlopt review` prints (schema ``rlopt.review/1``).

Money is USD, differences are billed minus planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.plan import Dimension
from rlopt.strict import Strict

Part = Literal["trials", "throughput", "price", "growth", "rest"]


class ReviewParts(Strict):
    """A difference in five parts, each in USD; they add up to it."""

    trials: float = 0.0
    """More or fewer runs than planned, each as long and as dear as planned."""
    throughput: float = 0.0
    """Hours that the runs took beyond the planned ones, at the planned price."""
    price: float = 0.0
    """Another price for the hours that were billed."""
    growth: float = 0.0
    """Storage, traffic, logs, caches and data beyond what the runs explain."""
    rest: float = 0.0
    """What nothing that the bill states explains."""


class MachineTime(Strict):
    """Hours behind a row of machines, all runs together."""

    unit: Literal["h", "GPU-h"]
    planned: float
    billed: float
    planned_trials: float
    billed_trials: float
    planned_usd_per_unit: float
    billed_usd_per_unit: float
    stated: list[str]
    """Which of trials, hours, gpu_hours and price the bill states; the others are as planned or follow."""


class ReviewLine(Strict):
    """One row of the bill, with the lines of the plan that it stands for."""

    line: int
    """In the file, from 1."""
    dimension: str
    item: str | None
    """Null: all of the dimension that no other row names."""
    planned_usd: float
    billed_usd: float
    parts: ReviewParts
    machines: MachineTime | None = None


class Unbilled(Strict):
    """A line of the plan that no row stands for."""

    dimension: Dimension
    item: str
    usd: float


class Review(Strict):
    """How a bill differs from the plan, and from what."""

    schema_: Literal["rlopt.review/1"] = Field("rlopt.review/1", alias="schema")
    plan: str
    bill: str
    planned_usd: float
    billed_usd: float
    more_usd: float
    """The sum of ``parts``."""
    parts: ReviewParts
    largest: Part | None
    """The part that moves the bill most the way that it moved; null where nothing differs."""
    lines: list[ReviewLine]
    unbilled: list[Unbilled]
    """They count as billed nothing, in the rest."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """The review as the JSON document of interface ``rlopt.review/1``."""
        return self.model_dump(mode="json", by_alias=True)
