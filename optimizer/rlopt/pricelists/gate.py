"""The sanity gate: what a fetched price list must not be before it takes the place of the one that is there.

A cost minimiser finds every wrong price, so a list is refused as a whole where one of its findings is serious; the
report names the rows, and ``--accept NAME`` takes it on purpose. Prices that no market has never enter at all.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlopt.facts import Catalog, Offer
from rlopt.pricelists.contract import PriceList

MOST_TIMES: Final = 10.0
"""A price that moves by this factor, up or down, is refused: spot moves by less, a slip of units by as much."""
MOST_VANISHED: Final = 0.2
"""Share of the offers that may be gone from one list to the next."""


@dataclass(frozen=True, slots=True)
class GateFinding:
    """One kind of trouble: what it is in words, and the rows or offers that show it."""

    what: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a new list is beside the old one."""

    findings: tuple[GateFinding, ...]
    """Empty: it may take the old one's place."""
    new: int
    gone: tuple[str, ...]
    changed: int
    biggest: str
    """The largest move of a price, in words; empty where none moved."""


def judge(new: PriceList, old: PriceList | None, catalog: Catalog, ends: bool) -> Verdict:
    """Compare a new list with the one it replaces, or with the shipped prices of the same machines.

    ``ends``: whether its file is known to be whole, or ends as files do.
    """
    prices = _prices(new)
    before = _prices(old) if old is not None else {}
    gone = tuple(sorted(before.keys() - prices.keys()))
    moves = _moves(prices, before) if old is not None else _beside_shipped(new, catalog)
    moved = [(times, text) for times, text in moves if abs(times - 1.0) > 1e-9]
    widest = max(moved, key=lambda move: max(move[0], 1.0 / move[0]), default=(1.0, ""))
    return Verdict(
        findings=tuple(_findings(new, before, gone, moved, ends)),
        new=len(prices.keys() - before.keys()),
        gone=gone,
        changed=len(moved) if old is not None else 0,
        biggest=widest[1],
    )


def _findings(
    new: PriceList,
    before: Mapping[str, tuple[float, str]],
    gone: Sequence[str],
    moved: Sequence[tuple[float, str]],
    ends: bool,
) -> list[GateFinding]:
    found = []
    bad = [str(row) for row in new.left_out if row.bad]
    if bad:
        found.append(GateFinding("prices that are no prices", tuple(bad)))
    torn = [str(row) for row in new.left_out if row.torn]
    if torn or not ends:
        found.append(GateFinding("the file breaks off in the middle", tuple(torn) or ("its last line has no end",)))
    if not new.offers and not new.zone_offers:
        found.append(GateFinding("no offer at all", tuple(map(str, new.left_out[:3])) or (f"{new.rows} rows",)))
    jumps = [text for times, text in moved if max(times, 1.0 / times) >= MOST_TIMES]
    if jumps:
        found.append(GateFinding(f"prices that moved {MOST_TIMES:g} times or more", tuple(jumps)))
    money = sorted(key for key, (_, unit) in _prices(new).items() if key in before and before[key][1] != unit)
    if money:
        found.append(GateFinding("prices in another currency than before", tuple(money)))
    if before and len(gone) > MOST_VANISHED * len(before):
        share = f"{len(gone)} of {len(before)} offers are gone ({len(gone) / len(before):.0%})"
        found.append(GateFinding(f"{share}, more than {MOST_VANISHED:.0%}", tuple(gone)))
    return found


def _prices(one: PriceList) -> dict[str, tuple[float, str]]:
    return {offer.id: (offer.price_per_hour, offer.currency) for offer in (*one.offers, *one.zone_offers)}


def _moves(prices: Mapping[str, tuple[float, str]], before: Mapping[str, tuple[float, str]]) -> list[tuple[float, str]]:
    """(factor, words) of every offer that is in both lists, in one currency."""
    return [
        (value / before[key][0], f"{key}: {before[key][0]:,.4g} -> {value:,.4g} {unit}/h")
        for key, (value, unit) in prices.items()
        if key in before and before[key][1] == unit
    ]


def _beside_shipped(new: PriceList, catalog: Catalog) -> list[tuple[float, str]]:
    """The same against shipped prices of the same machine, way of paying and currency, the middle of all regions."""
    shipped: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for offer in catalog.offers:
        shipped[_kind(offer)].append(offer.price_per_hour)
    return [
        (
            offer.price_per_hour / statistics.median(shipped[_kind(offer)]),
            f"{offer.id}: {statistics.median(shipped[_kind(offer)]):,.4g} as shipped -> "
            f"{offer.price_per_hour:,.4g} {offer.currency}/h",
        )
        for offer in new.offers
        if _kind(offer) in shipped
    ]


def _kind(offer: Offer) -> tuple[str, str, str]:
    return offer.shape.key, offer.pricing, offer.currency
