"""Values as people write them and as the program keeps them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from rlopt import units
from rlopt.request.values.kinds import Count, Label, Name, Number, PartShare, Positive, Share, Switch, Whole, show
from rlopt.request.values.quantities import Bandwidth, Cash, Duration, DurationOrZero, Frequency, Size
from rlopt.units import Money

WRITTEN = {"written": True}
QUANTITIES: dict[str, tuple[Any, dict[str, float]]] = {
    "duration": (Duration, units.DURATION_UNITS),
    "size": (Size, units.SIZE_UNITS),
    "bandwidth": (Bandwidth, units.BANDWIDTH_UNITS),
    "frequency": (Frequency, units.FREQUENCY_UNITS),
}


def read(kind: Any, value: Any, written: bool = True) -> Any:
    return TypeAdapter(kind).validate_python(value, context=WRITTEN if written else None)


@given(data=st.data(), number=st.floats(1e-6, 1e9), gap=st.sampled_from(["", " ", "  "]))
@pytest.mark.parametrize("what", QUANTITIES)
def test_every_unit_is_read_to_the_canonical_one(what: str, data: st.DataObject, number: float, gap: str) -> None:
    kind, table = QUANTITIES[what]
    unit = data.draw(st.sampled_from(sorted(table)))
    assert read(kind, f"{number!r}{gap}{unit}") == pytest.approx(number * table[unit], rel=1e-12)


@given(seconds=st.floats(1e-3, 1e8))
def test_durations_survive_writing_and_reading(seconds: float) -> None:
    assert read(Duration, f"{seconds!r}s") == seconds
    assert read(Duration, units.format_duration(seconds)) == pytest.approx(seconds, rel=1e-3)


@given(amount=st.floats(0, 1e12), currency=st.from_regex(r"[A-Z]{3}", fullmatch=True))
def test_money_survives_writing_and_reading(amount: float, currency: str) -> None:
    assert read(Cash, f"{amount!r} {currency}") == Money(amount, currency)


@given(number=st.floats(1e-6, 1e12))
@pytest.mark.parametrize("what", QUANTITIES)
def test_a_bare_number_is_refused_in_files_and_canonical_in_python(what: str, number: float) -> None:
    kind, table = QUANTITIES[what]
    assert read(kind, number, written=False) == number
    with pytest.raises(ValidationError) as caught:
        read(kind, number)
    context = caught.value.errors()[0]["ctx"]
    assert "has no unit" in context["text"]
    assert all(unit in context["allowed"] for unit in table)


def test_zero_needs_no_unit_where_zero_is_allowed() -> None:
    assert read(DurationOrZero, 0) == 0.0
    assert read(DurationOrZero, "0s") == 0.0
    with pytest.raises(ValidationError):
        read(Duration, "0s")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Whole, 3), (Whole, 1.48e9), (Share, 0), (Share, 1), (PartShare, 0.5), (Positive, 1e-9),
        (Switch, False), (Name, "a"), (Annotated[int, Count(0, 5)], 5), (Annotated[float, Number(-1, 1)], -1),
    ],
)  # fmt: skip
def test_what_is_taken(kind: Any, value: Any) -> None:
    assert read(kind, value) == value


@pytest.mark.parametrize("kind", [Whole, Share, Positive])
@pytest.mark.parametrize("value", [True, "3", None, [], {}, float("nan"), float("inf"), 1e31, -1, "a", b"1"])
def test_what_is_no_number(kind: Any, value: Any) -> None:
    with pytest.raises(ValidationError):
        read(kind, value)


def test_a_whole_number_of_thousands_of_digits_is_too_large() -> None:
    with pytest.raises(ValidationError) as caught:
        read(Whole, 10**5000)
    assert caught.value.errors()[0]["ctx"]["text"] == "a number of thousands of digits is too large"


SPELLINGS = {
    "2 hours": "write 2h",
    "30 minutes": "write 30min",
    "1.5 D": "write 1.5d",
    "10m": "write 10min",
    "h": "write for example 2.5h",
    "5 weeks": "write for example 2.5h",
    "1h30min": "write for example 2.5h",
    "x" * 100_000: "write for example 2.5h",
    "1 " + " " * 100_000 + "x": "write for example 2.5h",
}


@pytest.mark.parametrize(("text", "fix"), SPELLINGS.items(), ids=range(len(SPELLINGS)))
def test_units_that_people_also_write_are_told(text: str, fix: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(Duration, text)
    assert caught.value.errors()[0]["ctx"]["fix"] == fix


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("$5", "write 5 USD"), ("5$", "write 5 USD"), ("usd 5", "write 5 USD"), ("5 cny", "write 5 CNY"),
        ("5 dollars", "write for example 2500 USD"), ("$5 USD", "write for example 2500 USD"),
        ("5", "write for example 2500 USD"),
    ],
)  # fmt: skip
def test_money_that_people_also_write_is_told(text: str, fix: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read(Cash, text)
    assert caught.value.errors()[0]["ctx"]["fix"] == fix


def test_labels_take_numbers_as_text() -> None:
    assert [read(Label, value) for value in (3, 1.5, True, "a  b")] == ["3", "1.5", "true", "a b"]


@given(st.text(max_size=200))
def test_values_are_shown_on_one_short_line(text: str) -> None:
    shown = show(text)
    assert len(shown) <= 140
    assert "\n" not in shown
    assert shown.isprintable()
