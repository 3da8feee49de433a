"""Prices of services beside the machines: logging, caches, commitments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogPrice:
    """What a logging or monitoring service charges; ``None`` = not charged this way or not found.

    Parameters
    ----------
    provider, service, item
        Who, which product, which class of it.
    ingest_per_gb
        Per GB taken in.
    retention_gb_month
        Per GB kept for a month, beyond `included_days`.
    metric_month
        Per custom metric (time series) and month.
    metric_per_gb
        Per GB of metric values taken in.
    """

    id: str
    provider: str
    service: str
    item: str
    ingest_per_gb: float | None
    retention_gb_month: float | None
    included_days: float | None
    metric_month: float | None
    currency: str
    region: str | None
    confidence: str
    as_of: str
    source: str
    note: str = ""
    metric_per_gb: float | None = None


@dataclass(frozen=True, slots=True)
class CachePrice:
    """A managed cache or database by the hour.

    `memory_gib` and `vcpus` are ``None`` where the source gives no size; `per_gib_hour` is set where
    the service bills by size instead of by node. `ops_per_second`: reads and writes that one node carries.
    """

    id: str
    provider: str
    service: str
    item: str
    kind: str
    memory_gib: float | None
    vcpus: float | None
    price_per_hour: float | None
    per_gib_hour: float | None
    currency: str
    region: str | None
    confidence: str
    as_of: str
    source: str
    note: str = ""
    ops_per_second: float | None = None


@dataclass(frozen=True, slots=True)
class Commitment:
    """A discount for a promise: the share off the on-demand price for a term.

    `discount` is a share (0 to 1) where the source states one; the hourly prices stand beside it.
    """

    id: str
    provider: str
    kind: str
    family: str
    gpus: float | None
    term_hours: float | None
    price_per_hour: float | None
    on_demand_per_hour: float | None
    discount: float | None
    currency: str
    as_of: str
    source: str
    note: str = ""
