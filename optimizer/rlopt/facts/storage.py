"""Places to keep bytes: what they charge, and what is stated of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StorageTier:
    """One tier of one storage service.

    Parameters
    ----------
    kind
        ``object``, ``block``, ``hdd`` (a volume that no machine boots from), ``file`` or ``archive`` (an object tier
        whose bytes must be restored first).
    price_gb_month
        In `currency` per GB and month of 730 hours.
    retrieval_per_gb, put_per_1000, get_per_1000
        In `currency`; 0 = free, ``None`` = not found.
    min_days
        Days that are billed at least.
    restore_hours
        Hours to the first byte; 0 for milliseconds.
    throughput_mb_s
        Cap of one client or volume, MB/s; ``None`` = no figure found.
    region
        ``None`` = the provider's price anywhere.
    """

    id: str
    provider: str
    region: str | None
    service: str
    tier: str
    kind: str
    price_gb_month: float
    currency: str
    retrieval_per_gb: float | None
    put_per_1000: float | None
    get_per_1000: float | None
    min_days: float
    restore_hours: float
    throughput_mb_s: float | None
    as_of: str
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """What is stated of a provider's service; None where nothing is."""

    encrypted: bool | None = None
    """At rest, without anything to be set up."""
    private: bool | None = None
    """Reachable without the public internet."""
