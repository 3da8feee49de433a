"""Which offers a request may use, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog, Offer, Shape
from rlopt.facts.files.folder import load_catalog
from rlopt.market.market import NO_RATE, NO_TERM, UNKNOWN_REGION, allowed_regions, named_devices, open_market
from rlopt.market.places import check_places, known_places
from rlopt.problem import Market, Topology
from rlopt.request import Request
from rlopt.request.job.data_work import StandsIn
from rlopt.units import GIB
from tests.costs.hand import hand_problem, offer, request
from tests.market.test_tariffs import store

BASE = offer("north", "n1", "two", "T", 2, 10.0, "on_demand")


def shaped(base: Offer, **changes: Any) -> Offer:
    shape: Shape = replace(base.shape, **changes)
    return replace(base, shape=shape)


def catalog_of(*offers: Offer, zone_offers: tuple[Offer, ...] = (), **changes: Any) -> Catalog:
    catalog = replace(hand_problem().catalog, offers=offers, zone_offers=zone_offers, **changes)
    families, countries = {"t": ("T",), "all": ("T", "U")}, {("north", "n2"): "NO", ("east", "Éast"): "SE"}
    return replace(catalog, families=families, countries=countries)


def asked(**choices: Any) -> Request:
    base = request().choices.model_dump()
    return request(choices={**base, **choices})


def opened(*offers: Offer, gpu_limit: int = 64, zone_offers: tuple[Offer, ...] = (), **choices: Any) -> Market:
    return open_market(asked(**choices), catalog_of(*offers, zone_offers=zone_offers), gpu_limit)


def ids(market: Market) -> list[str]:
    return [one.id for one in market.offers]


SOUTH = offer("south", "s1", "four", "U", 4, 12.0, "on_demand")
SPOT = offer("north", "n1", "two", "T", 2, 4.0, "spot")


def test_everything_is_in_play_where_nothing_is_chosen() -> None:
    market = opened(BASE, SPOT, SOUTH)
    assert ids(market) == [BASE.id, SPOT.id, SOUTH.id]
    assert market.left_out == {}
    assert market.warnings == ()
    assert market.zones == (("north", "n1"), ("south", "s1"))
    assert market.zone.tolist() == [0, 0, 1]
    assert market.spot.tolist() == [False, True, False]
    assert market.gpus.tolist() == [2, 2, 4]
    assert market.usd_per_hour.tolist() == [10.0, 4.0, 12.0]
    assert market.topology.tolist() == [0, 0, 1]
    assert market.topologies == (Topology("T", 2, "nvswitch", 400.0, True), Topology("U", 4, "nvswitch", 400.0, True))


@pytest.mark.parametrize(
    ("choices", "kept", "reason"),
    [
        ({"providers": ["south"]}, 1, "choices.providers"),
        ({"gpus": ["T"]}, 2, "choices.gpus"),
        ({"gpus": ["u"]}, 1, "choices.gpus"),
        ({"pricing": ["spot"]}, 1, "choices.pricing"),
        ({"regions": ["n1"]}, 2, "choices.regions"),
        ({"regions": {"north": ["n2"]}}, 1, "choices.regions"),
        ({"countries": ["DE"]}, 0, "choices.countries"),
        ({"grades": ["marketplace"]}, 0, "choices.grades"),
        ({"price_confidence": ["low"]}, 0, "choices.price_confidence"),
    ],
)
def test_each_choice_cuts_and_is_counted(choices: dict[str, Any], kept: int, reason: str) -> None:
    market = opened(BASE, SPOT, SOUTH, **choices)
    assert len(market.offers) == kept
    assert market.left_out == {reason: 3 - kept}


@pytest.mark.parametrize(
    ("choices", "lacks", "near"),
    [
        ({"providers": ["north", "nort"]}, "provider 'nort', needed for choices.providers", "nearest known: north"),
        ({"providers": ["SOUTH"]}, "provider 'SOUTH'", "nearest known: south"),
        ({"regions": {"nrth": "any"}}, "provider 'nrth', needed for choices.regions", "nearest known: north"),
        ({"regions": {"north": ["n2", "s1"]}}, "region 's1' of north, needed for choices.regions", "nearest known: n1"),
        ({"regions": ["n1", "n3"]}, "region 'n3', needed for choices.regions", "nearest known: n2, n1"),
        ({"regions": ["zzz"]}, "region 'zzz'", "4 are known, none is near"),
    ],
)
def test_a_place_that_no_row_knows_is_a_missing_fact(choices: dict[str, Any], lacks: str, near: str) -> None:
    with pytest.raises(MissingFactError) as error:
        opened(BASE, SPOT, SOUTH, **choices)
    assert lacks in str(error.value)
    assert near in str(error.value)
    assert error.value.exit_code == 2


def test_where_the_data_set_stands_must_be_known() -> None:
    away = asked().replaced("job.data.stands_in", StandsIn(provider="est", region="unheard-of"))
    with pytest.raises(MissingFactError, match=r"provider 'est', needed for job\.data\.stands_in\n.*east"):
        open_market(away, catalog_of(BASE), 64)
    known = asked().replaced("job.data.stands_in", StandsIn(provider="east", region="unheard-of"))
    assert len(open_market(known, catalog_of(BASE), 64).offers) == 1


def test_every_place_of_the_catalogs_is_known() -> None:
    catalog = load_catalog()
    places = known_places(catalog)
    assert {"优云智算", "aws", "hyperstack", "scaleway", "datadog"} <= set(places)
    assert {"cn", "cn-hangzhou"} <= set().union(*places.values())
    check_places(asked(regions={name: sorted(regions) for name, regions in places.items() if regions}), catalog)
    check_places(asked(providers=sorted(places), regions=sorted(set().union(*places.values()))), catalog)


def test_a_family_stands_for_all_its_forms() -> None:
    assert named_devices("all", catalog_of()) == {"T", "U"}
    assert named_devices("t", catalog_of()) == {"T"}
    with pytest.raises(MissingFactError):
        named_devices("nothing", catalog_of())


def test_a_provider_that_a_map_of_regions_does_not_name_may_use_any() -> None:
    chosen = asked(regions={"north": ["n1"], "east": "any"})
    assert allowed_regions(chosen, "north") == {"n1"}
    assert allowed_regions(chosen, "east") is None
    assert allowed_regions(chosen, "south") is None
    assert allowed_regions(asked(regions=["n1"]), "south") == {"n1"}


def test_an_offer_without_a_region_serves_any_region_only() -> None:
    nowhere = replace(BASE, region=None)
    assert len(opened(nowhere).offers) == 1
    market = opened(nowhere, SOUTH, regions=["s1"])
    assert market.left_out == {UNKNOWN_REGION: 1}
    assert market.warnings == (f"1 {UNKNOWN_REGION}: left out",)


def test_reserved_offers_need_a_term() -> None:
    reserved = replace(BASE, pricing="reserved")
    assert opened(reserved, SPOT).left_out == {NO_TERM: 1}
    market = opened(replace(reserved, term_hours=24.0), SPOT)
    assert market.left_out == {}
    assert market.term_hours.tolist() == [24.0, 0.0]


def test_low_prices_of_a_named_provider_are_used_where_it_has_no_better() -> None:
    low = replace(BASE, confidence="low")
    assert opened(low, SOUTH).left_out == {"choices.price_confidence": 1}
    market = opened(low, SOUTH, providers=["north", "south"])
    assert low.id in ids(market)
    assert len(market.warnings) == 1
    assert low.id in market.warnings[0]
    assert "low confidence" in market.warnings[0]
    # a better price of the same provider in play: no rescue
    market = opened(low, SPOT, providers=["north"])
    assert ids(market) == [SPOT.id]
    assert market.left_out == {"choices.price_confidence": 1}


def test_the_regions_median_is_the_spot_price_until_zones_are_named() -> None:
    zones = tuple(replace(SPOT, id=f"z{n}", zone=f"n1-{n}", price_per_hour=3.0 + n) for n in range(3))
    assert ids(opened(BASE, SPOT, zone_offers=zones)) == [BASE.id, SPOT.id]
    market = opened(BASE, SPOT, zone_offers=zones, zones=["n1-0", "n1-2"])
    # what is sold by the region can be had in each of its zones; no traffic crosses between them
    assert ids(market) == [BASE.id, BASE.id, "z0", "z2"]
    assert market.usd_per_hour.tolist() == [10.0, 10.0, 3.0, 5.0]
    assert market.zone.tolist() == [0, 1, 0, 1]
    assert market.zones == (("north", "n1"), ("north", "n1"))
    assert market.left_out == {"choices.zones": 1}


def test_other_currencies_need_a_rate() -> None:
    yuan = replace(BASE, currency="CNY", price_per_hour=100.0)
    market = opened(yuan, SPOT)
    assert market.left_out == {NO_RATE: 1}
    assert market.warnings == (f"1 {NO_RATE}: left out; costs.exchange_rates brings them in",)
    with pytest.raises(MissingFactError, match="exchange rate"):
        opened(yuan)
    costs = request().costs.model_dump(by_alias=True) | {"exchange_rates": {"CNY": {"amount": 0.14, "currency": "USD"}}}
    assert open_market(request(costs=costs), catalog_of(yuan), 64).usd_per_hour == pytest.approx([14.0])


def test_discounts_come_off_the_providers_prices() -> None:
    market = opened(BASE, SOUTH, discounts={"north": 0.25})
    assert market.usd_per_hour == pytest.approx([7.5, 12.0])


def test_a_marketplace_is_used_where_it_is_named_and_one_node_of_it() -> None:
    market_offer = replace(BASE, provider="bazaar", grade="marketplace")
    assert opened(market_offer, SOUTH).left_out == {"choices.grades": 1}
    market = opened(market_offer, providers=["bazaar"])
    assert market.max_nodes.tolist() == [1]
    assert not market.topologies[0].cluster
    assert market.topologies[0].node_gbps is None


@pytest.mark.parametrize(
    ("changes", "cluster"),
    [
        ({}, True),
        ({"cluster": "no"}, False),
        ({"cluster": "unknown"}, False),
        ({"internode_gbps": None}, False),
        ({"internode_gbps": 0.0}, False),
    ],
)
def test_nodes_without_a_known_network_are_no_cluster(changes: dict[str, Any], cluster: bool) -> None:
    topology = opened(shaped(BASE, **changes)).topologies[0]
    assert topology.cluster is cluster
    assert topology.node_gbps == (400.0 if cluster else None)


def test_nodes_of_one_pool() -> None:
    assert opened(BASE, gpu_limit=7).max_nodes.tolist() == [3]  # three nodes of two within seven
    assert opened(BASE, gpu_limit=1).max_nodes.tolist() == [0]
    assert opened(shaped(BASE, max_nodes=2), gpu_limit=64).max_nodes.tolist() == [2]


def test_host_memory() -> None:
    unknown = shaped(BASE, host_memory_gib=None)
    assert opened(BASE, unknown).host_memory_gib.tolist() == [256.0, 0.0]
    limited = request(limits={"host_memory": 10 * GIB})
    assert open_market(limited, catalog_of(BASE, unknown), 64).host_memory_gib.tolist() == [10.0, 10.0]


def test_machines_boot_from_a_volume_of_providers_that_list_them() -> None:
    disks = (store("north", None, "disk", 0.1, "block"), store("south", None, "slow", 0.1, "hdd"))
    market = open_market(asked(), catalog_of(BASE, SOUTH, storage=disks), 64)
    assert market.boot_disk_gib is not None
    assert market.boot_disk_gib.tolist() == [load_catalog().nodes.disk_image_gib, 0.0]
    yuan = replace(disks[0], currency="CNY")  # no rate, no price
    market = open_market(asked(), catalog_of(BASE, SOUTH, storage=(yuan,)), 64)
    assert market.boot_disk_gib is not None
    assert not market.boot_disk_gib.any()


def test_a_device_without_facts_is_left_out() -> None:
    assert opened(shaped(BASE, device="V"), SPOT).left_out == {"devices without facts": 1}
