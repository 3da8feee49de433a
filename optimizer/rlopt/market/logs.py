"""Which service takes a run's logs, what the way there costs, and how its metrics are billed.

The service is a pool's own provider's, or the one stated.

Inside one region of one provider logs travel free; to another region they pay the traffic between regions, to another
provider the traffic to the internet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlopt.facts import LogPrice, Operations, Traffic
from rlopt.market.services import Rate, leaving
from rlopt.problem.tariff import Metering
from rlopt.request import Request
from rlopt.units import HOURS_PER_DAY, HOURS_PER_MONTH

Place = tuple[str, str | None]
"""Provider and region."""


@dataclass(frozen=True, slots=True)
class LogRoute:
    """The logging service of pools in one zone, and the way to it."""

    provider: str
    region: str | None
    usd_per_gb: float
    """Traffic from the pools to that service."""
    beside: str
    """Provider of the pools."""
    egress_per_gb: float
    """Traffic from the pools to any other provider."""
    note: str = ""
    """How the way was found where a service is stated; empty where it is the pools' own."""

    def usd_to(self, owner: str) -> float:
        """USD per GB to the service of ``owner``, which stands in where a price is not known."""
        if owner == self.provider:
            return self.usd_per_gb
        return 0.0 if owner == self.beside else self.egress_per_gb


def log_route(request: Request, traffic: Sequence[Traffic], rate: Rate, place: Place, egress_per_gb: float) -> LogRoute:
    """The way from pools at ``place`` to ``costs.logs_to``, or to their own provider's service where none is stated.

    Where a provider states no traffic between its regions, that to the internet stands in.
    """
    (provider, region), to = place, request.costs.logs_to
    if to is None:
        return LogRoute(provider, region, 0.0, provider, egress_per_gb)
    at = f"{to.provider} {to.region}"
    if to.provider != provider:
        usd, note = egress_per_gb, f"to {at} over the internet"
    elif to.region == region:
        usd, note = 0.0, f"at {at}"
    else:
        across = leaving([row for row in traffic if row.provider == provider], "cross_region", region, rate)
        usd, note = (egress_per_gb, "as to the internet") if across is None else (across, "another region")
        note = f"to {at}, {note}"
    return LogRoute(to.provider, to.region, usd, provider, egress_per_gb, note)


def by_series(row: LogPrice, rate: Rate, operations: Operations, egress: float, note: str = "") -> Metering:
    """Metrics billed as such: by the month and series, or by the size of their values."""
    usd = rate(row.currency)
    month, gb = row.metric_month or 0.0, row.metric_per_gb or 0.0
    return Metering(
        name=row.id,
        usd_series_hour=month * usd / HOURS_PER_MONTH,
        usd_per_gb=gb * usd,
        usd_gb_hour=0.0,
        free_hours=0.0,
        point_bytes=operations.metric_value_bytes,
        egress_per_gb=egress,
        source=row.source,
        as_of=row.as_of,
        note=note,
    )


def as_log(row: LogPrice, rate: Rate, operations: Operations, egress: float, note: str = "") -> Metering:
    """Metrics written to the log as lines of text, where the provider has no price for them."""
    usd = rate(row.currency)
    return Metering(
        name=row.id,
        usd_series_hour=0.0,
        usd_per_gb=(row.ingest_per_gb or 0.0) * usd,
        usd_gb_hour=(row.retention_gb_month or 0.0) * usd / HOURS_PER_MONTH,
        free_hours=(row.included_days or 0.0) * HOURS_PER_DAY,
        point_bytes=operations.metric_line_bytes,
        egress_per_gb=egress,
        source=row.source,
        as_of=row.as_of,
        note=note,
    )
