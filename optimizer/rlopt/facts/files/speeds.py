"""Rows of how fast stores read."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import StorageSpeed
from rlopt.facts.files.cells import Row, date, number


def storage_speed(row: Row, sources: Mapping[str, str]) -> StorageSpeed:
    """Read the speed of one tier; what is blank is none where nothing can be included, else unknown."""
    return StorageSpeed(
        id=row["id"],
        included_mb_s=number(row["included_mb_s"]) or 0.0,
        mb_s_per_gb=number(row["mb_s_per_gb"]) or 0.0,
        most_mb_s=number(row["most_mb_s"]),
        most_mb_s_per_node=number(row["most_mb_s_per_node"]),
        least_gb=number(row["least_gb"]) or 0.0,
        step_gb=number(row["step_gb"]) or 0.0,
        most_gb=number(row["most_gb"]),
        price_mb_s_month=number(row["price_mb_s_month"]),
        included_iops=number(row["included_iops"]) or 0.0,
        iops_per_gb=number(row["iops_per_gb"]) or 0.0,
        price_iops_month=number(row["price_iops_month"]),
        io_kb=number(row["io_kb"]) or 0.0,
        currency=row["currency"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )
