"""Kinds of values with a unit: durations, sizes, bandwidths, frequencies, money."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import ValidationInfo
from pydantic.json_schema import JsonSchemaValue

from rlopt import units
from rlopt.request.values.kinds import LONGEST_SHOWN, Kind, is_written, number, refuse, show
from rlopt.units import Money

OTHER_SPELLINGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), "h"),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("g", "gigabyte", "gigabytes"), "GB"),
    **dict.fromkeys(("t", "terabyte", "terabytes"), "TB"),
    **dict.fromkeys(("gbit/s", "gb/s", "gbit"), "Gbps"),
    "hertz": "Hz",
}
"""How people also write units; suggested, not accepted."""
_NUMERAL: Final = r"[0-9]+(_[0-9]+)*(\.[0-9]*)?([eE][-+]?[0-9]+)?"


@dataclass(frozen=True)
class Quantity(Kind):
    """A number with a unit, kept in the canonical unit; `low_open` refuses zero."""

    what: str
    units: Mapping[str, float] = field(hash=False)
    example: str
    low_open: bool = True

    @property
    def allowed(self) -> str:
        """Say the units in words."""
        names = ", ".join(self.units)
        return f"a {self.what} {'above' if self.low_open else 'of at least'} zero with its unit: {names}"

    def read(self, value: Any, info: ValidationInfo) -> float:
        """Return the quantity in the canonical unit."""
        fix = f"write for example {self.example}"
        bare = not isinstance(value, bool) and isinstance(value, (int, float))
        if bare and (not is_written(info) or value == 0):
            amount = number(value, self.allowed, fix)
        elif bare:
            number(value, self.allowed, fix)
            unit = re.sub(r"[\d. ]", "", self.example)
            gap = " " if " " in self.example else ""
            message = f"{show(value)} has no unit"
            raise refuse(message, self.allowed, f"write {value}{gap}{unit} if that is meant")
        elif not isinstance(value, str):
            message = f"{show(value)} is not a {self.what}"
            raise refuse(message, self.allowed, fix)
        else:
            amount = self._parse(value, fix)
        if amount < 0 or (self.low_open and amount == 0):
            message = f"{show(value)} is not above zero" if self.low_open else f"{show(value)} is negative"
            raise refuse(message, self.allowed, fix)
        return amount

    def _parse(self, text: str, fix: str) -> float:
        try:
            _guard(text)
            amount = units.parse_quantity(text, dict(self.units), self.example)
        except ValueError as error:
            raise refuse(_tidy(text, str(error)), self.allowed, self._spelt(text) or fix) from None
        return number(amount, self.allowed, fix)

    def _spelt(self, text: str) -> str:
        """Spell a unit that was written in another way; empty where it cannot be told."""
        match = re.fullmatch(rf"\s*({_NUMERAL})\s*([A-Za-z/]+)\s*", text[:LONGEST_SHOWN])
        if match is None:
            return ""
        word = match[match.re.groups]
        meant = [unit for unit in self.units if unit.lower() == word.lower()]
        unit = meant[0] if len(meant) == 1 else OTHER_SPELLINGS.get(word.lower(), "")
        return f"write {match[1]}{' ' if ' ' in self.example else ''}{unit}" if unit in self.units else ""

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the text: a numeral and one of the units."""
        names = "|".join(re.escape(name) for name in self.units)
        schema: dict[str, Any] = {"type": "string", "pattern": rf"^\s*\+?{_NUMERAL}\s*({names})\s*$"}
        schema["examples"] = [self.example]
        return schema if self.low_open else {"anyOf": [schema, {"const": 0}]}


def _spelt_money(text: str) -> str:
    """Spell money that was written in another way; empty where it cannot be told."""
    match = re.fullmatch(rf"\s*(\$|[A-Za-z]{{3}})?\s*({_NUMERAL})\s*(\$|[A-Za-z]{{3}})?\s*", text[:LONGEST_SHOWN])
    if match is None or bool(match[1]) == bool(match[match.re.groups]):
        return ""
    currency = (match[1] or match[match.re.groups]).upper().replace("$", "USD")
    return f"write {match[2]} {currency}"


def _guard(text: str) -> None:
    """Keep texts of absurd length away from the parsers' regular expressions."""
    if len(text) > LONGEST_SHOWN:
        message = "too long"
        raise ValueError(message)


def _tidy(text: str, message: str) -> str:
    """Keep a parser's sentence, but not text that would fill the screen."""
    return message.split("; ")[0] if len(text) <= LONGEST_SHOWN else f"{show(text)} is not understood"


@dataclass(frozen=True)
class Price(Kind):
    """Money: an amount, zero or more, and its currency."""

    example: str = "2500 USD"
    allowed: str = "an amount and a currency of three capital letters"

    def read(self, value: Any, info: ValidationInfo) -> Money:
        """Return the money."""
        fix = f"write for example {self.example}"
        if isinstance(value, Money):
            return value
        if isinstance(value, Mapping) and set(value) == {"amount", "currency"} and not is_written(info):
            return Money(number(value["amount"], self.allowed, fix), str(value["currency"]))
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            number(value, self.allowed, fix)
            message = f"{show(value)} has no currency"
            raise refuse(message, self.allowed, f"write {value} USD if that is meant")
        if not isinstance(value, str):
            message = f"{show(value)} is not money"
            raise refuse(message, self.allowed, fix)
        try:
            _guard(value)
            money = units.parse_money(value)
        except ValueError as error:
            raise refuse(_tidy(value, str(error)), self.allowed, _spelt_money(value) or fix) from None
        number(money.amount, self.allowed, fix)
        if money.amount < 0:
            message = f"{show(value)} is negative"
            raise refuse(message, self.allowed, fix)
        return money

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the text: an amount and a currency."""
        pattern = rf"^\s*\+?{_NUMERAL}\s*[A-Z]{{3}}\s*$"
        return {"type": "string", "pattern": pattern, "examples": [self.example]}


Moment = Annotated[float, Quantity("duration", units.DURATION_UNITS, "30s")]
Pause = Annotated[float, Quantity("duration", units.DURATION_UNITS, "15min")]
Duration = Annotated[float, Quantity("duration", units.DURATION_UNITS, "2.5h")]


DurationOrZero = Annotated[float, Quantity("duration", units.DURATION_UNITS, "720h", low_open=False)]
MomentOrZero = Annotated[float, Quantity("duration", units.DURATION_UNITS, "30s", low_open=False)]


Size = Annotated[float, Quantity("size", units.SIZE_UNITS, "80 GiB")]


SizeOrZero = Annotated[float, Quantity("size", units.SIZE_UNITS, "80 GiB", low_open=False)]


Bandwidth = Annotated[float, Quantity("bandwidth", units.BANDWIDTH_UNITS, "100 Gbps")]


Frequency = Annotated[float, Quantity("frequency", units.FREQUENCY_UNITS, "50 Hz")]


Cash = Annotated[Money, Price()]
