"""What a zone charges beside its GPUs: storage tiers, traffic, logging and CPU machines, with the fallbacks taken.

Fallback order of storage and traffic: the same region, the provider's reference region, `costs.storage_provider`.
Each step down is a warning and stands in the basis of the line it prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rlopt.candidates.market import usd_rate
from rlopt.candidates.operations import Operations
from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, CpuOffer, LogPrice, StorageTier, Traffic
from rlopt.request import Request
from rlopt.units import HOURS_PER_DAY, HOURS_PER_MONTH
from rlopt.workloads import Workload

DEFAULT_STORAGE = "aws"
"""A large cloud's object store that any provider's machines can reach, where theirs is unknown."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One storage tier as a zone's pools see it. Prices in USD."""

    name: str
    kind: str
    usd_gb_hour: float
    min_hours: float
    retrieval_per_gb: float
    restore_hours: float
    gb_s_per_node: float
    upload_per_gb: float
    """Egress of the pool's provider where the store stands elsewhere."""
    source: str
    as_of: str

    def dominates(self, other: Tier) -> bool:
        """No dearer in any way and no slower: the other can never be the better choice."""
        mine = (self.usd_gb_hour, self.min_hours, self.retrieval_per_gb, self.restore_hours, self.upload_per_gb,
                -self.gb_s_per_node)
        theirs = (other.usd_gb_hour, other.min_hours, other.retrieval_per_gb, other.restore_hours,
                  other.upload_per_gb, -other.gb_s_per_node)
        return all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


@dataclass(frozen=True, slots=True)
class CpuPool:
    """CPU machines of one kind, nodes of them; USD per hour of all."""

    name: str
    offer: str
    provider: str
    region: str | None
    instance_type: str
    nodes: int
    usd_per_hour: float
    source: str
    as_of: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tariff:
    """Everything but GPUs that a run in one zone pays for."""

    provider: str
    region: str | None
    tiers: tuple[Tier, ...]
    egress_per_gb: float
    egress_source: str
    log_ingest_per_gb: float
    log_gb_hour: float
    log_free_hours: float
    log_name: str
    log_source: str
    log_as_of: str
    cpu_pools: tuple[CpuPool, ...]
    warnings: tuple[str, ...]

    @property
    def cpu_usd_per_hour(self) -> float:
        """Head node and environment machines together."""
        return sum(pool.usd_per_hour for pool in self.cpu_pools)


def _nearest_region(rows: Iterable[StorageTier], region: str | None, reference: str | None) -> list[StorageTier]:
    found = list(rows)
    for wanted in (region, reference):
        here = [row for row in found if row.region == wanted or row.region is None]
        if wanted is not None and here:
            return here
    return found


def _egress(catalog: Catalog, request: Request, provider: str, region: str | None) -> tuple[float, str]:
    """USD per GB leaving ``provider`` and where that stands; unknown egress is the highest known."""
    def rows(of: str | None) -> list[Traffic]:
        return [t for t in catalog.traffic if t.kind == "egress_internet" and not t.service
                and (of is None or t.provider == of) and usd_rate(t.currency, request) is not None]

    mine = rows(provider)
    for wanted in (region, catalog.reference_regions.get(provider)):
        here = [t for t in mine if t.region in (wanted, None)]
        if here:
            mine = here
            break
    chosen = max(mine or rows(None), key=lambda t: t.bands[0][1] * (usd_rate(t.currency, request) or 0.0))
    note = chosen.source if mine else f"egress of {provider} is unknown: the highest known, {chosen.provider}"
    return chosen.bands[0][1] * (usd_rate(chosen.currency, request) or 0.0), note


def _tiers(catalog: Catalog, request: Request, provider: str, region: str | None, egress: float,
           operations: Operations) -> tuple[tuple[Tier, ...], list[str]]:
    usable = [row for row in catalog.storage if usd_rate(row.currency, request) is not None and row.kind != "local"]
    warnings: list[str] = []
    home = [row for row in usable if row.provider == provider]
    if not any(row.kind == "object" for row in home):
        elsewhere = request.costs.storage_provider or DEFAULT_STORAGE
        far = [row for row in usable if row.provider == elsewhere and row.kind in ("object", "archive")]
        if not far:
            raise MissingFactError(f"storage prices of {elsewhere}", "the checkpoints",
                                   "name another costs.storage_provider")
        warnings.append(f"{provider} lists no object store: checkpoints and data priced at {elsewhere}'s")
    else:
        far = []
    found = []
    for row in (*_nearest_region(home, region, catalog.reference_regions.get(provider)),
                *_nearest_region(far, None, catalog.reference_regions.get(far[0].provider) if far else None)):
        rate = usd_rate(row.currency, request) or 0.0
        speed = operations.checkpoint_read_gb_s_per_node
        found.append(Tier(
            name=row.id, kind=row.kind, usd_gb_hour=row.price_gb_month * rate / HOURS_PER_MONTH,
            min_hours=row.min_days * HOURS_PER_DAY, retrieval_per_gb=(row.retrieval_per_gb or 0.0) * rate,
            restore_hours=row.restore_hours,
            gb_s_per_node=speed if row.throughput_mb_s is None else min(speed, row.throughput_mb_s / 1000.0),
            upload_per_gb=0.0 if row.provider == provider else egress, source=row.source, as_of=row.as_of))
    kept = tuple(tier for tier in found if not any(other.dominates(tier) for other in found))
    unique = {tier.name: tier for tier in kept}
    return tuple(unique.values()), warnings


def _log_price(catalog: Catalog, request: Request, provider: str) -> tuple[LogPrice, list[str]]:
    rows = [row for row in catalog.logs
            if row.ingest_per_gb is not None and usd_rate(row.currency, request) is not None]
    mine = [row for row in rows if row.provider == provider]
    warnings = [] if mine else [f"{provider} lists no logging service: text logs priced at {DEFAULT_STORAGE}'s"]
    pool = mine or [row for row in rows if row.provider == DEFAULT_STORAGE] or rows
    if not pool:
        raise MissingFactError("a logging price", "the text log", "add a row to the logging catalog")
    return min(pool, key=lambda row: row.ingest_per_gb or 0.0), warnings


def _cpu_pool(name: str, vcpus: float, memory_gib: float, count: int, catalog: Catalog, request: Request,
              provider: str, region: str | None) -> tuple[CpuPool | None, list[str]]:
    """The cheapest machines that hold ``count`` workers of ``vcpus`` each; None where no price is known."""
    def cost(offer: CpuOffer) -> tuple[float, int]:
        fits = min(offer.vcpus // vcpus, offer.memory_gib // memory_gib if memory_gib else offer.vcpus // vcpus)
        nodes = -(-count // int(fits)) if fits >= 1 else 0
        return (nodes * offer.price_per_hour * (usd_rate(offer.currency, request) or 0.0), nodes) if nodes else (1e18, 0)

    usable = [o for o in catalog.cpu_offers if o.pricing == "on_demand" and usd_rate(o.currency, request) is not None
              and o.grade in ("list",) and o.confidence in request.choices.price_confidence]
    elsewhere = request.costs.storage_provider or DEFAULT_STORAGE
    steps = (
        ([o for o in usable if o.provider == provider and o.region == region], ""),
        ([o for o in usable if o.provider == provider], f"{name}: CPU price of another region of {provider}"),
        ([o for o in usable if o.provider == elsewhere], f"{name}: {provider} lists no CPU machine, priced at {elsewhere}'s"),
    )
    for number, (offers, note) in enumerate(steps):
        if number == 1 and request.costs.vcpu_hour is not None:
            money = request.costs.vcpu_hour
            price = money.amount * (usd_rate(money.currency, request) or 0.0) * vcpus * count
            return CpuPool(name, "costs.vcpu_hour", provider, region, "vcpu", count, price,
                           "request", "", "priced by costs.vcpu_hour"), []
        best = min(offers, key=lambda o: (cost(o)[0], o.id), default=None)
        if best is not None and cost(best)[1]:
            usd, nodes = cost(best)
            return CpuPool(name, best.id, best.provider, best.region, best.instance_type, nodes, usd, best.source,
                           best.as_of, note), [note] if note else []
    return None, [f"{name}: no CPU price is known, not on the bill"]


def zone_tariff(catalog: Catalog, request: Request, workload: Workload, operations: Operations, provider: str,
                region: str | None) -> Tariff:
    """Prices of one zone beside its GPUs. Raises MissingFactError where no price at all is known."""
    egress, egress_source = _egress(catalog, request, provider, region)
    tiers, warnings = _tiers(catalog, request, provider, region, egress, operations)
    log, more = _log_price(catalog, request, provider)
    warnings += more
    pools = []
    control, more = _cpu_pool("control", operations.control_vcpus, operations.control_memory_gib, 1, catalog,
                              request, provider, region)
    warnings += more
    pools += [control] if control else []
    if workload.tools is not None:
        tools = workload.tools
        machines, more = _cpu_pool("environment", tools.vcpus, tools.memory_bytes / 2**30, tools.instances, catalog,
                                   request, provider, region)
        if machines is None:
            raise MissingFactError("the price of CPU machines", "the environment", "give costs.vcpu_hour")
        warnings += more
        pools.append(machines)
    rate = usd_rate(log.currency, request) or 0.0
    return Tariff(
        provider, region, tiers, egress, egress_source, (log.ingest_per_gb or 0.0) * rate,
        (log.retention_gb_month or 0.0) * rate / HOURS_PER_MONTH, (log.included_days or 0.0) * HOURS_PER_DAY,
        log.id, log.source, log.as_of, tuple(pools), tuple(warnings))
