"""How fast a mounted file system or a volume reads, and what more of that costs."""

from __future__ import annotations

from pathlib import Path

from rlopt.units import GIB, GIGA, KIB, KILO, MEGA, MIB
from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import Row, Table, iso_date, optional, read, slug

COLUMNS = (
    "id",
    "included_mb_s",
    "mb_s_per_gb",
    "most_mb_s",
    "most_mb_s_per_node",
    "least_gb",
    "step_gb",
    "most_gb",
    "price_mb_s_month",
    "included_iops",
    "iops_per_gb",
    "price_iops_month",
    "io_kb",
    "currency",
    "as_of",
    "source",
    "note",
)
GIB_PER_TIB = 1024.0


def build(folder: Path) -> Table:
    """Build the catalog of speeds; MiB/s, GiB and TiB of the sources are turned into MB/s and GB, their prices too."""
    table = Table("storage_speed.csv", COLUMNS)
    table.rows = sorted((_speed(row) for row in read(folder, "storage_speed.csv")), key=lambda row: str(row["id"]))
    return table


def _speed(row: Row) -> dict[str, object]:
    rate = {"MB": 1.0, "MiB": MIB / MEGA}[row["unit"]]
    per_gib, size = GIGA / GIB, GIB / GIGA
    place = (row["provider"], region_of(row["region"]) or "any", slug(row["service"]), slug(row["tier"]))
    return {
        "id": "/".join(place),
        "included_mb_s": _times(row["included"], rate),
        "mb_s_per_gb": _times(row["per_tib"], rate / GIB_PER_TIB * per_gib),
        "most_mb_s": _times(row["most"], rate),
        "most_mb_s_per_node": _times(row["most_per_node"], rate),
        "least_gb": _times(row["least_gib"], size),
        "step_gb": _times(row["step_gib"], size),
        "most_gb": _times(row["most_gib"], size),
        "price_mb_s_month": _times(row["price_per_mb_s_month"], 1.0 / rate),
        "included_iops": row["included_iops"],
        "iops_per_gb": _times(row["iops_per_gib"], per_gib),
        "price_iops_month": row["price_per_iops_month"],
        "io_kb": _times(row["io_kib"], KIB / KILO),
        "currency": row["currency"],
        "as_of": iso_date(row["as_of"]),
        "source": row["source"],
        "note": row["note"],
    }


def _times(text: str, factor: float) -> object:
    value = optional(text)
    return "" if value is None else value * factor
