"""Storage tiers that a job can write to, with prices per GB (1e9 bytes) and month."""

from __future__ import annotations

import re
from pathlib import Path

from rlopt.units import GIB, GIGA, SECONDS_PER_HOUR, SECONDS_PER_MINUTE
from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import Row, Table, cell, iso_date, join, optional, read, slug

COLUMNS = (
    "id",
    "provider",
    "region",
    "service",
    "tier",
    "kind",
    "price_gb_month",
    "currency",
    "retrieval_per_gb",
    "put_per_1000",
    "get_per_1000",
    "min_days",
    "restore_hours",
    "throughput_mb_s",
    "as_of",
    "source",
    "note",
)
KEY = ("provider", "service", "tier", "region")
#: Words of tiers that charge for reading back; without that price they would look cheaper than they are.
COLD = re.compile(r"archive|cold|cool|infrequent|nearline|glacier|-ia\b", re.IGNORECASE)
#: Restore times that hold for small archives alone: AWS answers expedited retrievals in 1-5 minutes for all but the
#: largest archives (250 MB and more;
#: docs.aws.amazon.com/AmazonS3/latest/userguide/restoring-objects-retrieval-options.html).
SMALL_ONLY = re.compile(r"expedited", re.IGNORECASE)
#: Volumes that no machine boots from (docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html), or that GPU
#: machines do not: A3 takes balanced and SSD disks and Hyperdisk, no standard one
#: (cloud.google.com/compute/docs/accelerator-optimized-machines); of Hyperdisk the balanced kinds alone are boot disks
#: (cloud.google.com/compute/docs/disks/hd-types/hyperdisk-balanced).
NO_BOOT = (("aws", "st1"), ("aws", "sc1"), ("gcp", "pd-standard"), ("gcp", "extreme"))
#: Tiers that bytes move to by themselves; what is written stands in the hot one first.
FOLLOWS = re.compile(r"tier follows|last access|no access for|Intelligent")
_HOURS = re.compile(r"(?:[\d.]+-)?([\d.]+) (h|min)\b")


def merged(folder: Path) -> list[Row]:
    """Base rows, replaced or extended by the mending table, then single fields by the extra table."""
    rows = {tuple(row[key] for key in KEY): dict(row) for row in read(folder, "storage_prices.csv")}
    for row in read(folder, "storage_patch.csv"):
        rows[tuple(row[key] for key in KEY)] = dict(row)
    for row in read(folder, "storage_extra.csv"):
        target = rows[tuple(row[key] for key in KEY)]
        target[row["field"]] = row["value"]
        target["extra"] = join(target["extra"], f"{row['note']} ({row['source']})")
    return [rows[key] for key in sorted(rows)]


def restore_hours(text: str) -> float:
    """Hours to the first byte, the slow end of a range; 0 for milliseconds."""
    match = _HOURS.search(text)
    if match is None:
        return 0.0
    return float(match[1]) * (1.0 if match[2] == "h" else SECONDS_PER_MINUTE / SECONDS_PER_HOUR)


def refusal(row: Row) -> str:
    """Say why a collected row is no tier to write to; nothing where it is one."""
    words = f"{row['service']} {row['tier']}"
    reasons = (
        (not row["price_per_gb_month"], "storage tier without a price"),
        (row["kind"] not in ("object", "block", "file"), "local disk or cache, not kept storage"),
        ("add-on" in words or "snapshot" in words, "storage add-on or snapshot, nothing to write to"),
        ("beyond" in row["tier"], "storage price that holds beyond a first volume only"),
        (
            bool(FOLLOWS.search(f"{row['tier']} {row['extra']}")) and row["tier"] != "Hot",
            "storage tier that follows the last access and can't be chosen",
        ),
        ("Archive" in words and not row["first_byte_or_restore"], "archive tier without a restore time"),
        (bool(SMALL_ONLY.search(row["tier"])), "archive tier whose restore time holds for objects under 250 MB only"),
        (
            row["kind"] == "object" and bool(COLD.search(words)) and not row["retrieval_per_gb"],
            "cold tier without a retrieval price",
        ),
    )
    return next((reason for applies, reason in reasons if applies), "")


def build(folder: Path) -> Table:
    """Build the storage catalog; prices per GiB are turned into prices per GB."""
    table = Table("storage.csv", COLUMNS)
    for row in merged(folder):
        reason = refusal(row)
        if reason:
            table.leave_out(reason)
        else:
            table.rows.append(_tier(row))
    table.rows.sort(key=lambda row: str(row["id"]))
    return table


def _kind(row: Row, restore: float) -> str:
    """object, archive (restored first), block, hdd (a volume that no machine boots from) or file."""
    if row["kind"] == "object" and restore > 0.0:
        return "archive"
    return "hdd" if (row["provider"], row["tier"]) in NO_BOOT else row["kind"]


def _tier(row: Row) -> dict[str, object]:
    region, restore = region_of(row["region"]), restore_hours(row["first_byte_or_restore"])
    binary = "per GiB" in row["extra"] or "/GiB" in row["extra"]
    price = float(row["price_per_gb_month"]) / (GIB / GIGA if binary else 1.0)
    throughput = row["throughput_cap_mbps"]
    return {
        "id": "/".join((row["provider"], region or "any", slug(row["service"]), slug(row["tier"]) or "standard")),
        "provider": row["provider"],
        "region": region,
        "service": row["service"],
        "tier": row["tier"] or "standard",
        "kind": _kind(row, restore),
        "price_gb_month": price,
        "currency": row["currency"],
        "retrieval_per_gb": row["retrieval_per_gb"],
        "put_per_1000": row["put_per_1000"],
        "get_per_1000": row["get_per_1000"],
        "min_days": cell(optional(row["min_duration_days"]) or 0.0),
        "restore_hours": restore,
        "throughput_mb_s": throughput if throughput.isdigit() else "",
        "as_of": iso_date(row["as_of"]),
        "source": row["source"],
        "note": join(row["extra"], "" if throughput.isdigit() else f"throughput {throughput}" if throughput else ""),
    }
