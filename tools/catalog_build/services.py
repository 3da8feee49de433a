"""Logging, caches and databases, and commitments."""

from __future__ import annotations

import re
from pathlib import Path

from rlopt.units import GIB, GIGA, HOURS_PER_DAY, HOURS_PER_MONTH, HOURS_PER_YEAR, MIB
from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import UNDATED, Row, Table, cell, iso_date, read, slug

LOG_COLUMNS = (
    "id",
    "provider",
    "service",
    "item",
    "ingest_per_gb",
    "retention_gb_month",
    "included_days",
    "metric_month",
    "metric_per_gb",
    "currency",
    "region",
    "confidence",
    "as_of",
    "source",
    "note",
)
#: Collected item -> what it prices, days included. Storage of a service goes with each of its ways in.
LOG_ITEMS: dict[tuple[str, str], tuple[str, str]] = {
    ("aws", "ingest Standard"): ("ingest", ""),
    ("aws", "ingest Infrequent Access class"): ("ingest", ""),
    ("aws", "archive storage"): ("retention", ""),
    ("aws", "custom metric, first 10k"): ("metric", ""),
    ("gcp", "ingest (30 days kept)"): ("ingest", "30"),
    ("gcp", "retention beyond 30 days"): ("retention", ""),
    ("gcp", "metric data, first 100k MiB"): ("metric", ""),
    ("azure", "ingest PAYG"): ("ingest", ""),
    ("azure", "basic logs ingest"): ("ingest", ""),
    ("azure", "archive"): ("retention", ""),
    ("datadog", "ingest"): ("ingest", ""),
}
WEAK = re.compile(r"generated sweep|placeholder")
CACHE_COLUMNS = (
    "id",
    "provider",
    "service",
    "item",
    "kind",
    "memory_gib",
    "vcpus",
    "price_per_hour",
    "per_gib_hour",
    "currency",
    "region",
    "confidence",
    "as_of",
    "source",
    "note",
    "ops_per_second",
)
COMMITMENT_COLUMNS = (
    "id",
    "provider",
    "kind",
    "family",
    "gpus",
    "term_hours",
    "price_per_hour",
    "on_demand_per_hour",
    "discount",
    "currency",
    "as_of",
    "source",
    "note",
)
TERM_HOURS = {
    "day": HOURS_PER_DAY,
    "week": 7 * HOURS_PER_DAY,
    "month": HOURS_PER_MONTH,
    "3month": 3 * HOURS_PER_MONTH,
    "6month": 6 * HOURS_PER_MONTH,
    "year": HOURS_PER_YEAR,
    "1yr": HOURS_PER_YEAR,
    "2year": 2 * HOURS_PER_YEAR,
    "3year": 3 * HOURS_PER_YEAR,
    "3yr": 3 * HOURS_PER_YEAR,
}


def confidence(row: Row) -> str:
    """Trust in a row: low where its own text says it is weak, medium where undated, else high."""
    if WEAK.search(f"{row['source']} {row['notes']}"):
        return "low"
    return "medium" if iso_date(row["as_of"]) == UNDATED else "high"


def logging(folder: Path) -> Table:
    """Build the logging catalog; prices per GiB are turned into prices per GB."""
    table = Table("logging.csv", LOG_COLUMNS)
    rows = read(folder, "logging_prices.csv")
    kept: dict[str, float] = {}
    for row in rows:
        if LOG_ITEMS.get((row["provider"], row["item"]), ("",))[0] == "retention":
            kept[row["provider"]] = _per_gb(row)
    for row in rows:
        what, days = LOG_ITEMS.get((row["provider"], row["item"]), ("", ""))
        if not what:
            table.leave_out("logging item in a unit that no plan has (events, hosts, scans, fees)")
        if what not in ("ingest", "metric"):
            continue
        ingest = what == "ingest"
        table.rows.append(
            {
                "id": "/".join((row["provider"], slug(row["service"]), slug(row["item"]))),
                "provider": row["provider"],
                "service": row["service"],
                "item": row["item"],
                "ingest_per_gb": cell(_per_gb(row) if ingest else None),
                "retention_gb_month": cell(kept.get(row["provider"]) if ingest else None),
                "included_days": days,
                "metric_month": cell(None if ingest or "MiB" in row["unit"] else float(row["price"])),
                "metric_per_gb": cell(_per_gb(row) if not ingest and "MiB" in row["unit"] else None),
                "currency": row["currency"],
                "region": region_of(row["region"]),
                "confidence": confidence(row),
                "as_of": iso_date(row["as_of"]),
                "source": row["source"],
                "note": row["notes"],
            }
        )
    table.rows.sort(key=lambda row: str(row["id"]))
    return table


def _per_gb(row: Row) -> float:
    """Turn a price per GB, GiB or MiB into one per GB of 1e9 bytes."""
    unit = next((size for name, size in (("GiB", GIB), ("MiB", MIB)) if name in row["unit"]), GIGA)
    return float(row["price"]) * GIGA / unit


def caches(folder: Path) -> Table:
    """Build the catalog of managed caches and databases by the hour, with the sizes and speeds that are published.

    Where a cache is sold as several nodes (a primary and its replica), its price is that of all of them.
    """
    table = Table("caches.csv", CACHE_COLUMNS)
    facts = {(row["provider"], row["service"], row["item"]): row for row in read(folder, "cache_facts.csv")}
    for row in read(folder, "cache_db_prices.csv"):
        if row["unit"] not in ("per hour", "per GB-hour"):
            table.leave_out("cache or database item in a unit that no plan has (requests, storage, cores)")
            continue
        by_size = row["unit"] == "per GB-hour"
        size = re.search(r"\((\d+) GB\)", row["item"])
        region = region_of(row["region"])
        known = facts.get((row["provider"], row["service"], row["item"]))
        nodes = float(known["nodes"]) if known else 1.0
        table.rows.append(
            {
                "id": "/".join((row["provider"], region or "any", slug(row["service"]), slug(row["item"]))),
                "provider": row["provider"],
                "service": row["service"],
                "item": row["item"],
                "kind": "cache" if "redis" in row["service"].lower() else "database",
                "memory_gib": size[1] if size else known["memory_gib"] if known else "",
                "vcpus": "",
                "price_per_hour": "" if by_size else cell(float(row["price"]) * nodes),
                "per_gib_hour": row["price"] if by_size else "",
                "currency": row["currency"],
                "region": region,
                "confidence": confidence(row),
                "as_of": iso_date(row["as_of"]),
                "source": row["source"],
                "note": row["notes"] + (_speed(known) if known else ""),
                "ops_per_second": known["ops_per_second"] if known else "",
            }
        )
    table.rows.sort(key=lambda row: str(row["id"]))
    return table


def _speed(known: Row) -> str:
    """Say what a published size and speed is of."""
    return f"; the price of {known['nodes']} nodes; size and speed of {known['as_of']}: {known['source']}"


def commitments(folder: Path) -> Table:
    """Build the catalog of discounts for a promise; interruption bands go to the reliability catalog."""
    table = Table("commitments.csv", COMMITMENT_COLUMNS)
    seen: dict[str, int] = {}
    for row in read(folder, "commitments.csv"):
        term = TERM_HOURS.get(row["term"].split(" ")[0] if row["term"] else "")
        if row["interruption_band"]:
            continue
        if row["kind"].startswith("up to") or not (row["price_usd_hour"] or row["discount_pct"]):
            table.leave_out("commitment without a figure of its own (headline maximum, rule, start price)")
            continue
        if float(row["discount_pct"] or 0) < 0:
            table.leave_out("commitment dearer than on demand")
            continue
        name = "/".join((row["provider"], slug(row["kind"]), slug(row["family"]) or "any", row["gpu_count"] or "any"))
        name = f"{name}/{slug(row['term']) or 'any'}"
        seen[name] = seen.get(name, 0) + 1
        table.rows.append(
            {
                "id": name if seen[name] == 1 else f"{name}/{seen[name]}",
                "provider": row["provider"],
                "kind": row["kind"],
                "family": row["family"],
                "gpus": row["gpu_count"],
                "term_hours": cell(term),
                "price_per_hour": row["price_usd_hour"],
                "on_demand_per_hour": row["ondemand_usd_hour"],
                "discount": cell(float(row["discount_pct"]) / 100.0 if row["discount_pct"] else None),
                "currency": row["currency"],
                "as_of": iso_date(row["as_of"]),
                "source": row["source"],
                "note": row["notes"],
            }
        )
    table.rows.sort(key=lambda row: str(row["id"]))
    return table
