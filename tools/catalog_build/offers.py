"""Prices: one row per machine, region and way of paying; spot is the median over a region's zones."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from rlopt.units import HOURS_PER_DAY, HOURS_PER_YEAR
from tools.catalog_build import shapes
from tools.catalog_build.origins import Origins
from tools.catalog_build.regions import region_of
from tools.catalog_build.tables import UNDATED, Row, Table, iso_date, join, read

COLUMNS = (
    "id",
    "shape",
    "region",
    "zone",
    "pricing",
    "term_hours",
    "price_per_hour",
    "currency",
    "price_low",
    "price_high",
    "zones",
    "grade",
    "confidence",
    "as_of",
    "source",
    "note",
)
#: pricing of the collection -> pricing, word in the id, billed term
TERMS: dict[str, tuple[str, str, float | None]] = {
    "on_demand": ("on_demand", "on_demand", None),
    "spot": ("spot", "spot", None),
    "reserved_1y": ("reserved", "reserved-1y", HOURS_PER_YEAR),
    "reserved_3y": ("reserved", "reserved-3y", 3 * HOURS_PER_YEAR),
    "capacity_block": ("reserved", "reserved-block", HOURS_PER_DAY),
}
BLOCK_NOTE = "capacity block: booked ahead, prepaid, in whole days"
#: Currencies in which offers are carried; others are counted and left out.
CURRENCIES = {"USD", "CNY"}
#: Spot at or above this share of the on-demand price is a zone without a spot market.
SPOT_SHARE = 0.99
#: AWS availability zones by id (use1-az1); local zones have a place name inside (use1-atl2-az1).
REGULAR_ZONE = re.compile(r"[a-z]+\d?-az\d+\Z")
CONFIDENCES = ("low", "medium", "high")


def offer_id(provider: str, region: str, zone: str, instance_type: str, pricing: str) -> str:
    """Name an offer."""
    return "/".join((provider, region or "any", zone or "any", instance_type, TERMS[pricing][1]))


def _plain(offer: Row, source: str, zone: str = "") -> dict[str, object]:
    region = region_of(offer["region"])
    pricing, _, term = TERMS[offer["pricing"]]
    price = float(offer["price"])
    note = join(BLOCK_NOTE if offer["pricing"] == "capacity_block" else "", offer["reason"])
    if offer["region"] and not region:
        note = join(note, f"region as collected: {offer['region']}")
    return {
        "id": offer_id(offer["provider"], region, zone, offer["canonical_name"], offer["pricing"]),
        "shape": shapes.key(offer),
        "region": region,
        "zone": zone,
        "pricing": pricing,
        "term_hours": term,
        "price_per_hour": price,
        "currency": offer["currency"],
        "price_low": price,
        "price_high": price,
        "zones": 1,
        "grade": offer["grade"],
        "confidence": offer["confidence"],
        "as_of": iso_date(offer["as_of"]),
        "source": source,
        "note": note,
    }


def _median(rows: Sequence[dict[str, object]], offer: Row) -> dict[str, object]:
    """One offer for a region: the median price, the band, the weakest confidence, the oldest date.

    Where a dated price is known, undated ones of the same region have no say: they are older, and for new
    GPUs well below what the market asks.
    """
    rows = [row for row in rows if row["as_of"] != UNDATED] or rows
    prices = [float(str(row["price_per_hour"])) for row in rows]
    dates = sorted({str(row["as_of"]) for row in rows})
    note = str(rows[0]["note"]) if len(rows) == 1 else f"median over {len(rows)} zones; {rows[0]['note']}"
    return {
        **rows[0],
        "id": offer_id(offer["provider"], str(rows[0]["region"]), "", offer["canonical_name"], "spot"),
        "zone": "",
        "price_per_hour": statistics.median(prices),
        "price_low": min(prices),
        "price_high": max(prices),
        "zones": len(rows),
        "confidence": min((str(row["confidence"]) for row in rows), key=CONFIDENCES.index),
        "as_of": UNDATED if UNDATED in dates else dates[0],
        "note": note,
    }


def _wanted(folder: Path, machines: dict[str, int], refused: dict[str, str], table: Table) -> list[Row]:
    """Canonical rows that can become offers; the others are counted."""
    rows = []
    for offer in read(folder, "canonical_offers.csv"):
        if offer["currency"] not in CURRENCIES:
            table.leave_out(f"price in {offer['currency']}, a currency in doubt")
        elif shapes.key(offer) not in machines:
            table.leave_out(f"price of a {refused[shapes.key(offer)]}")
        else:
            rows.append(offer)
    return rows


def _on_demand(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """On-demand price by machine and region, and the lowest of any region under a blank one."""
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["pricing"] == "on_demand":
            price = float(row["price"])
            found[shapes.key(row), row["region"]] = price
            lowest = found.get((shapes.key(row), ""), price)
            found[shapes.key(row), ""] = min(price, lowest)
    return found


def build(folder: Path, machines: dict[str, int], refused: dict[str, str]) -> tuple[Table, Table, dict[str, str]]:
    """Build the offers, the zone offers, and one price source per machine.

    Parameters
    ----------
    machines
        Machine key to its number of GPUs, of the machines that may have an offer.
    refused
        Machine key to the reason why it may not.
    """
    table, zone_table = Table("offers.csv", COLUMNS), Table("zone_offers.csv", COLUMNS)
    wanted = _wanted(folder, machines, refused, table)
    on_demand, origins = _on_demand(wanted), Origins(folder)
    groups: dict[tuple[str, str], list[tuple[Row, dict[str, object]]]] = defaultdict(list)
    for offer in wanted:
        source = origins.source(offer, machines[shapes.key(offer)])
        if offer["pricing"] != "spot":
            table.rows.append(_plain(offer, source))
            continue
        regular = on_demand.get((shapes.key(offer), offer["region"])) or on_demand.get((shapes.key(offer), ""))
        if regular is not None and float(offer["price"]) >= SPOT_SHARE * regular:
            table.leave_out("spot price at the on-demand price: no spot market there")
        elif offer["zone"] and not REGULAR_ZONE.match(offer["zone"]):
            table.leave_out("spot price of a local zone")
        else:
            row = _plain(offer, source, offer["zone"])
            groups[shapes.key(offer), offer["region"]].append((offer, row))
            if offer["zone"]:
                zone_table.rows.append(row)
    table.rows.extend(_median([row for _, row in rows], rows[0][0]) for rows in groups.values())
    for result in (table, zone_table):
        result.rows.sort(key=lambda row: str(row["id"]))
    sources = {str(row["shape"]): str(row["source"]) for row in reversed(table.rows)}
    return table, zone_table, sources


def rejected(folder: Path) -> Table:
    """Build the evidence of prices that were not chosen, by the offer that replaced them."""
    table = Table("rejected_prices.csv", ("offer", "price", "currency", "as_of", "source", "reason"))
    for offer in read(folder, "canonical_offers.csv"):
        place = (offer["provider"], region_of(offer["region"]), offer["zone"], offer["canonical_name"])
        for text in filter(None, (part.strip() for part in offer["rejected"].split(";"))):
            match = re.match(r"([\d.]+)@(.+?)(?:\s+\((.*)\))?\Z", text)
            if match is None:
                message = f"rejected price in an unknown form: {text!r}"
                raise ValueError(message)
            table.rows.append(
                {
                    "offer": offer_id(*place, offer["pricing"]),
                    "price": float(match[1]),
                    "currency": offer["currency"],
                    "as_of": iso_date(match[2]),
                    "source": match[3] or "not named",
                    "reason": f"another price was chosen: {offer['reason']}",
                }
            )
    for doubt in read(folder, "doubtful.csv"):
        place = (doubt["provider"], region_of(doubt["region"]), doubt["zone"], doubt["instance_type"])
        for pricing, price in (("on_demand", doubt["price"]), ("spot", doubt["spot"])):
            if price:
                table.rows.append(
                    {
                        "offer": offer_id(*place, pricing),
                        "price": float(price),
                        "currency": "CNY" if doubt["file"] == "offers_cny.csv" else "USD",
                        "as_of": iso_date(doubt["as_of"]),
                        "source": doubt["source"] or "not named",
                        "reason": join(doubt["action"], doubt["reason"]),
                    }
                )
    table.rows.sort(key=lambda row: tuple(str(row[key]) for key in ("offer", "as_of", "price", "reason", "source")))
    return table
