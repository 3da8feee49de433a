"""What a plan rests on: catalogs, prices, calibration."""

from __future__ import annotations

from rlopt.strict import Strict


class CatalogUsed(Strict):
    """A catalog and the day it speaks of."""

    name: str
    as_of: str


class PriceUsed(Strict):
    """A price the bill rests on."""

    offer: str
    usd_per_hour: float | None
    source: str
    as_of: str
    usd: float | None = None
    """The price where it is not hourly, in ``unit``."""
    unit: str = "USD/h"
    low: float | None = None
    high: float | None = None
    """Band over the region's zones of a spot price."""
    grade: str | None = None
    confidence: str | None = None


class ErrorBand(Strict):
    """How far the predictions may be off."""

    time: float
    """One log-sigma of the predicted hours."""
    memory: float
    """Share of memory kept free for the memory model's own error."""


class PlanProvenance(Strict):
    """What the plan rests on."""

    catalogs: list[CatalogUsed]
    prices: list[PriceUsed]
    calibration: str
    error_band: ErrorBand
