"""Prices beside the GPUs': the fallbacks in their order, each with its warning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, CpuOffer, LogPrice, StorageTier, Traffic
from rlopt.market.price_book import TariffBook, zone_tariff
from rlopt.problem.tariff import Tariff, Tier, TierTable
from rlopt.request import Request
from rlopt.workloads import Tools
from tests.costs.hand import AWAY, COLD, HOT, OPERATIONS, hand_problem, request


def store(provider: str, region: str | None, name: str, usd: float, kind: str = "object", **more: Any) -> StorageTier:
    fields = {"retrieval_per_gb": 0.0, "min_days": 0.0, "restore_hours": 0.0, "throughput_mb_s": None} | more
    return StorageTier(
        id=name,
        provider=provider,
        region=region,
        service="s",
        tier=name,
        kind=kind,
        price_gb_month=usd,
        currency="USD",
        put_per_1000=0.0,
        get_per_1000=0.0,
        as_of="2026-11-01",
        source="test",
        **fields,
    )


def leaving(provider: str, region: str | None, usd: float, **more: Any) -> Traffic:
    return Traffic(provider, region, "egress_internet", ((None, usd),), "USD", "2026-11-01", "test", **more)


def log(provider: str, name: str, ingest: float | None) -> LogPrice:
    return LogPrice(name, provider, "l", name, ingest, 0.073, 30.0, None, "USD", None, "high", "2026-11-01", "test")


def cpu(provider: str, region: str, name: str, vcpus: float, memory: float, usd: float, **more: Any) -> CpuOffer:
    fields = {"pricing": "on_demand", "grade": "list", "confidence": "high", "currency": "USD"} | more
    return CpuOffer(
        id=name,
        provider=provider,
        region=region,
        country=None,
        instance_type=name,
        vcpus=vcpus,
        memory_gib=memory,
        price_per_hour=usd,
        as_of="2026-11-01",
        source="test",
        **fields,
    )


STORES = (
    store("north", "n1", "n1-hot", 0.73),
    store("north", "n2", "n2-hot", 1.46),
    store("far", "f1", "far-hot", 0.365),
    store("far", "f2", "far-other", 0.1),
    store("far", "f1", "far-cold", 0.0365, "archive", min_days=90.0, restore_hours=12.0, retrieval_per_gb=0.01),
    store("far", "f1", "far-disk", 0.01, "block"),
    store("north", "n1", "scratch", 0.001, "local"),
)
TRAFFIC = (
    leaving("north", "n1", 0.08),
    leaving("north", "n2", 0.11),
    leaving("far", None, 0.2),
    leaving("north", "n1", 9.0, service="cdn"),
)
LOGS = (log("north", "n-dear", 1.0), log("north", "n-cheap", 0.4), log("far", "f-log", 0.7), log("north", "n-no", None))
CPUS = (
    cpu("north", "n1", "n-small", 4, 16, 0.1),
    cpu("north", "n1", "n-big", 16, 64, 0.5),
    cpu("north", "n2", "n2-big", 8, 32, 0.3),
    cpu("far", "f1", "f-big", 8, 32, 0.9),
    cpu("north", "n1", "n-spot", 16, 64, 0.01, pricing="spot"),
    cpu("north", "n1", "n-low", 16, 64, 0.01, confidence="low"),
)


def book(asked: Request | None = None, tools: Tools | None = None, **changes: Any) -> TariffBook:
    costs = request().costs.model_dump(by_alias=True) | {"storage_provider": "far"}
    chosen = asked or request(costs=costs)
    facts = {"storage": STORES, "traffic": TRAFFIC, "logs": LOGS, "cpu_offers": CPUS} | changes
    references = {"north": "n1", "far": "f1"}
    catalog: Catalog = replace(hand_problem().catalog, reference_regions=references, **facts)
    return TariffBook(
        catalog,
        chosen,
        replace(hand_problem().workload, tools=tools, instances=(tools.instances,) if tools else ()),
        OPERATIONS,
    )


def names(tariff: Tariff) -> list[str]:
    return [tier.name for tier in tariff.tiers]


def test_the_same_region_comes_first() -> None:
    found = zone_tariff(book(), "north", "n2")
    assert names(found) == ["n2-hot"]
    assert found.egress_per_gb == 0.11
    assert found.tiers[0].usd_gb_hour == pytest.approx(1.46 / 730)
    assert found.tiers[0].upload_per_gb == 0.0
    assert found.tiers[0].gb_s_per_node == OPERATIONS.checkpoint_read_gb_s_per_node


def test_then_the_providers_reference_region() -> None:
    found = zone_tariff(book(), "north", "n9")
    assert names(found) == ["n1-hot"]
    assert found.egress_per_gb == 0.08


def test_then_the_named_storage_provider_with_a_warning_and_its_traffic() -> None:
    found = zone_tariff(book(), "east", "e1")
    # object and archive of far's reference region; no block storage across the network, no local disks
    assert names(found) == ["far-hot", "far-cold"]
    # the traffic out of east is unknown: the highest known
    assert [tier.upload_per_gb for tier in found.tiers] == [0.2, 0.2]
    assert found.egress_per_gb == 0.2
    assert "highest known" in found.egress_source
    assert any("east lists no object store" in text for text in found.warnings)


def test_no_storage_price_anywhere_is_a_missing_fact() -> None:
    with pytest.raises(MissingFactError, match="storage prices of far"):
        zone_tariff(book(storage=STORES[:2]), "east", "e1")


def test_a_volume_that_is_slower_than_the_node_sets_the_speed() -> None:
    slow = store("north", "n1", "slow", 0.1, throughput_mb_s=125.0)
    found = zone_tariff(book(storage=(slow,)), "north", "n1")
    assert found.tiers[0].gb_s_per_node == pytest.approx(0.125)


def test_dominated_tiers_are_left_out() -> None:
    dear = store("north", "n1", "n1-dear", 0.8, retrieval_per_gb=0.1)
    assert names(zone_tariff(book(storage=(*STORES, dear)), "north", "n1")) == ["n1-hot"]


def test_dominance_between_tiers() -> None:
    assert not HOT.dominates(HOT)
    assert not HOT.dominates(COLD)  # dearer by the hour
    assert not COLD.dominates(HOT)  # slow to restore
    dearer = replace(HOT, usd_gb_hour=0.002)
    assert HOT.dominates(dearer)
    assert not dearer.dominates(HOT)
    for change in ({"min_hours": 1.0}, {"retrieval_per_gb": 1.0}, {"upload_per_gb": 1.0}, {"gb_s_per_node": 0.1}):
        assert not replace(HOT, **change).dominates(dearer)


def test_a_disk_of_one_machine_does_not_stand_in_for_a_store() -> None:
    # cheaper in every number, but data and base weights cannot stand there
    disk = replace(HOT, kind="block", usd_gb_hour=0.0005)
    assert not disk.ready
    assert not disk.dominates(HOT)
    assert HOT.dominates(replace(disk, usd_gb_hour=0.002))


def test_the_cheapest_log_of_the_provider_or_of_the_fallback() -> None:
    found = zone_tariff(book(), "north", "n1")
    assert (found.log_name, found.log_ingest_per_gb) == ("n-cheap", 0.4)
    assert found.log_gb_hour == pytest.approx(0.0001)
    assert found.log_free_hours == 720
    elsewhere = zone_tariff(book(), "east", "e1")
    assert elsewhere.log_name == "f-log"
    assert any("east lists no logging service" in text for text in elsewhere.warnings)
    with pytest.raises(MissingFactError, match="logging price"):
        zone_tariff(book(logs=LOGS[:1]), "east", "e1")


def test_machines_without_gpus_the_region_first() -> None:
    # 8 vCPUs and 32 GiB: only the big one holds the head node; spot and low confidence do not count
    found = zone_tariff(book(), "north", "n1").cpu_pools(0)
    assert [(pool.name, pool.offer, pool.nodes, pool.usd_per_hour) for pool in found] == [("control", "n-big", 1, 0.5)]
    assert found[0].note == ""


def test_machines_without_gpus_another_region_then_another_provider() -> None:
    other = zone_tariff(book(), "north", "n9")
    assert other.cpu_pools(0)[0].offer == "n2-big"
    assert any("another region of north" in text for text in other.warnings)
    assert "another region" in other.cpu_pools(0)[0].note
    foreign = zone_tariff(book(), "east", "e1")
    assert foreign.cpu_pools(0)[0].offer == "f-big"
    assert any("east lists no CPU machine" in text for text in foreign.warnings)


def test_a_stated_price_of_a_cpu_comes_before_another_regions() -> None:
    costs = request().costs.model_dump(by_alias=True)
    costs |= {"storage_provider": "far", "vcpu_hour": {"amount": 0.05, "currency": "USD"}}
    found = zone_tariff(book(request(costs=costs)), "north", "n9").cpu_pools(0)[0]
    assert found.offer == "costs.vcpu_hour"
    assert found.usd_per_hour == pytest.approx(8 * 0.05)
    # but after the region's own
    assert zone_tariff(book(request(costs=costs)), "north", "n1").cpu_pools(0)[0].offer == "n-big"


def test_no_price_of_a_head_node_is_a_warning_of_an_environment_an_error() -> None:
    found = zone_tariff(book(cpu_offers=()), "north", "n1")
    assert found.cpu_pools(0) == ()
    assert any("no CPU price is known" in text for text in found.warnings)
    tools = Tools(calls_mean=1.0, seconds_mean=1.0, instances=10, vcpus=2.0, memory_bytes=0.0)
    with pytest.raises(MissingFactError, match="price of CPU machines"):
        zone_tariff(book(tools=tools, cpu_offers=()), "north", "n1")


def test_workers_are_packed_into_machines() -> None:
    # 10 workers of 2 vCPUs and 4 GiB: n-small holds 2 (5 nodes, 0.5 USD/h), n-big holds 8 (2 nodes, 1.0 USD/h)
    tools = Tools(calls_mean=1.0, seconds_mean=1.0, instances=10, vcpus=2.0, memory_bytes=4 * 2.0**30)
    control, workers = zone_tariff(book(tools=tools), "north", "n1").cpu_pools(0)
    assert control.name == "control"
    assert (workers.name, workers.offer, workers.nodes) == ("environment", "n-small", 5)
    assert workers.usd_per_hour == pytest.approx(0.5)


def test_prices_without_an_exchange_rate_do_not_count() -> None:
    yuan = tuple(replace(row, currency="CNY") for row in STORES[:2])
    found = zone_tariff(book(storage=(*yuan, *STORES[2:])), "north", "n1")
    assert names(found) == ["far-hot", "far-cold"]
    costs = request().costs.model_dump(by_alias=True)
    costs |= {"exchange_rates": {"CNY": {"amount": 0.5, "currency": "USD"}}}
    found = zone_tariff(book(request(costs=costs), storage=yuan), "north", "n1")
    assert found.tiers[0].usd_gb_hour == pytest.approx(0.73 * 0.5 / 730)


def test_the_table_of_tiers() -> None:
    def tariff(*tiers: Tier) -> Tariff:
        return replace(hand_problem().tariffs[0], tiers=tiers)

    table = TierTable.of([tariff(HOT, COLD), tariff(AWAY)])
    assert table.usd_gb_hour.tolist() == [[0.001, 0.0001], [0.002, float("inf")]]
    assert table.min_hours.tolist() == [[0.0, 100.0], [0.0, 1.0]]
    assert table.ready.tolist() == [[True, False], [True, False]]
    only_cold = TierTable.of([tariff(COLD)])
    assert only_cold.ready.tolist() == [[True]]  # where nothing is at hand, what there is has to do
