"""Build ``catalogs/*.csv`` from ``catalogs/raw``.

Usage: ``python tools/build_catalogs.py [--out FOLDER] [--check]``. Without options the catalogs are written
in place; ``--check`` writes nothing and fails when a catalog would change. The output depends on the raw
tables alone: no clock, no network, sorted rows.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "optimizer")]

from tools.catalog_build import (  # noqa: E402
    cpu,
    devices,
    models,
    offers,
    regions,
    reliability,
    services,
    shapes,
    storage,
    storage_speed,
    traffic,
)
from tools.catalog_build.sources import source_keys  # noqa: E402
from tools.catalog_build.tables import UNDATED, Table, render  # noqa: E402

RAW = ROOT / "catalogs" / "raw"
#: Evidence and look-up tables whose source cells are short already.
OWN_SOURCES = ("rejected_prices.csv",)


def collect(raw: Path) -> list[Table]:
    """Build every catalog from one folder of raw tables."""
    device_table = devices.build(raw)
    names = {str(row["name"]) for row in device_table.rows}
    machines, refused = shapes.candidates(raw, names)
    offer_table, zone_table, machine_sources = offers.build(raw, machines, refused)
    shape_table = shapes.build(raw, names, machine_sources)
    gpu_of = {str(row["key"]): str(row["device"]) for row in shape_table.rows}
    cpu_table, storage_table, traffic_table = cpu.build(raw), storage.build(raw), traffic.build(raw)
    provider_of = {str(row["key"]): str(row["provider"]) for row in shape_table.rows}
    places = {
        (str(row.get("provider") or provider_of[str(row["shape"])]), str(row["region"]))
        for table in (offer_table, zone_table, cpu_table, storage_table, traffic_table)
        for row in table.rows
    }
    return [
        device_table,
        shape_table,
        offer_table,
        zone_table,
        cpu_table,
        storage_table,
        storage_speed.build(raw),
        traffic_table,
        services.logging(raw),
        services.caches(raw),
        services.commitments(raw),
        reliability.build(raw, gpu_of),
        regions.build(raw, places),
        *models.build(raw),
        offers.rejected(raw),
    ]


def _provenance(table: Table) -> dict[str, object]:
    """One line on a catalog: its newest date, rows and main sources."""
    dates = sorted({str(row.get("as_of", "")) for row in table.rows} - {"", UNDATED})
    common = Counter(str(row["source"]).split("#")[0] for row in table.rows if "source" in row)
    top = [name for name, _ in sorted(common.items(), key=lambda item: (-item[1], item[0]))[:3]]
    more = f" and {len(common) - 3} more" if len(common) > 3 else ""
    return {
        "name": table.name,
        "as_of": dates[-1] if dates else UNDATED,
        "rows": len(table.rows),
        "source": ", ".join(top) + more,
    }


def texts(raw: Path) -> dict[str, str]:
    """Render every catalog: file name to text."""
    tables = collect(raw)
    keyed = [table for table in tables if "source" in table.columns and table.name not in OWN_SOURCES]
    keys = source_keys(str(row["source"]) for table in keyed for row in table.rows)
    for table in keyed:
        for row in table.rows:
            row["source"] = keys[str(row["source"])]
    found = {table.name: render(table.columns, table.rows) for table in tables}
    sources = sorted(({"key": key, "source": text} for text, key in keys.items()), key=lambda row: row["key"])
    found["sources.csv"] = render(("key", "source"), sources)
    counts = [
        {"catalog": table.name, "reason": reason, "rows": number}
        for table in tables
        for reason, number in sorted(table.left_out.items())
    ]
    found["left_out.csv"] = render(("catalog", "reason", "rows"), counts)
    lines = sorted((_provenance(table) for table in tables), key=lambda row: str(row["name"]))
    found["provenance.csv"] = render(("name", "as_of", "rows", "source"), lines)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write the catalogs, or compare them with what stands there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--raw", type=Path, default=RAW, help="folder of raw tables")
    parser.add_argument("--out", type=Path, default=RAW.parent, help="folder to write to")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a catalog would change")
    options = parser.parse_args(arguments)
    stale = []
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in sorted(texts(options.raw).items()):
        path = options.out / name
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        stale.append(name)
        if not options.check:
            path.write_bytes(text.encode())
    sys.stdout.write(f"{'stale' if options.check else 'written'}: {', '.join(stale) or 'nothing'}\n")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
