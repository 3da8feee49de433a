"""Machines without a GPU, one row per price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.catalog_build.offers import SPOT_SHARE
from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import Row, Table, iso_date, read

COLUMNS = (
    "id",
    "provider",
    "region",
    "instance_type",
    "vcpus",
    "memory_gib",
    "pricing",
    "price_per_hour",
    "currency",
    "grade",
    "confidence",
    "as_of",
    "source",
)


def _prices(row: Row, table: Table) -> Iterator[tuple[str, float, str]]:
    """Prices of one collected row: pricing, figure, currency."""
    usd, cny = row["price_usd_hour"], row["price_cny_hour"]
    listed = float(usd or cny or 0.0)
    if listed > 0.0:
        yield "on_demand", listed, "USD" if usd else "CNY"
    else:
        table.leave_out("CPU machine without an on-demand price")
    if row["spot_usd_hour"]:
        spot = float(row["spot_usd_hour"])
        if listed > 0.0 and spot >= SPOT_SHARE * listed:
            table.leave_out("CPU spot price at the on-demand price")
        else:
            yield "spot", spot, "USD"


def build(folder: Path) -> Table:
    """Build the CPU catalog; of two prices for one thing the newest dated one stands, then the higher."""
    table = Table("cpu_offers.csv", COLUMNS)
    best: dict[str, dict[str, object]] = {}
    for row in read(folder, "cpu_offers.csv"):
        region = region_of(row["region"])
        if not (row["vcpus"] and row["memory_gib"]):
            table.leave_out("CPU machine without its cores or memory")
            continue
        for pricing, price, currency in _prices(row, table):
            name = "/".join((row["provider"], region or "any", row["instance_type"], pricing))
            made = {
                "id": name,
                "provider": row["provider"],
                "region": region,
                "instance_type": row["instance_type"],
                "vcpus": float(row["vcpus"]),
                "memory_gib": float(row["memory_gib"]),
                "pricing": pricing,
                "price_per_hour": price,
                "currency": currency,
                "grade": row["grade"],
                "confidence": row["confidence"],
                "as_of": iso_date(row["as_of"]),
                "source": row["source"],
            }
            if name in best:
                table.leave_out("older or lower price of the same CPU machine")
            if name not in best or _rank(made) > _rank(best[name]):
                best[name] = made
    table.rows = [best[name] for name in sorted(best)]
    return table


def _rank(row: dict[str, object]) -> tuple[str, float]:
    """Order by date (undated last), then by price."""
    as_of = str(row["as_of"])
    return ("" if as_of == "undated" else as_of, float(str(row["price_per_hour"])))
