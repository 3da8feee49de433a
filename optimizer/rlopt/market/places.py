"""Providers and regions that a request names: each must be one that some row of the catalogs knows."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog
from rlopt.request import Request


def known_places(catalog: Catalog) -> dict[str, set[str]]:
    """Every provider that a row of the catalogs names, with its regions."""
    found: dict[str, set[str]] = {}
    for provider, region in _places(catalog):
        regions = found.setdefault(provider, set())
        if region is not None:
            regions.add(region)
    return found


def _places(catalog: Catalog) -> Iterator[tuple[str, str | None]]:
    yield from ((row.provider, row.region) for row in chain(catalog.offers, catalog.zone_offers))
    yield from ((row.provider, row.region) for row in catalog.cpu_offers)
    yield from ((row.provider, row.region) for row in catalog.storage)
    yield from ((row.provider, row.region) for row in catalog.traffic)
    yield from ((row.provider, row.region) for row in catalog.logs)
    yield from ((row.provider, row.region) for row in catalog.caches)
    yield from catalog.countries
    yield from catalog.reference_regions.items()


def check_places(request: Request, catalog: Catalog) -> None:
    """Raise MissingFactError for a provider or region that no row knows: it would leave every offer out unsaid."""
    places, choices = known_places(catalog), request.choices
    for provider in choices.providers or ():
        _must_know(f"provider {provider!r}", provider, places, "choices.providers")
    regions = choices.regions
    if isinstance(regions, Mapping):
        for provider, named in regions.items():
            _must_know(f"provider {provider!r}", provider, places, "choices.regions")
            for region in () if named == "any" else named:
                _must_know(f"region {region!r} of {provider}", region, places[provider], "choices.regions")
    else:
        anywhere = set().union(*places.values())
        for region in regions or ():
            _must_know(f"region {region!r}", region, anywhere, "choices.regions")
    stands, to = request.job.data.stands_in, request.costs.logs_to
    for place, key in ((stands, "job.data.stands_in"), (to, "costs.logs_to")):
        if place is not None:
            _must_know(f"provider {place.provider!r}", place.provider, places, key)
    if to is not None:
        _must_know(f"region {to.region!r} of {to.provider}", to.region, places[to.provider], "costs.logs_to")


def _must_know(what: str, name: str, known: Collection[str], key: str) -> None:
    if name in known:
        return
    lower = {one.lower(): one for one in sorted(known)}
    near = [lower[one] for one in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
    fix = f"nearest known: {', '.join(near)}" if near else f"{len(known)} are known, none is near"
    raise MissingFactError(what, key, fix)
