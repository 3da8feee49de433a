"""Rows of machines, prices, storage, traffic and services."""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.facts import CachePrice, Commitment, CpuOffer, LogPrice, Offer, Shape, StorageTier, Traffic
from rlopt.facts.files.cells import Row, date, number, whole

Sources = Mapping[str, str]
Countries = Mapping[tuple[str, str], str]


def shape(row: Row, sources: Sources) -> Shape:
    """Read one machine type."""
    return Shape(
        key=row["key"],
        provider=row["provider"],
        instance_type=row["instance_type"],
        aliases=tuple(row["aliases"].split("|")) if row["aliases"] else (),
        device=row["device"],
        gpus=int(row["gpus"]),
        intra=row["intra"],
        vcpus=number(row["vcpus"]),
        host_memory_gib=number(row["host_memory_gib"]),
        local_disk_gib=number(row["local_disk_gib"]),
        internode_gbps=number(row["internode_gbps"]),
        cluster=row["cluster"],
        max_nodes=whole(row["max_nodes"]),
        grade=row["grade"],
        notes=row["notes"],
        source=sources[row["source"]],
    )


def offer(row: Row, sources: Sources, shapes: Mapping[str, Shape], countries: Countries) -> Offer:
    """Read one offer and join it with its machine."""
    machine = shapes[row["shape"]]
    region = row["region"] or None
    return Offer(
        id=row["id"],
        shape=machine,
        provider=machine.provider,
        region=region,
        zone=row["zone"] or None,
        country=countries.get((machine.provider, region)) if region else None,
        pricing=row["pricing"],
        term_hours=number(row["term_hours"]),
        price_per_hour=float(row["price_per_hour"]),
        currency=row["currency"],
        price_low=float(row["price_low"]),
        price_high=float(row["price_high"]),
        zones=int(row["zones"]),
        grade=row["grade"],
        confidence=row["confidence"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )


def cpu_offer(row: Row, sources: Sources, countries: Countries) -> CpuOffer:
    """Read one price of a machine without a GPU."""
    region = row["region"] or None
    return CpuOffer(
        id=row["id"],
        provider=row["provider"],
        region=region,
        country=countries.get((row["provider"], region)) if region else None,
        instance_type=row["instance_type"],
        vcpus=float(row["vcpus"]),
        memory_gib=float(row["memory_gib"]),
        pricing=row["pricing"],
        price_per_hour=float(row["price_per_hour"]),
        currency=row["currency"],
        grade=row["grade"],
        confidence=row["confidence"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
    )


def storage_tier(row: Row, sources: Sources) -> StorageTier:
    """Read one storage tier."""
    return StorageTier(
        id=row["id"],
        provider=row["provider"],
        region=row["region"] or None,
        service=row["service"],
        tier=row["tier"],
        kind=row["kind"],
        price_gb_month=float(row["price_gb_month"]),
        currency=row["currency"],
        retrieval_per_gb=number(row["retrieval_per_gb"]),
        put_per_1000=number(row["put_per_1000"]),
        get_per_1000=number(row["get_per_1000"]),
        min_days=float(row["min_days"]),
        restore_hours=float(row["restore_hours"]),
        throughput_mb_s=number(row["throughput_mb_s"]),
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )


def traffic(row: Row, sources: Sources) -> Traffic:
    """Read one price of traffic; bands are written ``up_to:price|up_to:price``."""
    bands = (band.split(":") for band in row["bands"].split("|"))
    return Traffic(
        provider=row["provider"],
        region=row["region"] or None,
        kind=row["kind"],
        bands=tuple((number(upper), float(price)) for upper, price in bands),
        currency=row["currency"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        service=row["service"],
        note=row["note"],
    )


def log_price(row: Row, sources: Sources) -> LogPrice:
    """Read one price of logging."""
    return LogPrice(
        id=row["id"],
        provider=row["provider"],
        service=row["service"],
        item=row["item"],
        ingest_per_gb=number(row["ingest_per_gb"]),
        retention_gb_month=number(row["retention_gb_month"]),
        included_days=number(row["included_days"]),
        metric_month=number(row["metric_month"]),
        metric_per_gb=number(row["metric_per_gb"]),
        currency=row["currency"],
        region=row["region"] or None,
        confidence=row["confidence"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )


def cache_price(row: Row, sources: Sources) -> CachePrice:
    """Read one price of a cache or database."""
    return CachePrice(
        id=row["id"],
        provider=row["provider"],
        service=row["service"],
        item=row["item"],
        kind=row["kind"],
        memory_gib=number(row["memory_gib"]),
        vcpus=number(row["vcpus"]),
        price_per_hour=number(row["price_per_hour"]),
        per_gib_hour=number(row["per_gib_hour"]),
        ops_per_second=number(row["ops_per_second"]),
        currency=row["currency"],
        region=row["region"] or None,
        confidence=row["confidence"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )


def commitment(row: Row, sources: Sources) -> Commitment:
    """Read one discount for a promise."""
    return Commitment(
        id=row["id"],
        provider=row["provider"],
        kind=row["kind"],
        family=row["family"],
        gpus=number(row["gpus"]),
        term_hours=number(row["term_hours"]),
        price_per_hour=number(row["price_per_hour"]),
        on_demand_per_hour=number(row["on_demand_per_hour"]),
        discount=number(row["discount"]),
        currency=row["currency"],
        as_of=date(row["as_of"]),
        source=sources[row["source"]],
        note=row["note"],
    )
