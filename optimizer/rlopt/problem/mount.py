"""Stores that are mounted while a job runs, as they are priced and as they are bought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlopt.facts import StorageSpeed

SHARED: Final = "filesystem"
"""The store that all machines mount together; a volume belongs to one of them."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One tier that may be mounted in a zone. Prices in USD by the hour."""

    name: str
    usd_gb_hour: float
    usd_mb_s_hour: float | None
    """One MB/s beyond what is included; None where it comes with size alone."""
    usd_iops_hour: float
    """One operation a second beyond what is included; 0 where none is charged."""
    speed: StorageSpeed
    source: str
    as_of: str
    note: str = ""
    """Whose price stands in for the pool's region."""


@dataclass(frozen=True, slots=True)
class Bought:
    """One file system or volume as it is provisioned."""

    mount: Mount
    gb: float
    mb_s: float
    """Throughput that it reads at."""
    paid_mb_s: float
    """Part of it that is billed beside the size."""
    paid_iops: float
    usd_per_hour: float
