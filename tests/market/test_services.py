"""Prices of what stands beside pools and stores: requests, disks, fast stores, metrics, bringing the data set in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlopt.errors import MissingFactError
from rlopt.facts import CachePrice, LogPrice, Traffic
from rlopt.facts.files.folder import load_catalog
from rlopt.market.price_book import TariffBook, zone_tariff
from rlopt.market.services import cheapest_cache
from rlopt.market.volumes import cached_bytes, dataset_bytes, versions
from rlopt.request import Request
from rlopt.request.job.cache import Cache
from rlopt.request.job.data_work import StandsIn, Versions
from rlopt.units import Money
from rlopt.workloads import Tools
from tests.costs.hand import OPERATIONS, hand_problem, request
from tests.costs.rich import ACTING
from tests.market.test_tariffs import LOGS, STORES, TRAFFIC, book, leaving, store

GIB = 2.0**30


def asked(**job: Any) -> Request:
    found = request().replaced("costs.storage_provider", "far")
    for key, value in job.items():
        found = found.replaced(f"job.{key.replace('__', '.')}", value)
    return found


def memory(name: str, provider: str, gib: float | None, hour: float | None, per_gib: float | None = None) -> CachePrice:
    return CachePrice(name, provider, "s", name, "cache", gib, None, hour, per_gib, "USD", None, "high", "", "test")


def metric(provider: str, month: float | None, gb: float | None, confidence: str = "high") -> LogPrice:
    return LogPrice(
        f"{provider}-m", provider, "l", "m", None, None, None, month, "USD", None, confidence, "", "test", "", gb
    )


def test_requests_and_the_way_back_from_another_providers_store() -> None:
    priced = replace(store("north", "n1", "n1-hot", 0.73), put_per_1000=0.005, get_per_1000=0.0004)
    tier = zone_tariff(book(storage=(priced,)), "north", "n1").tiers[0]
    assert tier.put_usd == pytest.approx(5e-6)
    assert tier.get_usd == pytest.approx(4e-7)
    assert tier.download_per_gb == 0.0
    # out of east at the highest known, out of far at far's own
    away = zone_tariff(book(traffic=(leaving("north", "n1", 0.3), leaving("far", None, 0.2))), "east", "e1").tiers[0]
    assert (away.upload_per_gb, away.download_per_gb) == (0.3, 0.2)


def test_the_cheapest_disk_of_the_place() -> None:
    disks = (store("north", "n1", "slow", 0.073, "block"), store("north", "n1", "quick", 0.2, "block"))
    found = zone_tariff(book(storage=(*STORES, *disks)), "north", "n1").disk
    assert found is not None
    assert (found.name, found.usd_gb_hour) == ("slow", pytest.approx(0.0001))
    # another provider's disks cannot be attached
    assert zone_tariff(book(storage=(*STORES, *disks)), "east", "e1").disk is None


def test_a_region_that_lists_no_disks_takes_those_of_the_reference_region() -> None:
    disks = (store("north", "n1", "quick", 0.2, "block"), store("north", "n3", "cheap", 0.1, "block"))
    found = zone_tariff(book(storage=(*STORES, *disks)), "north", "n2").disk  # n2 lists an object store alone
    assert found is not None
    assert found.name == "quick"
    # no machine boots from such a volume
    slow = store("north", "n2", "slow", 0.01, "hdd")
    assert zone_tariff(book(storage=(*STORES, slow)), "north", "n2").disk is None


def test_every_offer_of_a_provider_with_disks_has_a_price_of_them() -> None:
    catalog = load_catalog()
    tariffs = TariffBook(catalog, asked(), hand_problem().workload, OPERATIONS)
    listed = {row.provider for row in catalog.storage if row.kind == "block"}
    places = {(o.provider, o.region) for o in catalog.offers if o.provider in listed}
    assert {"gcp", "azure", "aws"} <= {provider for provider, _ in places}
    disks = {place: tariffs.disk(*place) for place in places}
    assert not [place for place, disk in disks.items() if disk is None]
    assert not [
        place for place, disk in disks.items() if disk is not None and disk.name.endswith(("pd-standard", "extreme"))
    ]


def test_a_cache_of_the_region_comes_before_a_cheaper_one_elsewhere() -> None:
    held = asked(cache=Cache(replay=3 * GIB))
    rows = (
        replace(memory("near", "north", 4.0, 0.5), region="n1"),
        replace(memory("elsewhere", "north", 4.0, 0.1), region="n2"),
        replace(memory("no size", "north", None, 0.1), region="n3"),
    )
    found = {region: zone_tariff(book(held, caches=rows), "north", region).cache for region in ("n1", "n2", "n3")}
    assert {region: store.name for region, store in found.items() if store is not None} == {
        "n1": "near",
        "n2": "elsewhere",
        "n3": "near",
    }


def test_each_price_of_another_region_is_said_once_by_kind() -> None:
    held = asked(cache=Cache(replay=3 * GIB))
    disk, cold = store("north", "n1", "disk", 0.2, "block"), store("north", "n1", "cold", 0.1, min_days=9.0)
    caches = (replace(memory("ours", "north", 4.0, 0.5), region="n1"),)
    logs = (replace(LOGS[0], region="n1"), replace(metric("north", 0.73, None), region="n1"))
    made = book(held, storage=(*STORES, disk, cold), caches=caches, logs=logs)
    words = {
        kind: f"{kind}: north's price in n1 stands in for that of n9"
        for kind in ("storage", "disks", "fast store", "text log", "metrics")
    }
    found = zone_tariff(made, "north", "n9")
    assert sorted(text for text in found.warnings if "stands in" in text) == sorted(words.values())
    assert found.disk is not None
    assert found.cache is not None
    assert found.metering is not None
    notes = (*(tier.note for tier in found.tiers), found.disk.note, found.cache.note, found.log_note)
    kinds = (*("storage" for _ in found.tiers), "disks", "fast store", "text log")
    assert (*notes, found.metering.note) == (*(words[kind] for kind in kinds), words["metrics"])
    assert len(found.tiers) == 3  # a volume takes copies too
    assert not [text for text in zone_tariff(made, "north", "n1").warnings if "stands in" in text]
    nowhere = zone_tariff(made, "north", None).warnings
    assert "disks: north's price in n1 stands in for that of a region that is not stated" in nowhere


def test_head_node_and_environment_boot_from_a_volume_each() -> None:
    tools = Tools(calls_mean=1.0, seconds_mean=1.0, instances=100, vcpus=2.0, memory_bytes=4 * GIB)
    disk = store("north", "n1", "disk", 0.2, "block")
    found = zone_tariff(book(tools=tools, storage=(*STORES, disk)), "north", "n1")
    (machines,) = found.environments
    assert found.control is not None
    assert machines is not None
    assert machines.nodes > 1
    image = load_catalog().nodes.disk_image_gib * GIB / 1e9
    assert found.boot_gb() == pytest.approx([(found.control.nodes + machines.nodes) * image])
    assert zone_tariff(book(tools=tools), "north", "n1").boot_gb().tolist() == [0]  # no disks are listed
    # how many machines stand behind a price of CPU time is not known
    time = request().replaced("costs.storage_provider", "far").replaced("costs.vcpu_hour", Money(0.05, "USD"))
    bare = zone_tariff(book(time, tools=tools, storage=(*STORES, disk), cpu_offers=()), "north", "n1")
    assert bare.boot_gb().tolist() == [0]


@pytest.mark.parametrize(
    ("gib", "name", "usd"),
    [
        (3.0, "node", 0.5),  # one node of 4 GiB: 0.5, against 3 GiB at 0.2 or 20 bought at 0.06
        (1.0, "small", 0.2),
        (8.0, "node", 1.0),  # two nodes
        (18.0, "large", 1.2),  # 20 GiB at 0.06, the size that its price was seen at
        (100.0, "large", 6.0),
    ],
)
def test_the_cheapest_store_that_holds_the_bytes(gib: float, name: str, usd: float) -> None:
    rows = (
        memory("small", "north", 1.0, None, 0.2),
        memory("large", "north", 20.0, None, 0.06),
        memory("node", "north", 4.0, 0.5),
        memory("unknown", "north", None, 0.001),
        replace(memory("database", "north", 100.0, 0.001), kind="database"),
    )
    found = cheapest_cache(rows, lambda _: 1.0, gib, ("north", None))
    assert found is not None
    assert (found.name, found.usd_per_hour) == (name, pytest.approx(usd))
    assert found.gib >= gib


def test_the_fast_store_of_another_provider_stands_in() -> None:
    held = asked(cache=Cache(replay=3 * GIB, peak_ops=500.0))
    rows = (memory("own", "north", 4.0, 0.5), memory("theirs", "far", 4.0, 0.9), memory("cheap", "south", 4.0, 0.1))
    here = zone_tariff(book(held, caches=rows), "north", "n1")
    assert here.cache is not None
    assert here.cache.name == "own"
    assert any("job.cache.peak_ops" in text and "500" in text for text in here.warnings)
    there = zone_tariff(book(held, caches=rows), "east", "e1")
    assert there.cache is not None
    assert there.cache.name == "theirs"
    assert any("east lists no fast store" in text for text in there.warnings)
    with pytest.raises(MissingFactError, match="fast store"):
        zone_tariff(book(held), "north", "n1")
    assert zone_tariff(book(asked(), caches=rows), "north", "n1").cache is None


@pytest.mark.parametrize(
    ("ops", "name", "gib", "usd"),
    [
        (0.0, "plain", 4.0, 0.2),  # no operations asked: the cheapest that holds 3 GiB
        (900.0, "slow", 4.0, 0.3),  # of the two that say what they carry
        (1900.0, "slow", 8.0, 0.6),  # two nodes of it
        (2900.0, "quick", 4.0, 0.8),  # three nodes would cost 0.9
        (9000.0, "quick", 8.0, 1.6),
    ],
)
def test_operations_at_the_peak_choose_the_store(ops: float, name: str, gib: float, usd: float) -> None:
    rows = (
        memory("plain", "north", 4.0, 0.2),
        replace(memory("slow", "north", 4.0, 0.3), ops_per_second=1000.0),
        replace(memory("quick", "north", 4.0, 0.8), ops_per_second=5000.0),
    )
    found = cheapest_cache(rows, lambda _: 1.0, 3.0, ("north", None), "", ops)
    assert found is not None
    assert (found.name, found.gib, found.usd_per_hour) == (name, gib, pytest.approx(usd))
    assert not ops or (found.ops_per_second or 0.0) >= ops
    by_size = (replace(memory("sized", "north", 4.0, None, 0.1), ops_per_second=1000.0),)
    sized = cheapest_cache(by_size, lambda _: 1.0, 3.0, ("north", None), "", ops)
    assert sized is not None
    assert sized.usd_per_hour == pytest.approx(0.4 * max(-(-ops // 1000.0), 1.0))


def test_operations_that_a_source_states_are_not_warned_of() -> None:
    held = asked(cache=Cache(replay=3 * GIB, peak_ops=500.0))
    rows = (replace(memory("own", "north", 4.0, 0.5), ops_per_second=400.0),)
    here = zone_tariff(book(held, caches=rows), "north", "n1")
    assert here.cache is not None
    assert (here.cache.gib, here.cache.ops_per_second) == (8.0, 800.0)
    assert not any("peak_ops" in text for text in here.warnings)


def test_the_shipped_catalog_states_what_some_stores_carry() -> None:
    # Azure's C3 is a pair of nodes at 0.225 USD/h each and carries 90,000 requests a second over TLS, its P1 a pair at
    # 0.277 and 172,000
    azure = [row for row in load_catalog().caches if row.provider == "azure" and row.ops_per_second]
    for ops, name, usd in ((5e4, "standard-c3", 0.45), (9.1e4, "premium-p1", 0.554), (2.6e5, "premium-p1", 1.108)):
        found = cheapest_cache(azure, lambda _: 1.0, 2.0, ("azure", "eastus"), "", ops)
        assert found is not None
        assert name in found.name
        assert found.usd_per_hour == pytest.approx(usd, abs=1e-3)


def test_the_replay_floor_sets_the_store_s_size() -> None:
    workload = replace(hand_problem().workload, acting=ACTING)
    held = asked(cache=Cache(replay=1e6, index=5e6)).replaced("floors.replay_buffer", 10)
    # ten trajectories of 30 stored frames, a million pixels each at 0.1 byte
    assert cached_bytes(held, workload, OPERATIONS) == pytest.approx(5e6 + 10 * 30 * 1e5)
    assert cached_bytes(asked(cache=Cache(replay=1e9)), workload, OPERATIONS) == 1e9
    assert cached_bytes(asked(), workload, OPERATIONS) == 0


def test_metrics_by_series_by_size_or_as_lines_of_a_log() -> None:
    rows = (*LOGS, metric("far", None, 246.0))
    lines = zone_tariff(book(logs=rows), "north", "n1").metering
    assert lines is not None
    assert (lines.usd_series_hour, lines.usd_per_gb, lines.point_bytes) == (0.0, 0.4, OPERATIONS.metric_line_bytes)
    assert lines.egress_per_gb == 0.0
    size = zone_tariff(book(logs=rows), "east", "e1").metering
    assert size is not None
    assert (size.usd_per_gb, size.point_bytes, size.egress_per_gb) == (246.0, OPERATIONS.metric_value_bytes, 0.2)
    weak = zone_tariff(book(logs=(*LOGS, metric("north", 0.73, None, "low"))), "north", "n1")
    assert weak.metering is not None
    assert weak.metering.usd_series_hour == pytest.approx(0.001)
    assert any("low confidence" in text for text in weak.warnings)


def test_logs_that_leave_the_provider_pay_for_the_way() -> None:
    assert zone_tariff(book(), "north", "n1").log_egress_per_gb == 0.0
    assert zone_tariff(book(), "east", "e1").log_egress_per_gb == 0.2


@pytest.mark.parametrize(
    ("provider", "region", "place", "usd", "says"),
    [
        ("north", "n1", ("north", "n1"), 0.0, "already"),
        ("north", "n2", ("north", "n1"), 0.02, "another region"),
        ("north", "n3", ("north", "n1"), 0.03, "another region"),  # no row of its own: the dearest of the provider's
        ("north", "n1", ("far", "f1"), 9.0, "over the internet"),  # a single service's traffic counts as well
        ("far", "f1", ("north", "n1"), 0.2, "over the internet"),
        ("far", "f1", ("east", "e1"), 0.0, "already"),  # east's pools use far's store
        ("west", "w1", ("north", "n1"), 9.0, "highest known"),
    ],
)
def test_bringing_the_data_set_in(provider: str, region: str, place: tuple[str, str], usd: float, says: str) -> None:
    across = tuple(
        Traffic("north", where, "cross_region", ((None, price),), "USD", "", "test")
        for where, price in (("n2", 0.02), ("n1", 0.03))
    )
    away = asked(data__stands_in=StandsIn(provider=provider, region=region))
    found = zone_tariff(book(away, traffic=(*TRAFFIC, *across)), *place)
    assert found.data_per_gb == usd
    assert says in found.data_note


def test_a_data_set_beside_the_pools_is_not_brought_in() -> None:
    found = zone_tariff(book(), "north", "n1")
    assert (found.data_per_gb, found.data_note) == (0.0, "")


def test_versions() -> None:
    assert versions(asked()) == 1.0
    full, delta = (Versions(count=5, changed_share=0.1, copies=how) for how in ("full", "delta"))
    assert versions(asked(data__versions=full)) == 5.0
    assert versions(asked(data__versions=delta)) == pytest.approx(1.4)
    assert dataset_bytes(asked(data__versions=delta)) == pytest.approx(1.4 * 40e9)


def test_the_catalog_prices_what_large_clouds_charge() -> None:
    catalog = load_catalog()
    months = {row.provider: row.metric_month for row in catalog.logs if row.metric_month}
    sizes = {row.provider: row.metric_per_gb for row in catalog.logs if row.metric_per_gb}
    assert months == {"aws": 0.3}
    assert sizes == {"gcp": pytest.approx(0.258 * 1e9 / 2**20)}
    standard = next(tier for tier in catalog.storage if tier.id == "aws/us-east-1/s3/standard")
    assert (standard.put_per_1000, standard.get_per_1000) == (0.005, 0.0004)
