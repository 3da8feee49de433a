from __future__ import annotations

import pytest

from rlopt.reports import words


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1234.5, "$1,234.50"),
        (-2.0, "-$2.00"),
        (0.0, "$0.00"),
        (0.0004, "<$0.01"),
        (-0.0004, "-<$0.01"),
        (0.005, "$0.01"),
    ],
)
def test_dollars_never_hide_a_cost(amount: float, text: str) -> None:
    assert words.usd(amount) == text


@pytest.mark.parametrize(("price", "text"), [(31.92, "$31.92"), (0.023, "$0.023"), (0.0, "$0.00"), (0.28, "$0.28")])
def test_unit_prices_keep_their_digits(price: float, text: str) -> None:
    assert words.rate(price) == text


def test_money_shows_the_reports_currency_when_a_rate_is_known() -> None:
    assert words.money(14.0, "CNY", {"CNY": 0.14}) == "$14.00 (100.00 CNY)"
    assert words.money(14.0, "CNY", {}) == "$14.00"
    assert words.money(14.0, "USD", {"USD": 1.0}) == "$14.00"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "15 min"),
        (7.31, "7.3 h"),
        (24.0, "24 h"),
        (76.0, "3.2 days (76 h)"),
        (2400.0, "100.0 days (2,400 h)"),
    ],
)
def test_hours(value: float, text: str) -> None:
    assert words.hours(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.834, "83%"), (0.0342, "3.4%"), (0.0005, "0.05%"), (0.0, "0%"), (1.0, "100%")]
)
def test_percent(share: float, text: str) -> None:
    assert words.percent(share) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (64, "GPU", "64 GPUs"),
        (1, "node", "1 node"),
        (2.5, "h", "2.5 h"),
        (1500.0, "USD", "1,500 USD"),
        (123456.7, "", "123,457"),
        (True, "", "yes"),
        (None, "", "none"),
        (["L4", "A10G"], "", "L4 and A10G"),
        ("bf16", "", "bf16"),
    ],
)
def test_number(value: object, unit: str, text: str) -> None:
    assert words.number(value, unit) == text


@pytest.mark.parametrize(
    ("confidence", "text"),
    [(0.9, "9 runs in 10"), (0.95, "19 runs in 20"), (0.99, "99 runs in 100"), (0.999, "999 runs in 1000")],
)
def test_chances(confidence: float, text: str) -> None:
    assert words.chances(confidence) == text


def test_lists() -> None:
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
