"""Looking prices up beside the GPUs', with the fallbacks taken.

Fallback order of storage and traffic: the same region, the provider's reference region, `costs.storage_provider`.
Each step down is a warning and stands in the basis of the line it prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rlopt.errors import MissingFactError
from rlopt.facts import CachePrice, Catalog, LogPrice, StorageTier, Traffic
from rlopt.facts.operations import Operations
from rlopt.market.cpu_machines import (
    CpuBook,
    Place,
    booting,
    compression_vcpu,
    environment_machines,
    scorer_machines,
)
from rlopt.market.logs import LogRoute, as_log, by_series, log_route
from rlopt.market.market import usd_rate
from rlopt.market.mounts import node_gb_s
from rlopt.market.services import (
    cheapest_cache,
    cheapest_disk,
    data_traffic,
    nearest_region,
    standing_in,
    unknown_operations,
    unpriced_requests,
)
from rlopt.market.stores import DEFAULT_STORAGE, admitted, billed_by_use, usd_per_key_request
from rlopt.market.volumes import cached_bytes
from rlopt.problem.tariff import CacheStore, CpuPool, Disk, Metering, Tariff, Tier
from rlopt.request import Request
from rlopt.units import HOURS_PER_DAY, HOURS_PER_MONTH, KILO, bytes_to_gib
from rlopt.workloads import Workload
from rlopt.workloads.cpu_scoring import CpuScorers

AWAY = "lists no fast store of known size: priced at the cheapest known"
Row = TypeVar("Row", StorageTier, Traffic, LogPrice, CachePrice)


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
        self.metrics = _by_provider(
            row
            for row in catalog.logs
            if (row.metric_month is not None or row.metric_per_gb is not None) and self.rate(row.currency)
        )
        self.caches = _by_provider(
            row
            for row in catalog.caches
            if row.kind == "cache" and row.memory_gib is not None and self.rate(row.currency)
        )
        self.machines = CpuBook(catalog.cpu_offers, request, self.elsewhere, self.rate)

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

    def has_store(self, provider: str) -> bool:
        """Whether a provider lists an object store."""
        return any(row.kind == "object" for row in self.storage.get(provider, []))

    def tiers(self, provider: str, region: str | None, egress: float) -> tuple[tuple[Tier, ...], list[str]]:
        """Storage tiers worth having for pools of a zone: those that bill by use, dominated ones left out."""
        home, warnings = self.storage.get(provider, []), []
        far: list[StorageTier] = []
        if not self.has_store(provider):
            far = [row for row in self.storage.get(self.elsewhere, []) if row.kind in ("object", "archive")]
            if not far:
                raise MissingFactError(
                    f"storage prices of {self.elsewhere}", "the checkpoints", "name another costs.storage_provider"
                )
            warnings.append(f"{provider} lists no object store: checkpoints and data priced at {self.elsewhere}'s")
        references = self.catalog.reference_regions
        rows = nearest_region(home, region, references.get(provider))
        rows += nearest_region(far, None, references.get(self.elsewhere))
        rows = [row for row in rows if billed_by_use(self.catalog, row)]
        rows = admitted(self.request, self.catalog, rows, provider, region)
        back = self.egress(self.elsewhere, references.get(self.elsewhere))[0] if far else 0.0
        found = [
            self._tier(row, egress, back)
            if row.provider != provider
            else self._tier(row, note=standing_in("storage", row, provider, region))
            for row in rows
        ]
        kept = {tier.name: tier for tier in found if not any(other.dominates(tier) for other in found)}
        notes = {tier.note: None for tier in kept.values() if tier.note}
        return tuple(kept.values()), [*warnings, *notes]

    def disk(self, provider: str, region: str | None) -> Disk | None:
        """The cheapest block storage of a provider; None where no price is known."""
        disks = [row for row in self.storage.get(provider, []) if row.kind == "block"]
        return cheapest_disk(
            nearest_region(disks, region, self.catalog.reference_regions.get(provider)), self.rate, region
        )

    def cache(self, provider: str, region: str | None) -> tuple[CacheStore | None, list[str]]:
        """The cheapest fast store for what the job caches, and what is not known of it."""
        held = self.request.job.cache
        if held is None:
            return None, []
        gib = bytes_to_gib(cached_bytes(self.request, self.workload, self.operations))
        if not gib:
            return None, []
        references, place = self.catalog.reference_regions, (provider, region)
        own = nearest_region(self.caches.get(provider, []), region, references.get(provider))
        theirs = nearest_region(self.caches.get(self.elsewhere, []), None, references.get(self.elsewhere))
        every = [row for rows in self.caches.values() for row in rows]
        for rows, note in ((own, ""), (theirs, AWAY), (every, AWAY)):
            told = note and f"{provider} {note}"
            found = cheapest_cache(rows, self.rate, gib, place, told, held.peak_ops)
            if found is not None:
                return found, [*unknown_operations(found, held.peak_ops), *([found.note] if found.note else [])]
        raise MissingFactError("the price of a fast store", "job.cache", "add a row to the cache catalog")

    def route(self, provider: str, region: str | None, egress: float) -> LogRoute:
        """The way to the logging service."""
        route = log_route(self.request, self.catalog.traffic, self.rate, (provider, region), egress)
        if self.request.costs.logs_to is not None and route.provider not in self.logs:
            fix = f"name one of {', '.join(sorted(self.logs))}"
            raise MissingFactError(f"a logging price of {route.provider}", "costs.logs_to", fix)
        return route

    def metering(self, route: LogRoute) -> tuple[Metering | None, list[str]]:
        """How metrics are billed: the service's own price, else its log, else the fallback provider's."""
        own = (route.provider, route.region)
        for owner in (route.provider, self.elsewhere, DEFAULT_STORAGE):
            away, where = route.usd_to(owner), route.region if owner == route.provider else None
            reference = self.catalog.reference_regions.get(owner)
            priced, logs = nearest_region(self.metrics.get(owner, []), where, reference), self.logs.get(owner, [])
            if priced:
                row = min(priced, key=lambda row: row.id)
                note = standing_in("metrics", row, *own)
                warnings = [note] if note else []
                if row.confidence not in self.request.choices.price_confidence:
                    warnings.append(f"metrics are billed at a price of {row.confidence} confidence ({row.id})")
                return by_series(row, self.rate, self.operations, away, note), warnings
            if logs:
                row = self.log(owner, where)[0]
                note = standing_in("metrics", row, *own)
                return as_log(row, self.rate, self.operations, away, note), [note] if note else []
        return None, ["metrics: no price is known, not on the bill"]

    def _tier(self, row: StorageTier, upload_per_gb: float = 0.0, download_per_gb: float = 0.0, note: str = "") -> Tier:
        rate, speed = self.rate(row.currency), self.operations.checkpoint_read_gb_s_per_node
        key_usd = usd_per_key_request(self.request)
        return Tier(
            name=row.id,
            kind=row.kind,
            usd_gb_hour=row.price_gb_month * rate / HOURS_PER_MONTH,
            min_hours=row.min_days * HOURS_PER_DAY,
            retrieval_per_gb=(row.retrieval_per_gb or 0.0) * rate,
            restore_hours=row.restore_hours,
            gb_s_per_node=node_gb_s(row, self.catalog.speeds.get(row.id), speed),
            upload_per_gb=upload_per_gb,
            source=row.source,
            as_of=row.as_of,
            put_usd=(row.put_per_1000 or 0.0) * rate / KILO + key_usd,
            get_usd=(row.get_per_1000 or 0.0) * rate / KILO + key_usd,
            download_per_gb=download_per_gb,
            note=note,
            unpriced=unpriced_requests(row),
        )

    def log(self, provider: str, region: str | None) -> tuple[LogPrice, list[str]]:
        """The cheapest way to take text in near a region of a provider, or at the fallback."""
        mine = nearest_region(self.logs.get(provider, []), region, self.catalog.reference_regions.get(provider))
        warnings = [] if mine else [f"{provider} lists no logging service: text logs priced at {self.elsewhere}'s"]
        pool = mine or self.logs.get(self.elsewhere) or self.logs.get(DEFAULT_STORAGE) or []
        if not pool:
            raise MissingFactError("a logging price", "the text log", "add a row to the logging catalog")
        row = min(pool, key=lambda row: ((row.ingest_per_gb or 0.0) * self.rate(row.currency), row.id))
        note = standing_in("text log", row, provider, region)
        return row, [*warnings, note] if note else warnings


def _by_provider(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.provider, []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class ZoneMachines:
    """Machines without GPUs of one zone, each with what it boots from; one compresses and needs no more than a vCPU."""

    control: CpuPool | None
    environments: tuple[CpuPool | None, ...]
    """By number of instances."""
    scorers: tuple[CpuPool | None, ...]
    """By way to run the job."""
    vcpu: CpuPool | None


def zone_machines(
    book: TariffBook, place: Place, scorers: Sequence[CpuScorers | None], disk: Disk | None
) -> tuple[ZoneMachines, list[str]]:
    """The cheapest of each and what is to be said of their prices. Raises MissingFactError."""
    operations, nodes = book.operations, book.catalog.nodes
    control, notes = book.machines.cpu("control", operations.control_vcpus, operations.control_memory_gib, 1, *place)
    environments: list[CpuPool | None] = []
    for instances in book.workload.instances or (0,):
        machines, more = environment_machines(book.machines, book.workload, instances, place)
        environments.append(machines)
        notes += [note for note in more if note not in notes]
    scoring, of_scorers = scorer_machines(book.machines, scorers, *place)
    vcpu, of_vcpu = compression_vcpu(book.machines, book.request, place)
    found = ZoneMachines(
        control=booting(control, disk, nodes),
        environments=tuple(booting(machines, disk, nodes) for machines in environments),
        scorers=tuple(booting(machines, disk, nodes) for machines in scoring),
        vcpu=vcpu,
    )
    return found, [*notes, *of_scorers, *of_vcpu]


def zone_tariff(
    book: TariffBook, provider: str, region: str | None, scorers: Sequence[CpuScorers | None] = ()
) -> Tariff:
    """Prices of one zone beside its GPUs. Raises MissingFactError where no price at all is known.

    ``scorers``: what scores without GPUs in each way to run the job, ``None`` where nothing does.
    """
    place = provider, region
    egress, egress_source = book.egress(provider, region)
    tiers, of_tiers = book.tiers(provider, region, egress)
    route = book.route(provider, region, egress)
    log, of_log = book.log(route.provider, route.region)
    metering, of_metering = book.metering(route)
    disk = book.disk(provider, region)
    cache, of_cache = book.cache(provider, region)
    stores = {provider} if book.has_store(provider) else {book.elsewhere}
    data_per_gb, data_note = data_traffic(book.request, book.catalog.traffic, book.rate, place, stores)
    machines, of_machines = zone_machines(book, place, scorers, disk)
    of_egress = [] if provider in book.traffic else [egress_source]
    of_disk = [disk.note] if disk is not None and disk.note else []
    warnings = (*of_tiers, *of_egress, *of_log, *of_metering, *of_disk, *of_cache, *of_machines)
    rate = book.rate(log.currency)
    return Tariff(
        provider=provider,
        region=region,
        tiers=tiers,
        egress_per_gb=egress,
        egress_source=egress_source,
        log_ingest_per_gb=(log.ingest_per_gb or 0.0) * rate,
        log_gb_hour=(log.retention_gb_month or 0.0) * rate / HOURS_PER_MONTH,
        log_free_hours=(log.included_days or 0.0) * HOURS_PER_DAY,
        log_name=log.id,
        log_source=log.source,
        log_as_of=log.as_of,
        log_note=standing_in("text log", log, route.provider, route.region),
        log_egress_per_gb=route.usd_to(log.provider),
        log_way=route.note,
        metering=metering,
        control=machines.control,
        environments=machines.environments,
        scorers=machines.scorers,
        vcpu=machines.vcpu,
        disk=disk,
        cache=cache,
        data_per_gb=data_per_gb,
        data_note=data_note,
        warnings=warnings,
    )
