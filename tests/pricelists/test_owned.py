"""What a machine of one's own costs an hour, added up by hand."""

from __future__ import annotations

import pytest

from tests.pricelists.lists import FIGURES, HALL, own, read, reasons


def price(**changes: float) -> float:
    """Price of an hour with some figures changed."""
    (offer,) = read(own(HALL | FIGURES | changes)).offers
    return offer.price_per_hour


def test_by_hand() -> None:
    # 280,000 over 35,040 h = 7.990868; 450 a month = 5,400 a year, with staff 14,400 a year = 1.643836 an hour;
    # both are paid by 70 % of the hours; 8.5 kW x 1.3 x 0.11 = 1.2155
    assert price() == pytest.approx((7.990868 + 1.643836) / 0.7 + 1.2155, abs=1e-5)


def test_each_figure_counts_once() -> None:
    base = price()
    assert price(capital=310000 + 35040) - base == pytest.approx(1.0 / 0.7)
    assert price(residual=30000 + 3504) - base == pytest.approx(-0.1 / 0.7)
    assert price(hosting_per_month=450 + 73) - base == pytest.approx(0.1 / 0.7)
    assert price(staff_per_year=9000 + 876) - base == pytest.approx(0.1 / 0.7)
    assert price(power_price_per_kwh=0.21) - base == pytest.approx(8.5 * 1.3 * 0.1)
    assert price(utilization=1.0) == pytest.approx((base - 1.2155) * 0.7 + 1.2155)


def test_how_it_came_about_stands_in_the_note() -> None:
    (offer,) = read(own(HALL | FIGURES)).offers
    assert "(310000 - 30000) over 4 years" in offer.note
    assert "used 70% of the time" in offer.note


@pytest.mark.parametrize("figure", FIGURES)
def test_no_figure_is_made_up(figure: str) -> None:
    found = read(own({**HALL, **FIGURES, figure: ""}, HALL | {"price_per_hour": 20, "region": "hall-2"}))
    assert reasons(found) == [(2, figure, "is empty; write 0 if there is none")]


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"price_per_hour": 12}, "price_per_hour", "stands beside the figures of an own machine"),
        ({"residual": 400000}, "residual", "more than the machine cost"),
        ({"utilization": 1.2}, "utilization", "no number from 0.01 to 1"),
        ({"utilization": 0}, "utilization", "no number from 0.01 to 1"),
        ({"pue": 0.9}, "pue", "no number from 1 to 5"),
        ({"capital": 10**9, "years": 0.1, "residual": 0}, "capital", "the machine would cost 1,630,793 an hour"),
        (
            dict.fromkeys((*FIGURES,), 0) | {"years": 1, "pue": 1, "utilization": 1},
            "capital",
            "the machine would cost 0 an hour",
        ),
        ({"years": "1e400"}, "years", "no number from 0.1 to 30"),
    ],
)
def test_figures_that_cannot_be(changes: dict[str, object], column: str, reason: str) -> None:
    assert reasons(read(own(HALL | FIGURES | changes))) == [(2, column, reason)]
