"""How fast a mounted store reads, and what more of it costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StorageSpeed:
    """Throughput of one file system or one volume of a storage tier. All rates MB/s (1e6 bytes), sizes GB (1e9 bytes).

    Parameters
    ----------
    id
        The tier's in the storage catalog.
    included_mb_s, mb_s_per_gb
        What comes with the price of its size: a fixed part, and one that grows with the size.
    most_mb_s, most_mb_s_per_node
        Caps of the whole and of one machine that reads; ``None`` = no figure found.
    least_gb, step_gb, most_gb
        Smallest size; sizes beyond it are multiples of the step (0 = any); largest size, ``None`` = no figure found.
    price_mb_s_month
        In `currency` per MB/s beyond what is included, and month; ``None`` where throughput comes with size alone.
    included_iops, iops_per_gb, price_iops_month
        Operations a second included, fixed and by size, and the price of one more; ``None`` where none is charged.
    io_kb
        Largest operation that counts as one, kB; 0 where operations are not charged.
    """

    id: str
    included_mb_s: float
    mb_s_per_gb: float
    most_mb_s: float | None
    most_mb_s_per_node: float | None
    least_gb: float
    step_gb: float
    most_gb: float | None
    price_mb_s_month: float | None
    included_iops: float
    iops_per_gb: float
    price_iops_month: float | None
    io_kb: float
    currency: str
    as_of: str
    source: str
    note: str = ""
