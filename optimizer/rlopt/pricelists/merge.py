"""Price lists laid over a catalog, offer by offer; the machines, storage and everything else stay what they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rlopt.facts import Catalog, Offer, Provenance
from rlopt.pricelists.contract import PriceList

OLDER = "prices of user catalogs that are older than the shipped ones"


def laid_over(catalog: Catalog, lists: Iterable[PriceList]) -> Catalog:
    """The catalog with the offers of price lists in place of its own of the same name.

    Public lists come first, by date, then one's own: the later one stands. A public price that is older than the one
    that stands there is left out and counted. A price of a region also takes the place of one without a region for the
    same machine and way of paying: that one said "everywhere" and is now known better.
    """
    offers = {one.id: one for one in catalog.offers}
    zoned = {one.id: one for one in catalog.zone_offers}
    shapes = dict(catalog.shapes)
    provenance, older = list(catalog.provenance), 0
    for one in sorted(lists, key=lambda one: (one.own, one.as_of, one.name)):
        older += _put(one.offers, offers, one.own) + _put(one.zone_offers, zoned, one.own)
        known = {_kind(offer) for offer in one.offers if offer.region is not None and offers.get(offer.id) is offer}
        offers = {key: old for key, old in offers.items() if not _everywhere(old, known)}
        made = (*one.offers, *one.zone_offers)
        shapes |= {offer.shape.key: offer.shape for offer in made if offer.shape.key not in shapes}
        provenance.append(Provenance(title(one), one.as_of, len(one.offers) + len(one.zone_offers), one.source))
    left_out: Mapping[str, int] = {**catalog.left_out, OLDER: older} if older else catalog.left_out
    return replace(
        catalog,
        offers=tuple(offers.values()),
        zone_offers=tuple(zoned.values()),
        shapes=shapes,
        provenance=tuple(provenance),
        left_out=left_out,
    )


def title(one: PriceList) -> str:
    """What reports call a list: one that is kept is a user catalog, one of a request is a price list."""
    return f"user catalog {one.name}" if one.read_on else title_of(one.name)


def title_of(name: str) -> str:
    """What reports call the price list of a request."""
    return f"price list {name}"


def _put(new: Iterable[Offer], offers: dict[str, Offer], own: bool) -> int:
    """Put offers in place of those of the same name; how many were older and stay out."""
    older = 0
    for offer in new:
        there = offers.get(offer.id)
        if there is not None and not own and (there.net or there.as_of > offer.as_of):
            older += 1
        else:
            offers[offer.id] = offer
    return older


def _kind(offer: Offer) -> tuple[str, str, float | None]:
    return offer.shape.key, offer.pricing, offer.term_hours


def _everywhere(old: Offer, known: set[tuple[str, str, float | None]]) -> bool:
    """Whether an offer without a region stands for one that is now priced by region; one's own prices stay."""
    return old.region is None and not old.net and _kind(old) in known
