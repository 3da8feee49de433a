"""Looking prices up beside the GPUs', with the fallbacks taken.

Fallback order of storage and traffic: the same region, the provider's reference region, `costs.storage_provider`.
CPU machines: the region, `costs.vcpu_hour`, another region of the provider, `costs.storage_provider`. Each step down
is a warning and stands in the basis of the line it prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from rlopt.candidates.market import usd_rate
from rlopt.candidates.operations import Operations
from rlopt.candidates.tariff import CpuPool, Tariff, Tier
from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, CpuOffer, LogPrice, StorageTier, Traffic
from rlopt.request import Request
from rlopt.units import HOURS_PER_DAY, HOURS_PER_MONTH, KILO, bytes_to_gib
from rlopt.workloads import Workload

DEFAULT_STORAGE = "aws"
"""A large cloud's object store that any provider's machines can reach, where theirs is unknown."""
Row = TypeVar("Row", StorageTier, Traffic, LogPrice, CpuOffer)


class TariffBook:
    """Prices of one request by provider, looked up once and shared by all zones."""

    def __init__(self, catalog: Catalog, request: Request, workload: Workload, operations: Operations) -> None:
        self.catalog, self.request, self.workload, self.operations = catalog, request, workload, operations
        self.elsewhere = request.costs.storage_provider or DEFAULT_STORAGE
        self.storage = _by_provider(row for row in catalog.storage if row.kind != "local" and self.rate(row.currency))
        self.traffic = _by_provider(
            row
            for row in catalog.traffic
            if row.kind == "egress_internet" and not row.service and self.rate(row.currency)
        )
        self.logs = _by_provider(
            row for row in catalog.logs if row.ingest_per_gb is not None and self.rate(row.currency)
        )
        self.cpus = _by_provider(
            row
            for row in catalog.cpu_offers
            if row.pricing == "on_demand"
            and row.grade == "list"
            and row.confidence in request.choices.price_confidence
            and self.rate(row.currency)
        )
        self._best_cpu: dict[tuple[str, str, str | None], tuple[CpuOffer, int, float] | None] = {}

    def rate(self, currency: str) -> float:
        """USD per unit of a currency; 0 where the request gives no rate."""
        return usd_rate(currency, self.request) or 0.0

    def egress(self, provider: str, region: str | None) -> tuple[float, str]:
        """USD per GB leaving ``provider`` and where that stands; unknown egress is the highest known."""
        mine = self.traffic.get(provider, [])
        for wanted in (region, self.catalog.reference_regions.get(provider)):
            here = [row for row in mine if row.region in (wanted, None)]
            if here:
                mine = here
                break
        pool = mine or [row for rows in self.traffic.values() for row in rows]
        chosen = max(pool, key=lambda row: row.bands[0][1] * self.rate(row.currency))
        note = chosen.source if mine else f"egress of {provider} is unknown: the highest known, {chosen.provider}"
        return chosen.bands[0][1] * self.rate(chosen.currency), note

    def tiers(self, provider: str, region: str | None, egress: float) -> tuple[tuple[Tier, ...], list[str]]:
        """Storage tiers worth having for pools of a zone, dominated ones left out."""
        home, warnings = self.storage.get(provider, []), []
        far: list[StorageTier] = []
        if not any(row.kind == "object" for row in home):
            far = [row for row in self.storage.get(self.elsewhere, []) if row.kind in ("object", "archive")]
            if not far:
                raise MissingFactError(
                    f"storage prices of {self.elsewhere}", "the checkpoints", "name another costs.storage_provider"
                )
            warnings.append(f"{provider} lists no object store: checkpoints and data priced at {self.elsewhere}'s")
        references = self.catalog.reference_regions
        rows = _nearest_region(home, region, references.get(provider))
        rows += _nearest_region(far, None, references.get(self.elsewhere))
        found = [self._tier(row, 0.0 if row.provider == provider else egress) for row in rows]
        kept = {tier.name: tier for tier in found if not any(other.dominates(tier) for other in found)}
        return tuple(kept.values()), warnings

    def _tier(self, row: StorageTier, upload_per_gb: float) -> Tier:
        rate, speed = self.rate(row.currency), self.operations.checkpoint_read_gb_s_per_node
        return Tier(
            name=row.id,
            kind=row.kind,
            usd_gb_hour=row.price_gb_month * rate / HOURS_PER_MONTH,
            min_hours=row.min_days * HOURS_PER_DAY,
            retrieval_per_gb=(row.retrieval_per_gb or 0.0) * rate,
            restore_hours=row.restore_hours,
            gb_s_per_node=speed if row.throughput_mb_s is None else min(speed, row.throughput_mb_s / KILO),
            upload_per_gb=upload_per_gb,
            source=row.source,
            as_of=row.as_of,
        )

    def log(self, provider: str) -> tuple[LogPrice, list[str]]:
        """The cheapest way to take text in at a provider, or at the fallback."""
        mine = self.logs.get(provider, [])
        warnings = [] if mine else [f"{provider} lists no logging service: text logs priced at {self.elsewhere}'s"]
        pool = mine or self.logs.get(self.elsewhere) or self.logs.get(DEFAULT_STORAGE) or []
        if not pool:
            raise MissingFactError("a logging price", "the text log", "add a row to the logging catalog")
        return min(pool, key=lambda row: ((row.ingest_per_gb or 0.0) * self.rate(row.currency), row.id)), warnings

    def cpu(
        self, name: str, vcpus: float, memory_gib: float, count: int, provider: str, region: str | None
    ) -> tuple[CpuPool | None, list[str]]:
        """The cheapest machines that hold ``count`` workers of ``vcpus`` each; None where no price is known."""
        mine = self.cpus.get(provider, [])
        steps = (
            (provider, region, [row for row in mine if row.region == region], ""),
            (provider, None, mine, f"{name}: CPU price of another region of {provider}"),
            (
                self.elsewhere,
                None,
                self.cpus.get(self.elsewhere, []),
                f"{name}: {provider} lists no CPU machine, priced at {self.elsewhere}'s",
            ),
        )
        money = self.request.costs.vcpu_hour
        for number, (owner, where, offers, note) in enumerate(steps):
            if number == 1 and money is not None:
                usd = money.amount * self.rate(money.currency) * vcpus * count
                return CpuPool(
                    name,
                    "costs.vcpu_hour",
                    provider,
                    region,
                    "vcpu",
                    count,
                    usd,
                    "request",
                    "",
                    "priced by costs.vcpu_hour",
                ), []
            key = (f"{name} {count}", owner, where if number == 0 else "any region")
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


def _by_provider(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.provider, []).append(row)
    return found


def _nearest_region(rows: list[StorageTier], region: str | None, reference: str | None) -> list[StorageTier]:
    for wanted in (region, reference):
        here = [row for row in rows if row.region == wanted or row.region is None]
        if wanted is not None and here:
            return here
    return list(rows)


def zone_tariff(book: TariffBook, provider: str, region: str | None) -> Tariff:
    """Prices of one zone beside its GPUs. Raises MissingFactError where no price at all is known."""
    egress, egress_source = book.egress(provider, region)
    tiers, warnings = book.tiers(provider, region, egress)
    if provider not in book.traffic:
        warnings.append(egress_source)
    log, more = book.log(provider)
    warnings += more
    operations = book.operations
    control, more = book.cpu("control", operations.control_vcpus, operations.control_memory_gib, 1, provider, region)
    warnings += more
    environments: list[CpuPool | None] = []
    for instances in book.workload.instances or (0,):
        machines, more = _environment(book, instances, provider, region)
        environments.append(machines)
        warnings += [warning for warning in more if warning not in warnings]
    rate = book.rate(log.currency)
    return Tariff(
        provider,
        region,
        tiers,
        egress,
        egress_source,
        (log.ingest_per_gb or 0.0) * rate,
        (log.retention_gb_month or 0.0) * rate / HOURS_PER_MONTH,
        (log.included_days or 0.0) * HOURS_PER_DAY,
        log.id,
        log.source,
        log.as_of,
        control,
        tuple(environments),
        tuple(warnings),
    )


def _environment(
    book: TariffBook, instances: int, provider: str, region: str | None
) -> tuple[CpuPool | None, list[str]]:
    """CPU machines of ``instances`` tools or simulators; none for robots and for simulators on the pool's GPUs."""
    tools, acting = book.workload.tools, book.workload.acting
    held = tools or acting
    if held is None or not instances:
        return None, []
    if acting is not None and (acting.kind == "robot" or acting.runs_on == "gpu"):
        return None, []
    machines, more = book.cpu("environment", held.vcpus, bytes_to_gib(held.memory_bytes), instances, provider, region)
    if machines is None:
        raise MissingFactError("the price of CPU machines", "the environment", "give costs.vcpu_hour")
    return machines, more
