"""Kinds of values a request holds: what people write, what the program keeps, what an editor is told.

Each kind is a marker for ``typing.Annotated``. In *written* input (the validation context says so) a bare
number is refused where a unit is due; built in Python, a number is taken in the canonical unit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from rlopt.units import Money

LARGEST: Final = 1e30
"""Nothing in a request is larger; beyond it sits a slip of the keyboard or an attack on the arithmetic."""


LONGEST_SHOWN: Final = 60


def show(value: object) -> str:
    """Write a value as a message shows it: short, on one line, without control characters."""
    if isinstance(value, Money):
        return str(value)
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = value if isinstance(value, str) else str(value)
    except ValueError:  # an integer of more digits than Python writes out
        return "a number of thousands of digits"
    text = "".join(c if c.isprintable() else " " for c in text)
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
    return repr(text) if isinstance(value, str) else text


def refuse(message: str, allowed: str, fix: str) -> PydanticCustomError:
    """Build the error that a validator raises; the reader turns it into a complaint."""
    return PydanticCustomError("rlopt", "{text}", {"text": message, "allowed": allowed, "fix": fix})


def is_written(info: ValidationInfo) -> bool:
    """Tell whether the input is text that a person wrote, not values of the program."""
    return bool(info.context and info.context.get("written"))


class Kind:
    """A marker that replaces pydantic's own validation of the annotated type by `read`."""

    def read(self, value: Any, info: ValidationInfo) -> Any:
        """Return the canonical value or raise `refuse`."""
        raise refuse(f"{show(value)} has no kind", "", "")

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the written form."""
        return {}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return self.schema()


def _as_number(value: Any) -> str:
    """Say how a number that was written as text is written; empty where it is none."""
    text = value.strip() if isinstance(value, str) and len(value) <= LONGEST_SHOWN else ""
    if re.fullmatch(r"\d+(\.\d+)?\s*%", text):
        return f"write {float(text.rstrip('% ')) / 100:g}"
    if re.fullmatch(r"[-+]?\d[\d_, ]*(\.\d+)?([eE][-+]?\d+)?", text):
        return f"write {re.sub('[_, ]', '', text)}, without quotes or separators"
    return ""


def number(value: Any, allowed: str, fix: str) -> float:
    """Return a finite number of reasonable size, or raise `refuse`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        message = f"{show(value)} is not a number"
        raise refuse(message, allowed, _as_number(value) or fix)
    if isinstance(value, int) and abs(value) > LARGEST:
        message = f"{show(value)} is too large"
        raise refuse(message, allowed, fix)
    found = float(value)
    if not math.isfinite(found):
        message = f"{show(value)} is not a finite number"
        raise refuse(message, allowed, fix)
    if abs(found) > LARGEST:
        message = f"{show(value)} is too large"
        raise refuse(message, allowed, fix)
    return found


@dataclass(frozen=True)
class Number(Kind):
    """A plain number between `low` and `high`; an open end is excluded."""

    low: float = 0.0
    high: float = LARGEST
    low_open: bool = False
    high_open: bool = False
    example: str = "1"

    @property
    def allowed(self) -> str:
        """Say the range in words."""
        above = f"above {self.low:g}" if self.low_open else f"{self.low:g} or more"
        if self.high >= LARGEST:
            return f"a number {above}"
        return f"a number {above} and {'below' if self.high_open else 'at most'} {self.high:g}"

    def read(self, value: Any, info: ValidationInfo) -> float:
        """Return the number."""
        fix = f"write for example {self.example}"
        found = number(value, self.allowed, fix)
        low = found <= self.low if self.low_open else found < self.low
        high = found >= self.high if self.high_open else found > self.high
        if low or high:
            message = f"{show(value)} is out of range"
            raise refuse(message, self.allowed, fix)
        return found

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the number."""
        schema: dict[str, Any] = {"type": "number"}
        schema["exclusiveMinimum" if self.low_open else "minimum"] = self.low
        if self.high < LARGEST:
            schema["exclusiveMaximum" if self.high_open else "maximum"] = self.high
        return schema


@dataclass(frozen=True)
class Count(Kind):
    """A whole number from `low` to `high`; ``1.48e9`` counts as one."""

    low: int = 1
    high: int = 10**15
    example: str = "8"

    @property
    def allowed(self) -> str:
        """Say the range in words."""
        if self.high >= 10**15:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"

    def read(self, value: Any, info: ValidationInfo) -> int:
        """Return the whole number."""
        fix = f"write for example {self.example}"
        found = number(value, self.allowed, fix)
        if found != int(found):
            message = f"{show(value)} is not a whole number"
            raise refuse(message, self.allowed, fix)
        whole = int(value)
        if not self.low <= whole <= self.high:
            message = f"{show(value)} is out of range"
            raise refuse(message, self.allowed, fix)
        return whole

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the whole number."""
        top = {"maximum": self.high} if self.high < 10**15 else {}
        return {"type": "integer", "minimum": self.low, **top}


@dataclass(frozen=True)
class Text(Kind):
    """One line of text; `loose` also takes numbers and keeps them as text."""

    example: str = "math-7b"
    loose: bool = False
    longest: int = 1000

    def read(self, value: Any, info: ValidationInfo) -> str:
        """Return the text without blanks around it."""
        allowed, fix = "one line of text", f"write for example {self.example}"
        if self.loose and isinstance(value, (int, float, bool)):
            return show(value)
        if not isinstance(value, str):
            message = f"{show(value)} is not text"
            raise refuse(message, allowed, f'put it in quotes: "{show(value)}"')
        if not value.strip():
            message = "the text is empty"
            raise refuse(message, allowed, fix)
        if len(value) > self.longest:
            message = f"the text has {len(value)} characters"
            raise refuse(message, f"at most {self.longest} characters", "shorten it")
        return " ".join(value.split())

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the text."""
        return {"type": ["string", "number", "boolean"] if self.loose else "string"}


@dataclass(frozen=True)
class Flag(Kind):
    """True or false, and no word that only looks like it."""

    def read(self, value: Any, info: ValidationInfo) -> bool:
        """Return the flag."""
        if not isinstance(value, bool):
            words = {"yes": "true", "on": "true", "no": "false", "off": "false"}
            meant = words.get(str(value).lower(), "true or false")
            message = f"{show(value)} is neither true nor false"
            raise refuse(message, "true or false", f"write {meant}")
        return value

    def schema(self) -> JsonSchemaValue:
        """Return the JSON Schema of the flag."""
        return {"type": "boolean"}


def unique(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Drop what a list says twice, keeping the order."""
    return tuple(dict.fromkeys(values))


Positive = Annotated[float, Number(0.0, low_open=True)]


NotNegative = Annotated[float, Number(0.0)]


Share = Annotated[float, Number(0.0, 1.0, example="0.5")]


PartShare = Annotated[float, Number(0.0, 1.0, high_open=True, example="0.1")]


Whole = Annotated[int, Count(1)]


WholeOrZero = Annotated[int, Count(0, example="0")]


Name = Annotated[str, Text()]


Label = Annotated[str, Text(loose=True)]


Switch = Annotated[bool, Flag()]
