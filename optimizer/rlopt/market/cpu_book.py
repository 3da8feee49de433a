"""Machines without GPUs: head node and environments.

Order of prices: the region, `costs.vcpu_hour`, another region of the provider, `costs.storage_provider`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from rlopt.facts import CpuOffer
from rlopt.problem.tariff import CpuPool
from rlopt.request import Request

VCPU_HOUR = "costs.vcpu_hour"
"""Stands in place of an offer where the request prices CPU time."""


class CpuBook:
    """Prices of CPU machines by provider, each look-up done once."""

    def __init__(
        self, offers: Iterable[CpuOffer], request: Request, elsewhere: str, rate: Callable[[str], float]
    ) -> None:
        self.elsewhere, self.rate, self.vcpu_hour = elsewhere, rate, request.costs.vcpu_hour
        self.offers: dict[str, list[CpuOffer]] = {}
        for row in offers:
            listed = row.pricing == "on_demand" and row.grade == "list"
            if listed and row.confidence in request.choices.price_confidence and rate(row.currency):
                self.offers.setdefault(row.provider, []).append(row)
        self._best_cpu: dict[tuple[str, str, str | None], tuple[CpuOffer, int, float] | None] = {}

    def cpu(
        self, name: str, vcpus: float, memory_gib: float, count: int, provider: str, region: str | None
    ) -> tuple[CpuPool | None, list[str]]:
        """The cheapest machines that hold ``count`` workers of ``vcpus`` each; None where no price is known."""
        mine = self.offers.get(provider, [])
        steps = (
            (provider, region, [row for row in mine if row.region == region], ""),
            (provider, None, mine, f"{name}: CPU price of another region of {provider}"),
            (
                self.elsewhere,
                None,
                self.offers.get(self.elsewhere, []),
                f"{name}: {provider} lists no CPU machine, priced at {self.elsewhere}'s",
            ),
        )
        money = self.vcpu_hour
        for number, (owner, where, offers, note) in enumerate(steps):
            if number == 1 and money is not None:
                usd = money.amount * self.rate(money.currency) * vcpus * count
                return CpuPool(
                    name,
                    VCPU_HOUR,
                    provider,
                    region,
                    "vcpu",
                    count,
                    usd,
                    "request",
                    "",
                    "priced by costs.vcpu_hour",
                ), []
            key = (f"{name} {count} x {vcpus:g} {memory_gib:g}", owner, where if number == 0 else "any region")
            if key not in self._best_cpu:
                self._best_cpu[key] = self._cheapest_cpu(offers, vcpus, memory_gib, count)
            best = self._best_cpu[key]
            if best is not None:
                offer, nodes, usd = best
                return CpuPool(
                    name,
                    offer.id,
                    offer.provider,
                    offer.region,
                    offer.instance_type,
                    nodes,
                    usd,
                    offer.source,
                    offer.as_of,
                    note,
                ), [note] if note else []
        return None, [f"{name}: no CPU price is known, not on the bill"]

    def _cheapest_cpu(
        self, offers: list[CpuOffer], vcpus: float, memory_gib: float, count: int
    ) -> tuple[CpuOffer, int, float] | None:
        found = []
        for offer in offers:
            fits = int(min(offer.vcpus // vcpus, offer.memory_gib // memory_gib if memory_gib else math.inf))
            if fits:
                nodes = math.ceil(count / fits)
                found.append((nodes * offer.price_per_hour * self.rate(offer.currency), offer.id, nodes, offer))
        if not found:
            return None
        usd, _, nodes, offer = min(found, key=lambda row: row[:2])
        return offer, nodes, usd
