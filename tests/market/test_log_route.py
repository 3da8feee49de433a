"""Where logs go when the request says so, and what the way there costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlopt.errors import MissingFactError
from rlopt.facts.files.folder import load_catalog
from rlopt.market.logs import log_route
from rlopt.market.price_book import zone_tariff
from rlopt.request import LogsTo, Request
from tests.market.test_services import asked, metric
from tests.market.test_tariffs import LOGS, TRAFFIC, book, leaving

ACROSS = replace(leaving("north", "n1", 0.02), kind="cross_region")


def to(provider: str, region: str) -> Request:
    return asked().replaced("costs.logs_to", LogsTo(provider=provider, region=region))


def test_logs_stay_with_the_pools_unless_told() -> None:
    route = log_route(asked(), TRAFFIC, lambda _: 1.0, ("north", "n1"), 0.08)
    assert (route.provider, route.region, route.usd_to("north"), route.usd_to("far"), route.note) == (
        "north", "n1", 0.0, 0.08, ""
    )  # fmt: skip


@pytest.mark.parametrize(
    ("place", "usd", "note"),
    [
        (("north", "n1"), 0.0, "at north n1"),
        (("north", "n2"), 0.02, "to north n1, another region"),  # n1's own price stands in for n2's
        (("far", "f1"), 0.2, "to north n1 over the internet"),
    ],
)
def test_the_way_by_where_the_pools_are(place: tuple[str, str], usd: float, note: str) -> None:
    egress = {"north": 0.11, "far": 0.2}[place[0]]
    route = log_route(to("north", "n1"), (*TRAFFIC, ACROSS), lambda _: 1.0, place, egress)
    assert (route.usd_per_gb, route.note) == (usd, note)


def test_without_a_price_between_regions_that_to_the_internet_stands_in() -> None:
    route = log_route(to("north", "n1"), TRAFFIC, lambda _: 1.0, ("north", "n2"), 0.11)
    assert (route.usd_per_gb, route.note) == (0.11, "to north n1, as to the internet")


def test_prices_of_the_stated_service_and_the_way_to_it() -> None:
    # north's logs and far's metrics: at home 0.4 USD/GB and free; at far 0.7 and out of n1 at 0.08
    rows = (*LOGS, metric("far", None, 246.0))
    home = zone_tariff(book(asked(), logs=rows), "north", "n1")
    away = zone_tariff(book(to("far", "f1"), logs=rows), "north", "n1")
    assert (home.log_ingest_per_gb, home.log_egress_per_gb, home.log_way) == (0.4, 0.0, "")
    assert (away.log_ingest_per_gb, away.log_egress_per_gb) == (0.7, 0.08)
    assert away.log_way == "to far f1 over the internet"
    assert away.metering is not None
    assert (away.metering.usd_per_gb, away.metering.egress_per_gb) == (246.0, 0.08)
    # a provider without logging of its own is priced at the stated one's, not at the fallback's
    east = zone_tariff(book(to("north", "n1"), logs=LOGS), "east", "e1")
    assert east.log_ingest_per_gb == 0.4
    assert not any("lists no logging service" in text for text in east.warnings)


def test_a_service_without_a_price_is_refused_by_name() -> None:
    with pytest.raises(MissingFactError, match="a logging price of south") as error:
        zone_tariff(book(to("south", "s1")), "north", "n1")
    assert "name one of far, north" in str(error.value)


def test_the_shipped_catalogs_price_the_way_between_regions() -> None:
    catalog = load_catalog()
    request = to("aws", "us-east-1")
    route = log_route(request, catalog.traffic, lambda _: 1.0, ("aws", "eu-central-1"), 0.09)
    rows = [row for row in catalog.traffic if row.kind == "cross_region" and row.region == "eu-central-1"]
    assert route.usd_per_gb == max(row.bands[0][1] for row in rows) > 0
