"""The catalog files of SkyPilot: one provider a file, a row for each machine and zone, on-demand and spot side by side.

Layout of https://github.com/skypilot-org/skypilot-catalog, catalogs/v8/<cloud>/vms.csv (read in November 2026). GCP's
file lists hosts and GPUs as rows of their own; a host without its GPUs is no price of a machine and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlopt.pricelists import cells
from rlopt.pricelists.cells import CellError
from rlopt.pricelists.contract import Defaults, LeftOut, StatedPrice
from rlopt.pricelists.table import PriceTable

NAME: Final = "skypilot"
NEEDED: Final = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region")
OWN: Final = False
SPOT_SHARE: Final = 0.99
"""Spot at or above this share of the on-demand price is a zone without a spot market, as in the shipped catalogs."""
COLUMNS: Final = {
    "instance_type": "InstanceType",
    "gpu": "AcceleratorName",
    "gpus": "AcceleratorCount",
    "region": "Region",
    "provider": "InstanceType",
}


def read(table: PriceTable, defaults: Defaults) -> tuple[list[StatedPrice], list[LeftOut]]:
    """Read the rows; raises InputError where the provider is not told."""
    if defaults.provider is None:
        message = "the file does not say whose prices these are"
        raise table.refuse("", message, "a provider of rlopt catalog list", "add --provider NAME")
    return cells.read_rows(table, lambda line, row: _both(line, row, defaults))


def _both(line: int, row: dict[str, str], defaults: Defaults) -> Iterator[StatedPrice]:
    """The on-demand price of a row and its spot price; where the second cannot be used, the first still counts."""
    gpus = _gpus(row)
    regular = cells.price(row, "Price")
    if regular is not None:
        yield _priced(line, row, gpus, "on_demand", regular, defaults)
    spot = cells.price(row, "SpotPrice")
    if spot is not None and regular is not None and spot >= SPOT_SHARE * regular:
        raise CellError("SpotPrice", row["SpotPrice"], "spot at the on-demand price: no spot market there")
    if spot is not None:
        yield _priced(line, row, gpus, "spot", spot, defaults)
    if spot is None and regular is None:
        raise CellError("Price", "", "neither an on-demand nor a spot price")


def _gpus(row: dict[str, str]) -> int:
    if not row["InstanceType"]:
        raise CellError("InstanceType", "", "a GPU priced apart from its machine")
    if not row["AcceleratorName"]:
        raise CellError("AcceleratorName", "", "a machine without GPUs, or one whose GPUs are priced apart")
    gpus = cells.count(row, "AcceleratorCount")
    if gpus is None:
        raise CellError("AcceleratorCount", "", "does not say how many GPUs")
    return gpus


def _priced(line: int, row: dict[str, str], gpus: int, pricing: str, price: float, defaults: Defaults) -> StatedPrice:
    return StatedPrice(
        line=line,
        provider=defaults.provider or "",
        instance_type=cells.name(row, "InstanceType"),
        gpu=row["AcceleratorName"],
        gpus=gpus,
        region=cells.name(row, "Region") or None,
        zone=cells.name(row, "AvailabilityZone") or None,
        pricing=pricing,
        term_hours=None,
        price_per_hour=price,
        currency="USD",
        as_of=defaults.as_of,
        source=defaults.source,
        columns=COLUMNS,
    )
