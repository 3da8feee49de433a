"""The prices a plan rests on, each with its source and date."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.plan import CheckpointDecision, PlannedRun, Pool, PriceUsed
from rlopt.assembly.chosen import ChosenColumn
from rlopt.assembly.loading import mount_prices, preparation
from rlopt.costs.phases import phases_of
from rlopt.problem.tariff import Tariff
from rlopt.units import HOURS_PER_MONTH

DISK_UNIT = "USD/GB/month of disk"


def prices_used(chosen: ChosenColumn, run: PlannedRun) -> list[PriceUsed]:
    """Every price of the bill, with its source, date, grade and (spot) the band over the zones."""
    found = [*_machine_prices(chosen, run.pools), *_tier_prices(chosen.tariff, run.decisions.checkpoint)]
    found += [*_services(run.pools, chosen.tariff), *_log_prices(chosen)]
    phases = [price for phase in phases_of(chosen.variant, chosen.problem) for price in phase.prices]
    later = (*mount_prices(chosen), *(PriceUsed.model_validate(price) for price in phases))
    return found + [price for price in later if price not in found]


def _machine_prices(chosen: ChosenColumn, pools: Sequence[Pool]) -> list[PriceUsed]:
    """Prices of the pools, of machines without GPUs and of those that only prepare samples."""
    by_id, found = {offer.id: offer for offer in chosen.problem.market.offers}, []
    for pool in pools:
        offer = by_id.get(pool.offer)
        if offer is not None:
            paid = pool.usd_per_hour / pool.nodes  # machines of one's own may cost nothing
            scale = paid / offer.price_per_hour if offer.price_per_hour else 0.0
            found.append(
                PriceUsed(
                    offer=offer.id,
                    usd_per_hour=paid,
                    source=offer.source,
                    as_of=offer.as_of,
                    low=offer.price_low * scale,
                    high=offer.price_high * scale,
                    grade=offer.grade,
                    confidence=offer.confidence,
                )
            )
    prepares = preparation(chosen)
    rented = chosen.tariff.cpu_pools(chosen.environment, chosen.variant_number)
    return found + [
        PriceUsed(offer=cpu.offer, usd_per_hour=cpu.usd_per_hour / cpu.nodes, source=cpu.source, as_of=cpu.as_of)
        for cpu in (*rented, *([] if prepares is None else [prepares]))
    ]


def _tier_prices(tariff: Tariff, checkpoint: CheckpointDecision) -> list[PriceUsed]:
    """Prices of the tiers that checkpoints stand in or move to, and of traffic to the internet."""
    tiers, found = {tier.name: tier for tier in tariff.tiers}, []
    for name in dict.fromkeys([*(use.tier for use in checkpoint.tiers), *(move.to for move in checkpoint.moves)]):
        tier = tiers[name]
        found.append(_price(name, tier.usd_gb_hour * HOURS_PER_MONTH, "USD/GB/month", tier.source, tier.as_of))
    traffic = f"{tariff.provider}: traffic to the internet"
    return [*found, _price(traffic, tariff.egress_per_gb, "USD/GB", tariff.egress_source, "")]


def _log_prices(chosen: ChosenColumn) -> list[PriceUsed]:
    """Price of the logging service, where texts or traces are sent there."""
    request, tariff = chosen.problem.request, chosen.tariff
    log, traced = request.job.text_log, request.job.metrics.traces.bytes_per_step
    texts = request.floors.text_log_rate or log.abnormal_share or log.debug_steps
    if traced or (texts and log.kept_in == "service"):
        return [_price(tariff.log_name, tariff.log_ingest_per_gb, "USD/GB", tariff.log_source, tariff.log_as_of)]
    return []


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
