"""The catalog items of gpuhunt, as CSV or JSON: a row for each machine and region or zone, on-demand or spot.

Fields of https://github.com/dstackai/gpuhunt, src/gpuhunt/_internal/models.py (read in November 2026); prices in USD.
"""

from __future__ import annotations

from typing import Final

from rlopt.pricelists import cells
from rlopt.pricelists.cells import CellError
from rlopt.pricelists.contract import Defaults, LeftOut, StatedPrice
from rlopt.pricelists.table import PriceTable

NAME: Final = "gpuhunt"
NEEDED: Final = ("instance_name", "location", "price", "gpu_count", "gpu_name", "spot")
OWN: Final = False
PROVIDERS: Final = {"lambdalabs": "lambda", "vastai": "vast", "datacrunch": "verda"}
"""Its names for providers that the catalogs call otherwise."""
BY_ZONE: Final = frozenset(("gcp",))
"""Providers whose location is a zone: its region, a dash and a letter. Elsewhere it is a region."""
CALENDAR: Final = "gcp-dws-calendar-mode"
"""Flag of Google Cloud's rows for hours booked ahead; ``spot`` is false there (src/gpuhunt/providers/gcp.py)."""
COLUMNS: Final = {
    "instance_type": "instance_name",
    "gpu": "gpu_name",
    "gpus": "gpu_count",
    "region": "location",
    "provider": "provider",
}


def read(table: PriceTable, defaults: Defaults) -> tuple[list[StatedPrice], list[LeftOut]]:
    """Read the rows; raises InputError where the provider is not told."""
    if defaults.provider is None and "provider" not in table.columns:
        message = "the file does not say whose prices these are"
        raise table.refuse("", message, "a provider of rlopt catalog list", "add --provider NAME")
    return cells.read_rows(table, lambda line, row: iter([_priced(line, row, defaults)]))


def _priced(line: int, row: dict[str, str], defaults: Defaults) -> StatedPrice:
    given = cells.name(row, "provider") or defaults.provider
    if not given:
        raise CellError("provider", "", "does not say whose price this is")
    if not row["gpu_name"] or row["gpu_count"] in ("", "0", "0.0"):
        raise CellError("gpu_name", row["gpu_name"], "a machine without GPUs")
    if CALENDAR in row.get("flags", ""):
        raise CellError("flags", row["flags"], "a price of hours booked ahead (DWS calendar mode), not on demand")
    spot = {"true": True, "false": False}.get(row["spot"].lower())
    if spot is None:
        raise CellError("spot", row["spot"], "neither true nor false")
    price = cells.price(row, "price")
    if price is None:
        raise CellError("price", "", "no price")
    provider, place = PROVIDERS.get(given, given), cells.name(row, "location")
    zone = place if provider.lower() in BY_ZONE else ""
    return StatedPrice(
        line=line,
        provider=provider,
        instance_type=cells.name(row, "instance_name"),
        gpu=row["gpu_name"],
        gpus=cells.count(row, "gpu_count"),
        region=(zone.rpartition("-")[0] if zone else place) or None,
        zone=zone or None,
        pricing="spot" if spot else "on_demand",
        term_hours=None,
        price_per_hour=price,
        currency="USD",
        as_of=defaults.as_of,
        source=defaults.source,
        columns=COLUMNS,
    )
