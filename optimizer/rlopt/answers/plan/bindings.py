"""Limits that hold a plan, and changes that would make one possible."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rlopt.strict import Strict


class Binding(Strict):
    """A limit or floor that one unit tighter would exclude this plan."""

    constraint: str
    value: float
    limit: float
    unit: str
    usd_per_unit: float | None = None


class Relaxation(Strict):
    """One limit moved so far that a plan exists, and that plan's price and hours."""

    constraint: str
    from_: Any = Field(alias="from")
    to: Any
    unit: str
    total_usd: float
    hours: float

    model_config = {**Strict.model_config, "populate_by_name": True}
