"""From priced rows to offers: one of each machine, region and way of paying; spot is the median of a region's zones."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rlopt.facts import Catalog, Offer, Shape
from rlopt.pricelists.cells import CellError
from rlopt.pricelists.contract import Defaults, LeftOut, PriceList, StatedPrice
from rlopt.pricelists.formats import format_of
from rlopt.pricelists.machines import KnownMachines
from rlopt.pricelists.table import PriceTable
from rlopt.units import HOURS_PER_DAY, HOURS_PER_YEAR

TERMS: Final = {HOURS_PER_YEAR: "reserved-1y", 3 * HOURS_PER_YEAR: "reserved-3y", HOURS_PER_DAY: "reserved-block"}
"""Words of the shipped catalogs for the usual terms, in hours."""
_LOCAL: Final = re.compile(r"[a-z]+\d?-(?!az)[a-z]+\d*-az\d+\Z")
"""An AWS local zone has a place name inside (use1-atl2-az1)."""


def price_list(table: PriceTable, defaults: Defaults, catalog: Catalog, name: str) -> PriceList:
    """Turn a table into offers of machines; what gives none is named.

    Raises
    ------
    InputError
        When its columns are of no known format, or the format cannot be read without more being said.
    """
    chosen = format_of(table)
    priced, left_out = chosen.read(table, defaults)
    left_out += [
        LeftOut(table.file, line, "", "", f"{cells} cells, the header has {len(table.columns)}", torn=True)
        for line, cells in table.torn
    ]
    machines = KnownMachines.of(catalog)
    offers, zoned, refused = (
        _own(priced, machines, catalog, table) if chosen.OWN else _public(priced, machines, catalog, table)
    )
    left_out += refused
    made = (*offers, *zoned)
    return PriceList(
        name=name,
        format=chosen.NAME,
        source=defaults.source,
        as_of=max((one.as_of for one in made), default=defaults.as_of),
        own=chosen.OWN,
        rows=len(table.rows) + len(table.torn),
        offers=tuple(sorted(offers, key=lambda one: one.id)),
        zone_offers=tuple(sorted(zoned, key=lambda one: one.id)),
        left_out=tuple(sorted(left_out, key=lambda one: one.line)),
    )


def _own(
    priced: Sequence[StatedPrice], machines: KnownMachines, catalog: Catalog, table: PriceTable
) -> tuple[list[Offer], list[Offer], list[LeftOut]]:
    """One offer a row, as it is paid."""
    made: dict[str, tuple[int, Offer]] = {}
    refused: list[LeftOut] = []
    for row in priced:
        try:
            offer = _offer(row, machines.find(row, own=True), catalog)
            offer = replace(offer, grade="list", net=True, most_nodes=row.max_machines)
            if offer.id in made:
                raise CellError("", "", f"the same offer as line {made[offer.id][0]}")
            made[offer.id] = row.line, offer
        except CellError as error:
            refused.append(error.at(table.file, row.line))
    offers = [offer for _, offer in made.values()]
    zoned = [offer for offer in offers if offer.zone is not None and offer.pricing == "spot"]
    return [offer for offer in offers if offer not in zoned], zoned, refused


def _public(
    priced: Sequence[StatedPrice], machines: KnownMachines, catalog: Catalog, table: PriceTable
) -> tuple[list[Offer], list[Offer], list[LeftOut]]:
    """Offers of regions, and of zones for spot: the median of the zones, or the highest price where it is listed."""
    groups: dict[tuple[str, str | None, str], list[Offer]] = defaultdict(list)
    refused: list[LeftOut] = []
    for row in priced:
        try:
            if row.zone and _LOCAL.match(row.zone):
                raise CellError("AvailabilityZone", row.zone, "a local zone, which serves no cluster")
            offer = _offer(row, machines.find(row, own=False), catalog)
            offer = replace(offer, confidence="medium")
            groups[offer.shape.key, offer.region, offer.pricing].append(offer)
        except CellError as error:
            refused.append(error.at(table.file, row.line))
    offers = [_of_region(group) for group in groups.values()]
    zoned = {one.id: one for group in groups.values() for one in group if one.pricing == "spot" and one.zone}
    return offers, list(zoned.values()), refused


def _of_region(group: Sequence[Offer]) -> Offer:
    prices = [one.price_per_hour for one in group]
    first = group[0]
    spot = first.pricing == "spot"
    price = statistics.median(prices) if spot else max(prices)
    many = f"median over {len(group)} zones" if spot else f"the highest of {len(group)} zones"
    return replace(
        first,
        id=offer_id(first.shape, first.region, None, first.pricing, first.term_hours),
        zone=None,
        price_per_hour=price,
        price_low=min(prices),
        price_high=max(prices),
        zones=len(group),
        note=many if len(set(prices)) > 1 else first.note,
    )


def offer_id(shape: Shape, region: str | None, zone: str | None, pricing: str, term_hours: float | None) -> str:
    """Name an offer as the shipped catalogs do."""
    word = pricing if term_hours is None else TERMS.get(term_hours, f"reserved-{term_hours:g}h")
    return "/".join((shape.provider, region or "any", zone or "any", shape.instance_type, word))


def _offer(row: StatedPrice, shape: Shape, catalog: Catalog) -> Offer:
    return Offer(
        id=offer_id(shape, row.region, row.zone, row.pricing, row.term_hours),
        shape=shape,
        provider=shape.provider,
        region=row.region,
        zone=row.zone,
        country=catalog.country(shape.provider, row.region),
        pricing=row.pricing,
        term_hours=row.term_hours,
        price_per_hour=row.price_per_hour,
        currency=row.currency,
        price_low=row.price_per_hour,
        price_high=row.price_per_hour,
        zones=1,
        grade=shape.grade,
        confidence="high",
        as_of=row.as_of,
        source=row.source,
        note=row.note,
    )
