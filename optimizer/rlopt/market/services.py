"""Prices of what stands beside pools and stores: disks, fast stores, and bringing the data set in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rlopt.facts import CachePrice, LogPrice, StorageTier, Traffic
from rlopt.problem.tariff import VOLUMES, CacheStore, Disk
from rlopt.request import Request
from rlopt.units import HOURS_PER_MONTH

Rate = Callable[[str], float]
"""USD per unit of a currency; 0 where none is known."""


Regional = TypeVar("Regional", StorageTier, LogPrice, CachePrice)


def nearest_region(rows: list[Regional], region: str | None, reference: str | None) -> list[Regional]:
    """The rows of ``region``, else of the provider's ``reference`` region, else all; those of no region hold anywhere.

    ``rows`` are of one kind: a region that lists only other kinds would hide the reference region's.
    """
    for wanted in (region, reference):
        here = [row for row in rows if row.region in (wanted, None)]
        if wanted is not None and here:
            return here
    return list(rows)


def standing_in(kind: str, row: Regional, provider: str, region: str | None) -> str:
    """Says that a price of another region of the pool's provider stands in; empty where it does not."""
    if row.provider != provider or row.region in (region, None):
        return ""
    wanted = f"that of {region}" if region else "that of a region that is not stated"
    return f"{kind}: {provider}'s price in {row.region} stands in for {wanted}"


def unpriced_requests(row: StorageTier) -> tuple[str, ...]:
    """Requests that a shared store may charge for and no price is known of; a machine's own volume charges none."""
    if row.kind in VOLUMES:
        return ()
    prices = (("write", row.put_per_1000), ("read", row.get_per_1000))
    return tuple(name for name, price in prices if price is None)


def cheapest_disk(rows: Sequence[StorageTier], rate: Rate, region: str | None) -> Disk | None:
    """The cheapest block storage among ``rows``, those nearest to a pool of ``region``; None where there are none."""
    if not rows:
        return None
    row = min(rows, key=lambda tier: (tier.price_gb_month * rate(tier.currency), tier.id))
    return Disk(
        row.id,
        row.price_gb_month * rate(row.currency) / HOURS_PER_MONTH,
        row.source,
        row.as_of,
        standing_in("disks", row, row.provider, region),
    )


def cheapest_cache(
    rows: Sequence[CachePrice],
    rate: Rate,
    gib: float,
    place: tuple[str, str | None],
    note: str = "",
    ops_per_second: float = 0.0,
) -> CacheStore | None:
    """The cheapest store of known size that holds ``gib`` GiB and carries ``ops_per_second``; None where none is known.

    ``place``: provider and region of the pool. A store billed by its size is bought at least at the size that its
    price was seen at: prices fall with the size. Where operations are asked for, stores that state how many a node
    carries come before those that do not, and as many nodes are bought as carry them.
    """
    found = []
    sized = [row for row in rows if row.kind == "cache" and row.memory_gib is not None]
    stated = [row for row in sized if row.ops_per_second] if ops_per_second else []
    for row in stated or sized:
        least = row.memory_gib or 0.0
        busy = max(math.ceil(ops_per_second / row.ops_per_second), 1) if row.ops_per_second else 1
        if row.per_gib_hour is not None:
            size = max(gib, busy * least)
            usd = size * row.per_gib_hour
        else:
            count = max(math.ceil(gib / least), busy)
            size, usd = count * least, count * (row.price_per_hour or 0.0)
        found.append((usd * rate(row.currency), row.id, size, row))
    if not found:
        return None
    usd, name, size, row = min(found, key=lambda price: price[:2])
    note = note or standing_in("fast store", row, *place)
    nodes = max(math.floor(size / (row.memory_gib or size) + 1e-9), 1)
    carried = None if row.ops_per_second is None else row.ops_per_second * nodes
    return CacheStore(name, size, usd, row.source, row.as_of, note, carried)


def unknown_operations(store: CacheStore, ops_per_second: float) -> list[str]:
    """Says that no source states how many operations the store carries; nothing where it does or none are asked."""
    if not ops_per_second or store.ops_per_second is not None:
        return []
    text = f"no source says how many operations a second {store.name} carries, {ops_per_second:g} are not checked"
    return [f"job.cache.peak_ops: {text}"]


def leaving(rows: Iterable[Traffic], kind: str, region: str | None, rate: Rate) -> float | None:
    """Highest USD per GB of one kind of traffic out of a region; the provider's other regions stand in; None without.

    The traffic of single services counts too: data sets stand in object stores.
    """
    found = [row for row in rows if row.kind == kind and rate(row.currency)]
    here = [row for row in found if row.region in (region, None)] or found
    return max((row.bands[0][1] * rate(row.currency) for row in here), default=None)


def data_traffic(
    request: Request, traffic: Sequence[Traffic], rate: Rate, place: tuple[str, str | None], stores: set[str]
) -> tuple[float, str]:
    """USD per GB to bring the data set to ``place`` (provider, region) from where it stands, and how that was found.

    ``stores``: the providers whose object store the zone uses; what stands there already is not brought in.
    """
    stands = request.job.data.stands_in
    if stands is None:
        return 0.0, ""
    at = f"{stands.provider} {stands.region}"
    if (stands.provider, stands.region) == place or (stands.provider != place[0] and stands.provider in stores):
        return 0.0, f"stands at {at} already"
    mine = [row for row in traffic if row.provider == stands.provider]
    if stands.provider == place[0]:
        across = leaving(mine, "cross_region", stands.region, rate)
        if across is not None:
            return across, f"from {at} to another region"
    out = leaving(mine, "egress_internet", stands.region, rate)
    if out is not None:
        return out, f"out of {at} over the internet"
    prices = [row.bands[0][1] * rate(row.currency) for row in traffic if row.kind == "egress_internet"]
    return max(prices, default=0.0), f"out of {at}, whose egress is unknown: the highest known"
