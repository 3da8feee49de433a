"""Quantities with units, and the messages where there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt import units


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("15min", 900), ("2.5h", 9000), ("3d", 259200), ("10 ms", 0.01), ("0", 0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds)


def test_sizes_rates_and_money() -> None:
    assert units.parse_size("80 GiB") == 80 * 2**30
    assert units.parse_size("2 TB") == 2e12
    assert units.parse_bandwidth("100 Gbps") == 1e11
    assert units.parse_bandwidth("1 GB/s") == 8e9
    assert units.parse_frequency("50 Hz") == 50
    assert units.parse_money("18000 CNY") == units.Money(18000, "CNY")
    assert units.parse_money("1_000 USD").amount == 1000
    assert str(units.Money(2500, "USD")) == "2500 USD"


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (units.parse_duration, "30", "has no unit"),
        (units.parse_duration, "30 hours", "ms, s, min, h, d"),
        (units.parse_duration, "abc", "is not a quantity"),
        (units.parse_duration, True, "is not a quantity"),
        (units.parse_size, "80 gib", "did you mean 'GiB'"),
        (units.parse_money, "2500", "2500 USD"),
        (units.parse_money, "2500 usd", "2500 USD"),
    ],
)
def test_messages_name_what_fits(parse: object, text: object, says: str) -> None:
    assert callable(parse)
    with pytest.raises(ValueError, match=says):
        parse(text)


@given(st.floats(min_value=0.001, max_value=1e6), st.sampled_from(sorted(units.DURATION_UNITS)))
def test_unit_scales(number: float, unit: str) -> None:
    assert units.parse_duration(f"{number!r}{unit}") == pytest.approx(number * units.DURATION_UNITS[unit])


@given(st.floats(min_value=1, max_value=1e7))
def test_durations_are_read_back(seconds: float) -> None:
    assert units.parse_duration(units.format_duration(seconds)) == pytest.approx(seconds, rel=1e-3)


@given(st.floats(min_value=1, max_value=1e15))
def test_sizes_are_read_back(size: float) -> None:
    assert units.parse_size(units.format_size(size)) == pytest.approx(size, rel=1e-3)


def test_conversions() -> None:
    assert units.hours_to_seconds(units.seconds_to_hours(42.0)) == pytest.approx(42.0)
    assert units.bytes_to_gib(2**31) == 2
    assert units.bytes_to_gb(3e9) == 3
    assert units.gbps_to_gb_s(400) == 50
