"""What happens around the runs: waits for machines, small runs before the first, trials that are cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from rlopt.request.values.kinds import Name, Number, Share, Switch, Whole
from rlopt.request.values.quantities import DurationOrZero, Quantity
from rlopt.strict import Strict
from rlopt.units import DURATION_UNITS
from rlopt.words import PricingKind


class Wait(Strict):
    """How long an order of machines waits where all given keys match; a missing key matches everything."""

    provider: Name | None = None
    """Provider."""
    region: Name | None = None
    """Region."""
    gpu: Name | None = None
    """GPU type or family."""
    pricing: PricingKind | None = None
    """on_demand, spot or reserved."""
    wait: DurationOrZero
    """From the request to the machines, in seconds."""


_DURATION = Quantity("duration", DURATION_UNITS, "6h", low_open=False)


class _WaitsKind:
    """Reads one duration as a row that matches everything, and a list as rows."""

    def read(self, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> tuple[Wait, ...]:
        if isinstance(value, Sequence) and not isinstance(value, str):
            rows: tuple[Wait, ...] = handler(value)
            return rows
        return (Wait(wait=_DURATION.read(value, info)),)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [_DURATION.schema(), handler(schema)]}


Waits = Annotated[tuple[Wait, ...], _WaitsKind()]
OpenShare = Annotated[float, Number(0.0, 1.0, low_open=True, high_open=True, example="0.6")]


class CutOff(Strict):
    """A trial that has not come far enough is stopped."""

    at: OpenShare
    """Share of a trial's steps after which it is judged."""
    metric: Name
    """Series that is judged, for example reward."""
    below: Annotated[float, Number(-1e30, example="0.4")]
    """The trial is stopped where the series stands below this."""
    per: Literal["trial"] = "trial"
    """What is judged and stopped: trial."""
    share: Share = 0.0
    """Share of the trials after the first run that are expected to be cut off; 0 bills them all in full."""


class Pilots(Strict):
    """Small controlled runs before the job: they find a group size or prove a change."""

    runs: Whole
    """How many."""
    share: Annotated[float, Number(0.0, 1.0, low_open=True, example="0.05")]
    """Length of one, as a share of a run of the job."""
    before_deadline: Switch = False
    """Their hours, one after the other, count within the deadline."""
