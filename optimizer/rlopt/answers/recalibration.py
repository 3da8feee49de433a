"""What one's own timings made of the constants, and what that makes of the plan: schema ``rlopt.recalibration/1``.

Seconds are those of one step, money USD, hours those of one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from rlopt.answers.difference import Difference
from rlopt.answers.plan import Plan
from rlopt.strict import Strict


class LogRead(Strict):
    """One file of timings."""

    name: str
    format: str
    lines: int
    used: str
    """Which steps or rows count."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Reason to number of steps."""
    skipped: dict[str, int] = Field(default_factory=dict)
    """Why lines tell no step, to their number."""
    first_skipped: dict[str, int] = Field(default_factory=dict)
    """The same to the first such line."""


class MovedConstant(Strict):
    """A constant that the timings identify."""

    constant: str
    """Dotted."""
    before: float
    after: float
    because: str
    """Stage and line of the log that moved it."""
    at_bound: bool = False
    """Whether a physical bound holds it."""


class StageSeconds(Strict):
    """One stage of a step as logged, and as predicted before and after."""

    stage: str
    logged: float
    before: float
    after: float


class Errors(Strict):
    """Median error of rows of one kind, as a share of what was measured."""

    kind: str
    rows: int
    before: float
    after: float


class CalibratedBand(Strict):
    """80 % band of predicted times, as half its width: 0.2 is ±20 %."""

    what: str
    before: float
    after: float


class Going(Strict):
    """The rest of the run on the machines that it has, at the pace that was logged."""

    usd: float
    hours: float
    usd_per_hour: float
    steps: int


class Switching(Strict):
    """The cheapest plan of the rest, started anew."""

    usd: float
    hours: float
    start_hours: float
    """Part of the hours before its first step and after its last."""
    moved_gb: float
    """The checkpoint that the new machines start from."""
    transfer_usd: float | None
    """Its way out of the old machines' place; None where no price is known."""
    saves_usd: float
    """What it costs less than going on, its transfer included; negative where it costs more."""
    later_hours: float
    """How much later it is done; negative where sooner."""
    worth: bool
    """Whether it saves more than a twentieth: less is beyond what predictions can tell."""


class Recalibration(Strict):
    """The answer to ``rlopt calibrate``."""

    schema_: Literal["rlopt.recalibration/1"] = Field("rlopt.recalibration/1", alias="schema")
    name: str
    logs: list[LogRead]
    framework: str | None = None
    """Whose loop the constants are those of."""
    moved: list[MovedConstant] = Field(default_factory=list)
    stayed: list[str] = Field(default_factory=list)
    """Constants in play of which the timings say nothing."""
    stages: list[StageSeconds] = Field(default_factory=list)
    errors: list[Errors] = Field(default_factory=list)
    bands: list[CalibratedBand] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    steps_done: int | None = None
    steps_left: int | None = None
    hours_spent: float | None = None
    usd_spent: float | None = None
    difference: Difference | None = None
    """From the plan under shipped constants to the one under one's own, of what is left to do."""
    plan: Plan | None = None
    """The plan of what is left, under one's own constants."""
    going_on: Going | None = None
    switching: Switching | None = None
    calibration: str = ""
    """The text of the calibration file."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    def document(self) -> Mapping[str, Any]:
        """As the JSON document of ``rlopt.recalibration/1``."""
        return self.model_dump(mode="json", by_alias=True)
