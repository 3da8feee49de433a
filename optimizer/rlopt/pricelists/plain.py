"""A price list of one's own: a row for each offer that one has, or for each kind of machine that one owns.

| column | meaning |
|---|---|
| ``provider`` | who rents it out; a name of one's own for machines that one owns |
| ``instance_type`` | the machine's name; may be left out where ``gpu`` and ``gpus`` say enough |
| ``gpu``, ``gpus`` | GPU type as in ``rlopt catalog list devices``, and how many in one machine |
| ``region``, ``zone`` | empty: anywhere |
| ``pricing`` | on_demand (also when left out), spot, reserved |
| ``term_hours`` | hours that a reserved machine is billed at least, for example 8760 |
| ``price_per_hour``, ``currency`` | of one whole machine, as it is paid: no discount is taken off |
| ``as_of`` | the day of the price, 2026-11-30 |
| ``source``, ``note`` | where the price stands; anything else |
| ``max_machines`` | how many one can have at the same time |
| ``link`` | none, pcie, nvlink, nvswitch, nvl72: between the GPUs of a machine that no catalog knows |
| ``host_memory_gib``, ``vcpus``, ``local_disk_gib``, ``node_gbps`` | what else is known of such a machine |

A machine that one owns has the columns of `rlopt.pricelists.owned` in place of ``price_per_hour``.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from rlopt.errors import Complaint, InputError
from rlopt.pricelists import cells
from rlopt.pricelists.cells import CellError
from rlopt.pricelists.contract import Defaults, LeftOut, ListedMachine, StatedPrice
from rlopt.pricelists.owned import COLUMNS as OWNED
from rlopt.pricelists.owned import read_owned, states_owned
from rlopt.pricelists.table import PriceTable
from rlopt.words import Link, PricingKind

NAME: Final = "plain"
NEEDED: Final = ("currency", "as_of")
OWN: Final = True
COLUMNS: Final = (
    "provider",
    "instance_type",
    "gpu",
    "gpus",
    "region",
    "zone",
    "pricing",
    "term_hours",
    "price_per_hour",
    "currency",
    "as_of",
    "source",
    "note",
    "max_machines",
    "link",
    "host_memory_gib",
    "vcpus",
    "local_disk_gib",
    "node_gbps",
    *OWNED,
)
PLACES: Final = {name: name for name in ("instance_type", "gpu", "gpus", "region", "provider", "link")}


def read(table: PriceTable, defaults: Defaults) -> tuple[list[StatedPrice], list[LeftOut]]:
    """Read the rows; raises InputError for columns that nobody knows."""
    _check(table, defaults)
    return cells.read_rows(table, lambda line, row: iter([_priced(line, row, defaults)]))


def _check(table: PriceTable, defaults: Defaults) -> None:
    complaints = []
    for column in table.columns:
        if column not in COLUMNS:
            near = get_close_matches(column[:60], COLUMNS, 1, 0.6)
            fix = f"did you mean {near[0]}?" if near else "delete it"
            what = f"the column {column[:60]!r} is not known"
            complaints.append(Complaint(table.file, 1, column[:60], what, f"one of {', '.join(COLUMNS)}", fix))
    if "price_per_hour" not in table.columns and "capital" not in table.columns:
        fix = "add price_per_hour, or capital and the other figures of a machine of your own"
        complaints.append(Complaint(table.file, 1, "price_per_hour", "the column is missing", "a price", fix))
    if "provider" not in table.columns and defaults.provider is None:
        complaints.append(
            Complaint(table.file, 1, "provider", "the column is missing", "whose prices these are", "add it")
        )
    if complaints:
        raise InputError(complaints)


def _priced(line: int, row: dict[str, str], defaults: Defaults) -> StatedPrice:
    provider = cells.name(row, "provider") or defaults.provider
    if not provider:
        raise CellError("provider", "", "is empty: whose price is it?")
    pricing = row.get("pricing") or "on_demand"
    if pricing not in tuple(PricingKind):
        raise CellError("pricing", pricing, f"none of {', '.join(PricingKind)}")
    term = cells.number(row, "term_hours", least=1.0, most=1e6)
    if (pricing == "reserved") != (term is not None):
        reason = "is for reserved machines" if term is not None else "is empty: how many hours are billed at least?"
        raise CellError("term_hours", row.get("term_hours", ""), reason)
    link = row.get("link") or None
    if link is not None and link not in tuple(Link):
        raise CellError("link", link, f"none of {', '.join(Link)}")
    price, note = _price(row)
    return StatedPrice(
        line=line,
        provider=provider,
        instance_type=cells.name(row, "instance_type"),
        gpu=cells.name(row, "gpu"),
        gpus=cells.count(row, "gpus"),
        region=cells.name(row, "region") or None,
        zone=cells.name(row, "zone") or None,
        pricing=pricing,
        term_hours=term,
        price_per_hour=price,
        currency=cells.currency(row["currency"]),
        as_of=cells.day(row["as_of"]),
        source=row.get("source") or defaults.source,
        note="; ".join(filter(None, (row.get("note", ""), note))),
        machine=ListedMachine(
            link=link,
            vcpus=cells.number(row, "vcpus", most=1e5),
            host_memory_gib=cells.number(row, "host_memory_gib", most=1e6),
            local_disk_gib=cells.number(row, "local_disk_gib", most=1e8),
            node_gbps=cells.number(row, "node_gbps", most=1e6),
        ),
        max_machines=cells.count(row, "max_machines", most=1_000_000),
        columns=PLACES,
    )


def _price(row: dict[str, str]) -> tuple[float, str]:
    """Price of an hour, and how it came about where it is worked out."""
    price = cells.price(row, "price_per_hour")
    if states_owned(row):
        if price is not None:
            raise CellError("price_per_hour", row["price_per_hour"], "stands beside the figures of an own machine")
        owned = read_owned(row)
        return owned.price_per_hour(), str(owned)
    if price is None:
        raise CellError("price_per_hour", "", "no price")
    return price, ""
