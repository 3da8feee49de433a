"""The catalogs as records and as text."""

from __future__ import annotations

import json
from datetime import date

import pytest

from rlopt.errors import MissingFactError
from rlopt.reports import catalog_records
from rlopt.reports.layout import to_text
from rlopt.reports.text import catalog as catalog_text
from tests.reports.catalogs import catalog
from tests.reports.golden import check_golden

TODAY = date(2026, 10, 1)


def ids(**filters: str) -> list[str]:
    """Ids of the offers that pass."""
    return [offer.id for offer in catalog_records.matching_offers(catalog(), **filters)]


def test_filters_narrow_and_capitals_do_not_matter() -> None:
    assert len(ids()) == 3
    assert ids(provider="Lambda", pricing="spot") == ["lambda/us-east-1/any/gpu_8x_h100/spot"]
    assert ids(gpu="h100") == ids()
    assert ids(gpu="H100-PCIe") == ["runpod/any/any/h100_pcie/on_demand"]
    assert ids(region="us-east-1", provider="runpod") == []


@pytest.mark.parametrize(
    ("filters", "near"),
    [({"provider": "lamda"}, "lambda"), ({"region": "us-east"}, "us-east-1"), ({"gpu": "H10"}, "h100")],
)
def test_a_filter_that_nothing_can_match_names_the_nearest(filters: dict[str, str], near: str) -> None:
    with pytest.raises(MissingFactError, match=near):
        ids(**filters)


def test_counts_by_provider() -> None:
    facts = catalog()
    first, second = catalog_records.provider_counts(facts.offers)
    assert (first["provider"], first["offers"], first["oldest"], first["newest"]) == (
        "lambda",
        2,
        "2026-05",
        "2026-09-20",
    )
    assert first["confidence"] == {"high": 2}
    assert (second["grade"], second["undated"], second["oldest"]) == ({"marketplace": 1}, 1, None)


def test_ages_count_every_offer_once() -> None:
    offers = catalog().offers
    assert catalog_text.ages(offers, TODAY) == {"up to 30 days": 1, "91 to 365 days": 1, "undated": 1}
    assert catalog_text.ages(offers, date(2030, 1, 1)) == {"older": 2, "undated": 1}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("lambda/us-east-1/any/gpu_8x_h100/spot", ["offer"]),
        ("gpu_8x_h100-alias", ["machine", "offer", "offer"]),
        ("runpod/h100_pcie", ["machine", "offer"]),
        ("h100", ["device", "device"]),
        ("h100-sxm", ["device"]),
        ("maker/Tiny-1B", ["model"]),
    ],
)
def test_look_up_finds_whatever_has_the_name(name: str, kinds: list[str]) -> None:
    records = catalog_records.look_up(catalog(), name)
    assert [record["kind"] for record in records] == kinds
    assert all(record["source"] for record in records)
    json.dumps(records, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "say"), [("H100-SMX", "H100-SXM"), ("huge-1T", "no layer count"), ("qqqq", "catalog list")]
)
def test_look_up_of_the_unknown_says_what_is_near_or_lacking(name: str, say: str) -> None:
    with pytest.raises(MissingFactError, match=say):
        catalog_records.look_up(catalog(), name)


def test_reports_read_as_kept() -> None:
    facts = catalog()
    check_golden("catalog_list.txt", to_text(*catalog_text.counts_report(facts, facts.offers, TODAY), width=110))
    shown = [*catalog_records.look_up(facts, "runpod/h100_pcie"), *catalog_records.look_up(facts, "tiny-1b")]
    check_golden("catalog_show.txt", to_text(*catalog_text.records_report(shown)))
    shelves = [
        part
        for name in ("offers", "devices", "models")
        for part in catalog_text.shelf_report(name, catalog_records.shelf(facts, name, facts.offers))
    ]
    check_golden("catalog_shelves.txt", to_text(*shelves))


def test_devices_of_one_family_only() -> None:
    names = [record["name"] for record in catalog_records.shelf(catalog(), "devices", (), "H100-SXM")]
    assert names == ["H100-SXM"]
