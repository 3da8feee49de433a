"""Prices of bytes that leave, cross or enter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """Price of one kind of traffic.

    Parameters
    ----------
    provider, region
        Whose network, from where; a region of ``None`` holds for all.
    kind
        ``egress_internet``, ``cross_region``, ``cross_zone`` or ``ingress``.
    bands
        ``(up_to_gb, price_per_gb)`` by cumulated GB of a month, rising; the last bound may be ``None``.
    service
        Empty for machines; a service name when only that service's traffic has this price.
    """

    provider: str
    region: str | None
    kind: str
    bands: tuple[tuple[float | None, float], ...]
    currency: str
    as_of: str
    source: str
    service: str = ""
    note: str = ""

    def price(self, size_gb: float) -> float:
        """Price of `size_gb` GB in one month, in `currency`; beyond the last bound its price goes on."""
        total, below = 0.0, 0.0
        for upper, per_gb in self.bands:
            top = size_gb if upper is None else min(size_gb, upper)
            total += max(top - below, 0.0) * per_gb
            below = max(below, top)
        return total + (size_gb - below) * self.bands[-1][1]
