"""The prices a plan rests on, and what to say of those that are old, undated or sampled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlopt.plan import Pool, PriceUsed, TierUse
from rlopt.problem import Problem
from rlopt.units import HOURS_PER_MONTH


def prices_used(
    pools: Sequence[Pool], zone: int, environment: int, uses: Sequence[TierUse], problem: Problem
) -> list[PriceUsed]:
    """Every price of the bill, with its source, date, grade and (spot) the band over the zones."""
    by_id = {offer.id: offer for offer in problem.market.offers}
    tariff, found = problem.tariffs[zone], []
    for pool in pools:
        offer = by_id.get(pool.offer)
        if offer is not None:
            scale = pool.usd_per_hour / pool.nodes / offer.price_per_hour
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
        for cpu in tariff.cpu_pools(environment)
    ]
    tiers = {tier.name: tier for tier in tariff.tiers}
    found += [
        PriceUsed(
            offer=use.tier,
            usd_per_hour=None,
            usd=tiers[use.tier].usd_gb_hour * HOURS_PER_MONTH,
            unit="USD/GB/month",
            source=tiers[use.tier].source,
            as_of=tiers[use.tier].as_of,
        )
        for use in uses
    ]
    found.append(
        PriceUsed(
            offer=f"{tariff.provider}: traffic to the internet",
            usd_per_hour=None,
            usd=tariff.egress_per_gb,
            unit="USD/GB",
            source=tariff.egress_source,
            as_of="",
        )
    )
    if not problem.request.floors.text_log_rate:
        return found
    found.append(
        PriceUsed(
            offer=tariff.log_name,
            usd_per_hour=None,
            usd=tariff.log_ingest_per_gb,
            unit="USD/GB",
            source=tariff.log_source,
            as_of=tariff.log_as_of,
        )
    )
    return found


def price_warnings(prices: Sequence[PriceUsed], pools: Sequence[Pool], as_of: str) -> list[str]:
    """Undated and old prices, and spot prices, which are samples. ``as_of``: the newest date of the catalogs."""
    found = []
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
