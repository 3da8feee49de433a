"""The three formats: told by their columns, matched to known machines, every row either an offer or named."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from rlopt.errors import InputError
from rlopt.pricelists.formats import FORMATS, format_of
from rlopt.pricelists.table import MOST_COLUMNS
from tests.pricelists.lists import FIGURES, GPUHUNT, HALL, RENTED, SKYPILOT, own, read, reasons, table

HEAD = SKYPILOT.splitlines()[0]


def sky(row: str, provider: str = "nebius") -> list[tuple[int, str, str]]:
    """Reasons of a SkyPilot file with one more row."""
    return reasons(read(f"{SKYPILOT}{row}\n", provider))[1:]


def test_the_columns_say_the_format() -> None:
    for text, name in ((SKYPILOT, "skypilot"), (GPUHUNT, "gpuhunt"), (own(RENTED), "plain")):
        assert name == format_of(table(text)).NAME
    assert [one.NAME for one in FORMATS] == ["skypilot", "gpuhunt", "plain"]


def test_skypilot_gives_one_offer_for_each_machine_region_and_way_of_paying() -> None:
    found = read(SKYPILOT, "nebius")
    prices = {one.id: one.price_per_hour for one in found.offers}
    assert prices == {
        "nebius/eu-north1/any/gpu-h100-sxm_1gpu-16vcpu-200gb/on_demand": 2.95,
        "nebius/eu-north1/any/gpu-h100-sxm_1gpu-16vcpu-200gb/spot": 1.25,
        "nebius/eu-north1/any/gpu-h100-sxm_8gpu-128vcpu-1600gb/on_demand": 23.6,
        "nebius/eu-north1/any/gpu-h100-sxm_8gpu-128vcpu-1600gb/spot": 10.0,
        "nebius/eu-north1/any/gpu-h200-sxm_8gpu-128vcpu-1600gb/on_demand": 28.0,
        "nebius/eu-north1/any/gpu-h200-sxm_8gpu-128vcpu-1600gb/spot": 11.6,
        "nebius/eu-north1/any/gpu-l40s-a_1gpu-8vcpu-32gb/on_demand": 1.5484,
        "nebius/us-central1/any/gpu-h200-sxm_8gpu-128vcpu-1600gb/on_demand": 28.0,
        "nebius/us-central1/any/gpu-h200-sxm_8gpu-128vcpu-1600gb/spot": 11.6,
    }
    assert {(one.currency, one.as_of, one.source, one.confidence) for one in found.offers} == {
        ("USD", "2026-11-20", "prices.csv", "medium")
    }
    assert reasons(found) == [(2, "AcceleratorName", "a machine without GPUs, or one whose GPUs are priced apart")]
    assert not any(one.net for one in found.offers)


def test_the_region_has_the_middle_price_of_its_zones() -> None:
    head = (
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone"
    )
    rows = [
        f"p5.48xlarge,H100,8.0,192,2048,,{price},{spot},us-east-1,{zone}"
        for price, spot, zone in ((55.0, 20.0, "use1-az1"), (55.0, 30.0, "use1-az2"), (56.0, 22.0, "use1-az3"))
    ]
    local = "p5.48xlarge,H100,8.0,192,2048,,60,,us-east-1,use1-atl2-az1"
    found = read("\n".join((head, *rows, local, "")), "aws")
    spot, listed = sorted(found.offers, key=lambda one: one.price_per_hour)
    assert (spot.price_per_hour, spot.price_low, spot.price_high, spot.zones) == (22.0, 20.0, 30.0, 3)
    assert (listed.price_per_hour, listed.note) == (56.0, "the highest of 3 zones")
    assert [one.id for one in found.zone_offers] == [f"aws/us-east-1/use1-az{n}/p5.48xlarge/spot" for n in (1, 2, 3)]
    assert reasons(found) == [(5, "AvailabilityZone", "a local zone, which serves no cluster")]


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        (",H100,8,,,2.5,eu-north1,,", "InstanceType", "a GPU priced apart from its machine"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,0.5,1,1,2.5,x,,", "AcceleratorCount", "no whole number from 1 on"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,,x,,", "Price", "neither an on-demand nor a spot price"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,0,x,,", "Price", "no price: it must be above 0"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,-3,x,,", "Price", "no price: it must be above 0"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,NaN,x,,", "Price", "no price: it must be above 0"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,1e999,x,,", "Price", "no price: it is above 1,000,000 an hour"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,2e6,x,,", "Price", "no price: it is above 1,000,000 an hour"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,1_0,x,,", "Price", "no price: it must be above 0"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,3,a/b,,", "Region", "no name: at most 120 characters, without a "
         "slash"),
        ("gpu-h100-sxm_1gpu-16vcpu-200gb,H100,1,1,1,3,x", "", "7 cells, the header has 9"),
        ("gpu-b300_99,B300,8,1,1,30,x,,", "InstanceType", "a machine that no catalog knows: its links, memory and "
         "network are not stated"),
        ("gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,4,1,1,3,x,,", "AcceleratorCount", "gpu-h100-sxm_8gpu-128vcpu-1600gb of "
         "nebius is known to have 8 x H100-SXM"),
        ("gpu-h100-sxm_8gpu-128vcpu-1600gb,A100,8,1,1,3,x,,", "AcceleratorName", "gpu-h100-sxm_8gpu-128vcpu-1600gb of "
         "nebius is known to have 8 x H100-SXM"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_named(row: str, column: str, reason: str) -> None:
    assert sky(row) == [(8, column, reason)]


def test_spot_at_the_listed_price_is_no_spot_market() -> None:
    row = "gpu-l40s-a_1gpu-8vcpu-32gb,L40S,1,8,32,1.5484,us-central1,,1.5484"
    assert sky(row) == [(8, "SpotPrice", "spot at the on-demand price: no spot market there")]
    assert any("us-central1" in one.id for one in read(f"{SKYPILOT}{row}\n", "nebius").offers)


def test_gpuhunt_as_csv_json_and_zip() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as stream:
        stream.writestr("aws.csv", GPUHUNT)
        stream.writestr("version", "20261120")
    names = GPUHUNT.splitlines()[0].split(",")
    records = [dict(zip(names, line.split(","), strict=True)) for line in GPUHUNT.splitlines()[1:]]
    as_json = json.dumps([{**one, "price": float(one["price"]), "gpu_count": int(one["gpu_count"])} for one in records])
    for data in (GPUHUNT, packed.getvalue(), as_json, json.dumps({"items": records})):
        found = read(data, "aws")
        assert {one.id: one.price_per_hour for one in found.offers} == {
            "aws/us-east-1/any/p5.48xlarge/on_demand": 55.04,
            "aws/us-east-1/any/p5.48xlarge/spot": 16.51,
        }
        assert [(row.column, row.reason) for row in found.left_out] == [("gpu_name", "a machine without GPUs")]


def test_gpuhunt_names_of_providers_and_zones() -> None:
    head = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,provider"
    text = f"{head}\ngpu_8x_h100_sxm5,us-west-3,31.92,208,1800,8,H100,80,False,lambdalabs\n"
    assert [one.provider for one in read(text).offers] == ["lambda"]
    text = f"{head}\na2-highgpu-8g,us-central1-a,29.39,96,680,8,A100,40,true,gcp\n"
    (offer,) = read(text).offers  # GCP's locations are zones, of regions that the catalogs know or not
    assert (offer.region, offer.zone, read(text).zone_offers[0].zone) == ("us-central1", None, "us-central1-a")
    assert read(text.replace("us-central1-a", "moon-east1-b")).offers[0].region == "moon-east1"


def test_own_rows_are_offers_as_they_are_paid() -> None:
    found = read(
        own(RENTED, {**RENTED, "pricing": "reserved", "term_hours": 8760, "price_per_hour": 30}, HALL | FIGURES)
    )
    assert [one.id for one in found.offers] == [
        "aws/us-east-1/any/p5.48xlarge/on_demand",
        "aws/us-east-1/any/p5.48xlarge/reserved-1y",
        "onprem/hall-1/any/dgx-h100/on_demand",
    ]
    assert {(one.net, one.grade, one.confidence, one.as_of) for one in found.offers} == {
        (True, "list", "high", "2026-11-02")
    }
    hall = found.offers[2]
    assert (hall.most_nodes, hall.shape.internode_gbps, hall.shape.cluster, hall.shape.intra) == (
        4,
        3200,
        "yes",
        "nvswitch",
    )
    assert found.as_of == "2026-11-02"
    assert found.left_out == ()


def test_a_machine_of_ones_own_is_found_by_its_gpus() -> None:
    row = {"provider": "nebius", "gpu": "H200", "gpus": 8, "price_per_hour": 20}
    assert [one.shape.instance_type for one in read(own(row)).offers] == ["gpu-h200-sxm_8gpu-128vcpu-1600gb"]


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ({**RENTED, "provider": ""}, "provider", "is empty: whose price is it?"),
        ({**RENTED, "as_of": "November"}, "as_of", "no date; write it as 2026-11-30"),
        ({**RENTED, "as_of": "2026-02-30"}, "as_of", "no date; write it as 2026-11-30"),
        ({**RENTED, "currency": "$"}, "currency", "no currency; write three capital letters, for example USD"),
        ({**RENTED, "price_per_hour": ""}, "price_per_hour", "no price"),
        ({**RENTED, "pricing": "free"}, "pricing", "none of on_demand, spot, reserved"),
        ({**RENTED, "pricing": "reserved"}, "term_hours", "is empty: how many hours are billed at least?"),
        ({**RENTED, "term_hours": 24}, "term_hours", "is for reserved machines"),
        ({**RENTED, "max_machines": 0}, "max_machines", "no whole number from 1 on"),
        ({**HALL, "price_per_hour": 9, "link": ""}, "link", "is empty: how are the GPUs of this machine joined? none, "
         "pcie, nvlink, nvswitch or nvl72"),
        ({**HALL, "price_per_hour": 9, "link": "wire"}, "link", "none of none, pcie, nvlink, nvswitch, nvl72"),
        ({**HALL, "price_per_hour": 9, "gpu": ""}, "gpu", "no catalog knows dgx-h100: name its GPU"),
        ({**HALL, "price_per_hour": 9, "gpu": "H100"}, "gpu", "stands for several GPUs: name one of H100-NVL, "
         "H100-PCIe, H100-PCIe-NVLink, H100-SXM"),
        ({**HALL, "price_per_hour": 9, "gpus": ""}, "gpus", "is empty: how many GPUs has one machine?"),
        ({**HALL, "price_per_hour": 9, "node_gbps": "fast"}, "node_gbps", "no number from 0 to 1e+06"),
    ],
)  # fmt: skip
def test_an_own_row_that_cannot_be_used_is_named(row: dict[str, object], column: str, reason: str) -> None:
    assert reasons(read(own(RENTED | {"region": "us-east-2"}, row))) == [(3, column, reason)]


def test_a_row_is_not_read_twice() -> None:
    assert reasons(read(own(RENTED, RENTED))) == [(3, "", "the same offer as line 2")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfea\x00", "is encoded as UTF-16"),
        (b"a,b\n\xff,1\n", "byte 0xff is not UTF-8"),
        (b"a,b\x00\n", "contains the control character"),
        (b"<!DOCTYPE html><html></html>", "is a web page, not a price list"),
        (b"PK\x03\x04 half a zip", "is a zip that cannot be unpacked"),
        (b"[1, 2]", "holds no list of records"),
        (b"[" * 100_000, "is JSON that cannot be read"),
        (b'[{"a": 1', "is no JSON"),
        (b"currency,as_of,currency\n", "the column 'currency' stands there twice"),
        (b",".join([b"c"] * (MOST_COLUMNS + 1)), f"has {MOST_COLUMNS + 1} columns"),
        (b"a,b\n1,2\n", "the columns (a, b) are of no known price list"),
        (b'currency,as_of,price_per_hour,provider\n"' + b"x" * 200_000, "is no CSV"),
        (b"currency,as_of,price_per_hour,provider,colour\n", "the column 'colour' is not known"),
        (b"currency,as_of,provider\n", "the column is missing"),
        (HEAD.encode() + b"\n", "does not say whose prices these are"),
        (GPUHUNT.encode(), "does not say whose prices these are"),
    ],
    ids=range(17),
)
def test_a_file_that_is_no_price_list_is_refused_whole(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data)
    assert message in str(caught.value)
    assert all(one.file == "prices.csv" for one in caught.value.complaints)
