"""The same world with every price multiplied: what an answer must follow in proportion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rlopt.facts import Catalog

Factor = Callable[[str], float]
"""The factor of a currency."""


def scaled(facts: Catalog, factor: Factor) -> Catalog:
    """Every price of the catalog, times the factor of its currency."""

    def times(row: Any, *names: str) -> Any:
        by = factor(row.currency)
        values = {name: getattr(row, name) for name in names}
        return replace(row, **{name: None if value is None else value * by for name, value in values.items()})

    hourly = ("price_per_hour", "price_low", "price_high")
    return replace(
        facts,
        offers=tuple(times(offer, *hourly) for offer in facts.offers),
        zone_offers=tuple(times(offer, *hourly) for offer in facts.zone_offers),
        cpu_offers=tuple(times(offer, "price_per_hour") for offer in facts.cpu_offers),
        storage=tuple(
            times(tier, "price_gb_month", "retrieval_per_gb", "put_per_1000", "get_per_1000") for tier in facts.storage
        ),
        logs=tuple(times(log, "ingest_per_gb", "retention_gb_month", "metric_month") for log in facts.logs),
        traffic=tuple(
            replace(row, bands=tuple((bound, price * factor(row.currency)) for bound, price in row.bands))
            for row in facts.traffic
        ),
    )
