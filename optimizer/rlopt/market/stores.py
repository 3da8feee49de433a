"""Stores that keep what a request asks of them: encryption at rest, a way without the internet, countries."""

from __future__ import annotations

from collections.abc import Iterable

from rlopt.facts import Catalog, StorageTier, Store
from rlopt.request import Request

DEFAULT_STORAGE = "aws"
"""A large cloud's object store that any provider's machines can reach, where theirs is unknown."""


def limited(request: Request) -> bool:
    """Whether a request asks anything of its stores."""
    asked = request.limits.storage
    return bool(asked.encrypted or asked.private or asked.countries is not None)


def lacks(request: Request, catalog: Catalog, row: StorageTier, country: str | None) -> str | None:
    """What a store that stands in ``country`` does not state of what is asked; None where it states all of it."""
    asked, known = request.limits.storage, catalog.stores.get(f"{row.provider}/{row.service}", Store())
    if asked.encrypted and not known.encrypted:
        return "encrypted"
    if asked.private and not known.private:
        return "private"
    if asked.countries is not None and country not in asked.countries:
        return "countries"
    return None


def stands_in(catalog: Catalog, row: StorageTier, provider: str, region: str | None) -> str | None:
    """Country of a store: of the pool's region where it is the pool's provider's, else of its own or usual region."""
    own = region if row.provider == provider else row.region or catalog.reference_regions.get(row.provider)
    return catalog.country(row.provider, own)


def admitted(
    request: Request, catalog: Catalog, rows: Iterable[StorageTier], provider: str, region: str | None
) -> list[StorageTier]:
    """The rows that state what is asked, for pools of a zone."""
    if not limited(request):
        return list(rows)
    return [row for row in rows if lacks(request, catalog, row, stands_in(catalog, row, provider, region)) is None]


def billed_by_use(catalog: Catalog, row: StorageTier) -> bool:
    """Whether a store bills the bytes it holds: one that is sold from a least size up would cost more than they do."""
    speed = catalog.speeds.get(row.id)
    return speed is None or not speed.least_gb


def unreached(request: Request, catalog: Catalog, places: Iterable[tuple[str, str | None]]) -> frozenset[object]:
    """Those of the places, (provider, region), whose pools reach no store that states what is asked."""
    if not limited(request):
        return frozenset()
    return frozenset(place for place in set(places) if not has_store(request, catalog, *place))


def has_store(request: Request, catalog: Catalog, provider: str, region: str | None) -> bool:
    """Whether some object store or file system for pools of a zone states what is asked."""
    elsewhere = request.costs.storage_provider or DEFAULT_STORAGE
    home = [row for row in catalog.storage if row.provider == provider]
    far = [row for row in catalog.storage if row.provider == elsewhere and row.kind == "object"]
    rows = home if any(row.kind == "object" for row in home) else [*home, *far]
    kept = admitted(request, catalog, rows, provider, region)
    return any(row.kind in ("object", "file") and billed_by_use(catalog, row) for row in kept)


KEY_REQUESTS = 1e4
"""Requests that `costs.key_requests` is the price of."""


def usd_per_key_request(request: Request) -> float:
    """USD of one request to a key service; 0 where no price is given."""
    price = request.costs.key_requests
    return 0.0 if price is None else request.costs.usd(price) / KEY_REQUESTS
