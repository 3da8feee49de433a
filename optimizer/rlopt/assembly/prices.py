"""The prices a plan rests on, and what to say of those that are old, undated or sampled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rlopt.answers.plan import Plan, Pool, PriceUsed
from rlopt.costs.stored.copies import role_routes, tariff_of
from rlopt.costs.stored.kept_bytes import held_charges
from rlopt.facts import Catalog
from rlopt.problem import Problem
from rlopt.problem.tariff import CpuPool, Tariff
from rlopt.units import HOURS_PER_MONTH
from rlopt.words import StageKind

DISK_UNIT = "USD/GB/month of disk"


def prices_used(
    pools: Sequence[Pool], zone: int, environment: int, variant: int, uses: Iterable[str], problem: Problem
) -> list[PriceUsed]:
    """Every price of the bill, with its source, date, grade and (spot) the band over the zones.

    ``uses`` are the names of the tiers that checkpoints stand in.
    """
    by_id = {offer.id: offer for offer in problem.market.offers}
    tariff, found = problem.tariffs[zone], []
    for pool in pools:
        offer = by_id.get(pool.offer)
        if offer is not None:
            paid = pool.usd_per_hour / pool.nodes
            scale = (
                paid / offer.price_per_hour if offer.price_per_hour else 0.0
            )  # machines of one's own may cost nothing
            found.append(
                PriceUsed(
                    offer=offer.id,
                    usd_per_hour=pool.usd_per_hour / pool.nodes,
                    source=offer.source,
                    as_of=offer.as_of,
                    low=offer.price_low * scale,
                    high=offer.price_high * scale,
                    grade=offer.grade,
                    confidence=offer.confidence,
                )
            )
    found += [
        PriceUsed(offer=cpu.offer, usd_per_hour=cpu.usd_per_hour / cpu.nodes, source=cpu.source, as_of=cpu.as_of)
        for cpu in tariff.cpu_pools(environment, variant)
    ]
    found += [
        PriceUsed(offer=pool.offer, usd_per_hour=pool.usd_per_hour / pool.nodes, source=one.source, as_of=one.as_of)
        for pool, one in preparing(pools, zone, problem)
    ]
    tiers = {tier.name: tier for tier in tariff.tiers}
    for name in uses:
        tier = tiers[name]
        found.append(_price(name, tier.usd_gb_hour * HOURS_PER_MONTH, "USD/GB/month", tier.source, tier.as_of))
    traffic = f"{tariff.provider}: traffic to the internet"
    found.append(_price(traffic, tariff.egress_per_gb, "USD/GB", tariff.egress_source, ""))
    found += _services(pools, tariff)
    log = problem.request.job.text_log
    traced = problem.request.job.metrics.traces.bytes_per_step
    texts = problem.request.floors.text_log_rate or log.abnormal_share or log.debug_steps
    if traced or (texts and log.kept_in == "service"):
        found.append(_price(tariff.log_name, tariff.log_ingest_per_gb, "USD/GB", tariff.log_source, tariff.log_as_of))
    return found


def preparing(pools: Sequence[Pool], zone: int, problem: Problem) -> list[tuple[Pool, CpuPool]]:
    """Pools that only prepare samples, with the machines that they are."""
    table = problem.loading
    if table is None:
        return []
    known = {one.offer: one for one in table.preparation[zone] if one is not None}
    return [(pool, known[pool.offer]) for pool in pools if pool.roles == [StageKind.LOAD]]


def _services(pools: Sequence[Pool], tariff: Tariff) -> list[PriceUsed]:
    """Prices of what stands beside the pools: disks, fast store, metrics, bringing the data set in."""
    found = []
    if tariff.disk is not None and any(pool.disk_gb for pool in pools):
        disk = tariff.disk
        found.append(_price(disk.name, disk.usd_gb_hour * HOURS_PER_MONTH, DISK_UNIT, disk.source, disk.as_of))
    if tariff.cache is not None:
        store = tariff.cache
        found.append(_price(store.name, store.usd_per_hour, f"USD/h of {store.gib:.4g} GiB", store.source, store.as_of))
    if tariff.metering is not None:
        metering = tariff.metering
        month = metering.usd_series_hour * HOURS_PER_MONTH
        usd, unit = (month, "USD/series/month") if month else (metering.usd_per_gb, "USD/GB")
        found.append(_price(metering.name, usd, unit, metering.source, metering.as_of))
    if tariff.data_per_gb:
        found.append(_price(f"data set {tariff.data_note}", tariff.data_per_gb, "USD/GB", "traffic catalog", ""))
    return found


def _price(offer: str, usd: float, unit: str, source: str, as_of: str) -> PriceUsed:
    """A price that is not a machine's."""
    return PriceUsed(offer=offer, usd_per_hour=None, usd=usd, unit=unit, source=source, as_of=as_of)


def reclaim_warnings(pools: Sequence[Pool], catalog: Catalog) -> list[str]:
    """Providers of spot machines that publish no rate at which they take them back: another's stands in."""
    found: dict[str, None] = {}
    if not any(rate.kind == "reclaim" for rate in catalog.reliability):
        return []  # pools of a problem that states its rates itself
    for pool in pools:
        if pool.pricing != "spot" or pool.gpu is None:
            continue
        rate = catalog.failure_rate("reclaim", pool.provider, pool.gpu, pool.pricing)
        if rate.provider != pool.provider:
            why = f" ({rate.note.partition(';')[0]})" if rate.note else ""
            found[f"{pool.provider} publishes no rate at which it reclaims spot machines: {rate.id} stands in{why}"] = (
                None
            )
    return list(found)


def request_warnings(plan: Plan, problem: Problem) -> list[str]:
    """Tiers that a plan chose although the price of their requests is not known."""
    tariff = tariff_of(plan, problem)
    ways = [*role_routes(plan, problem).values()]
    ways += [route for stay, route, _ in held_charges(plan, problem, tariff).values() if stay.gb]
    chosen = [tier for way in ways for tier in (way.first, way.second) if tier is not None]
    tiers = {tier.name: tier.unpriced for tier in chosen if tier.unpriced}
    return [
        f"{name}: the price of a request to {' or '.join(lacks)} is not known: 0 in bill and choice of tier"
        for name, lacks in tiers.items()
    ]


def price_warnings(prices: Sequence[PriceUsed], pools: Sequence[Pool], as_of: str) -> list[str]:
    """Undated and old prices, and spot prices, which are samples. ``as_of``: the newest date of the catalogs."""
    found = []
    rented = sum(pool.disk_gb for pool in pools)
    if rented and not any(price.unit == DISK_UNIT for price in prices):
        provider = pools[0].provider
        found.append(f"{provider} lists no block storage: {rented:.4g} GB of disks are not on the bill")
    spot = {pool.offer for pool in pools if pool.pricing == "spot"}
    for price in prices:
        if price.usd_per_hour is None or price.offer == "costs.vcpu_hour":
            continue
        if not price.as_of:
            found.append(f"price of {price.offer} is undated: confirm it before ordering")
        elif as_of and (np.datetime64(as_of) - np.datetime64(price.as_of[:10])) > np.timedelta64(180, "D"):
            found.append(
                f"price of {price.offer} is of {price.as_of}, older than half a year: confirm it before ordering"
            )
        if price.offer in spot and price.low is not None and price.high is not None:
            found.append(
                f"spot price of {price.offer} is the median of its zones, "
                f"{price.low:.2f} to {price.high:.2f} USD/h were seen: a sample, not a promise"
            )
    return found
