"""Which logging service takes a run's logs, and what the way there costs: a pool's own provider's, or the one stated.

Inside one region of one provider logs travel free; to another region they pay the traffic between regions, to another
provider the traffic to the internet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlopt.facts import Traffic
from rlopt.market.services import Rate, leaving
from rlopt.request import Request

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
