"""Prices of traffic, in bands by the month's volume."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import Row, Table, cell, iso_date, join, read

COLUMNS = ("provider", "region", "kind", "service", "bands", "currency", "as_of", "source", "note")
KEY = ("provider", "region", "kind", "tier_up_to_gb_month")
#: Kind as collected -> kinds of the catalog, service (empty = machines), factor on the price.
KINDS: dict[str, tuple[tuple[str, ...], str, float]] = {
    "internet egress": (("egress_internet",), "", 1.0),
    "internet egress (premium tier)": (("egress_internet",), "", 1.0),
    "egress": (("egress_internet",), "", 1.0),
    "egress and ingress": (("egress_internet", "ingress"), "", 1.0),
    "Droplet egress above the plan allowance": (("egress_internet",), "", 1.0),
    "cross-region": (("cross_region",), "", 1.0),
    "cross-AZ (intra-region), each direction": (("cross_zone",), "", 2.0),
    "Cloud Storage egress worldwide": (("egress_internet",), "Cloud Storage", 1.0),
    "Object Storage Standard egress": (("egress_internet",), "Object Storage Standard", 1.0),
    "Object Storage Enhanced Throughput egress": (
        ("egress_internet",),
        "Object Storage Enhanced Throughput",
        1.0,
    ),
    "Object Storage egress above the included 1000 GB": (("egress_internet",), "Object Storage", 1.0),
    "Spaces egress above the included 1 TB": (("egress_internet",), "Spaces", 1.0),
}


def _bound(row: Row) -> float:
    return float(row["tier_up_to_gb_month"] or "inf")


def build(folder: Path) -> Table:
    """Build the traffic catalog.

    Free monthly allowances are not bands: a running account has used them up. Traffic between zones is
    charged on both sides, so a byte that crosses pays twice.
    """
    table = Table("traffic.csv", COLUMNS)
    rows: dict[tuple[str, ...], Row] = {}
    for name in ("network_prices.csv", "network_patch.csv"):
        rows.update({tuple(row[key] for key in KEY): row for row in read(folder, name)})
    groups: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in rows.values():
        if row["kind"] not in KINDS:
            table.leave_out("traffic of a kind that no plan has (gateways, peering, single routes)")
            continue
        kinds, service, _ = KINDS[row["kind"]]
        for kind in kinds:
            groups[row["provider"], region_of(row["region"]), kind, service].append(row)
    for (provider, region, kind, service), members in sorted(groups.items()):
        members.sort(key=_bound)
        factor = KINDS[members[0]["kind"]][2]
        bands = ((row["tier_up_to_gb_month"], cell(float(row["price_per_gb"]) * factor)) for row in members)
        dates = sorted(iso_date(row["as_of"]) for row in members)
        note = join(*dict.fromkeys(row["notes"] for row in members if row["notes"] and "/" not in row["notes"]))
        table.rows.append(
            {
                "provider": provider,
                "region": region,
                "kind": kind,
                "service": service,
                "bands": "|".join(f"{bound}:{price}" for bound, price in bands),
                "currency": members[0]["currency"],
                "as_of": dates[0],
                "source": members[0]["source"],
                "note": join("both directions together" if factor != 1.0 else "", note),
            }
        )
    return table
