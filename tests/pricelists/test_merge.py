"""Lists laid over the shipped catalog, offer by offer: which price stands, and what is said of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.facts import Catalog, Offer
from rlopt.facts.files.folder import load_catalog
from rlopt.pricelists.contract import PriceList
from rlopt.pricelists.merge import OLDER, laid_over
from tests.pricelists.lists import HALL, RENTED, SKYPILOT, own, read

P5 = "aws/us-east-1/any/p5.48xlarge/on_demand"
H200 = "nebius/eu-north1/any/gpu-h200-sxm_8gpu-128vcpu-1600gb/on_demand"
CARD = "gpu_8x_h100_sxm5"


def over(*lists: PriceList) -> Catalog:
    return laid_over(load_catalog(), lists)


def offers(catalog: Catalog) -> dict[str, Offer]:
    return {one.id: one for one in (*catalog.offers, *catalog.zone_offers)}


def lambda_list(as_of: str, region: str = "us-east-1") -> PriceList:
    return read(f"{SKYPILOT.splitlines()[0]}\n{CARD},H100,8.0,208,1800,31.92,{region},,\n", "lambda", as_of=as_of)


def test_without_a_list_nothing_changes() -> None:
    assert over() == load_catalog()


def test_an_offer_of_the_same_name_is_replaced_and_the_rest_stays() -> None:
    before, after = offers(load_catalog()), offers(over(read(own(RENTED))))
    assert before.keys() == after.keys()
    assert [key for key in before if before[key] != after[key]] == [P5]
    assert (after[P5].price_per_hour, after[P5].net) == (41.5, True)


def test_a_private_offer_is_added_with_its_machine() -> None:
    catalog = over(read(own(HALL | {"price_per_hour": 12})))
    assert offers(catalog)["onprem/hall-1/any/dgx-h100/on_demand"].price_per_hour == 12
    assert catalog.shapes["onprem/dgx-h100"].gpus == 8


def test_a_public_price_that_is_older_stays_out_and_is_counted() -> None:
    shipped = offers(load_catalog())[H200]
    newer, older = read(SKYPILOT, "nebius", as_of="2027-01-01"), read(SKYPILOT, "nebius", as_of="2020-01-01")
    assert offers(over(newer))[H200].as_of == "2027-01-01"
    found = over(older)
    assert offers(found)[H200] == shipped
    assert found.left_out[OLDER] > 0
    assert OLDER not in over(newer).left_out


def test_of_two_lists_ones_own_stands_then_the_newer() -> None:
    first, second = read(SKYPILOT, "nebius", as_of="2027-01-01"), read(SKYPILOT, "nebius", as_of="2027-01-02")
    mine = read(own({"provider": "nebius", "gpu": "H200", "gpus": 8, "region": "eu-north1", "price_per_hour": 20}))
    for lists in ((first, second, mine), (mine, second, first)):
        assert offers(over(*lists))[H200].price_per_hour == 20
    assert offers(over(second, first))[H200].as_of == "2027-01-02"


def test_a_price_by_region_takes_the_place_of_one_for_everywhere() -> None:
    everywhere = f"lambda/any/any/{CARD}/on_demand"
    assert everywhere in offers(load_catalog())
    found = offers(over(lambda_list("2027-01-01")))
    assert everywhere not in found
    assert found[f"lambda/us-east-1/any/{CARD}/on_demand"].price_per_hour == 31.92
    assert "lambda/any/any/gpu_1x_h100_sxm5/on_demand" in found  # another machine


def test_ones_own_price_for_everywhere_stays() -> None:
    mine = read(own({"provider": "lambda", "instance_type": CARD, "price_per_hour": 20}))
    found = offers(over(lambda_list("2027-01-01"), mine))
    assert found[f"lambda/any/any/{CARD}/on_demand"].price_per_hour == 20


def test_each_list_says_where_it_comes_from() -> None:
    kept = replace(read(own(RENTED), name="team"), read_on="2026-11-21")
    last, before = over(read(own(HALL | {"price_per_hour": 12}), name="own.csv"), kept).provenance[-1:-3:-1]
    assert (last.name, last.as_of, last.rows, last.source) == ("user catalog team", "2026-11-02", 1, "prices.csv")
    assert before.name == "price list own.csv"


@pytest.mark.parametrize("as_of", ["2026-11-09", "2027-01-01"])
def test_the_day_decides_also_against_shipped_months(as_of: str) -> None:
    shipped = offers(load_catalog())[H200]
    found = offers(over(read(SKYPILOT, "nebius", as_of=as_of)))[H200]
    assert (found != shipped) == (as_of >= shipped.as_of)
