"""Quantities and conversions: the one place that knows 1e9, 2**30 and 3600.

Canonical units inside the program: durations in seconds, sizes in bytes, link rates in bits per
second for request quantities and GB/s (1e9 bytes) inside estimates, memory in GiB, prices in the
currency that the offer is billed in.

Every parser takes the text of a YAML scalar and raises ``ValueError`` with a sentence that names
the units that fit; the reader of requests turns that into a complaint with file and line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

KILO: Final = 1e3
MEGA: Final = 1e6
GIGA: Final = 1e9
TERA: Final = 1e12
KIB: Final = 2.0**10
MIB: Final = 2.0**20
GIB: Final = 2.0**30
TIB: Final = 2.0**40
BITS_PER_BYTE: Final = 8.0

SECONDS_PER_MINUTE: Final = 60.0
SECONDS_PER_HOUR: Final = 3600.0
SECONDS_PER_DAY: Final = 86400.0
HOURS_PER_DAY: Final = 24.0
#: Clouds bill a month of storage as 730 hours (365 days / 12 months x 24 hours).
HOURS_PER_MONTH: Final = 730.0
HOURS_PER_YEAR: Final = 8760.0

DURATION_UNITS: Final[dict[str, float]] = {
    "ms": 1e-3,
    "s": 1.0,
    "min": SECONDS_PER_MINUTE,
    "h": SECONDS_PER_HOUR,
    "d": SECONDS_PER_DAY,
}
SIZE_UNITS: Final[dict[str, float]] = {
    "B": 1.0,
    "kB": KILO,
    "MB": MEGA,
    "GB": GIGA,
    "TB": TERA,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
}
BANDWIDTH_UNITS: Final[dict[str, float]] = {
    "bps": 1.0,
    "kbps": KILO,
    "Mbps": MEGA,
    "Gbps": GIGA,
    "Tbps": TERA,
    "MB/s": MEGA * BITS_PER_BYTE,
    "GB/s": GIGA * BITS_PER_BYTE,
}
FREQUENCY_UNITS: Final[dict[str, float]] = {"Hz": 1.0, "kHz": KILO, "MHz": MEGA}

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\s\d].*?)?\s*\Z")
_CURRENCY = re.compile(r"[A-Z]{3}\Z")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in the currency it was written in.

    Parameters
    ----------
    amount
        In units of `currency`.
    currency
        Three capital letters (ISO 4217), for example ``USD``.
    """

    amount: float
    currency: str

    def __str__(self) -> str:
        return f"{self.amount:g} {self.currency}"


def _split(value: object, units: str) -> tuple[float, str]:
    """Split ``"2.5h"`` into ``(2.5, "h")``; the unit may be empty."""
    text = str(value)
    match = _QUANTITY.match(text)
    if match is None or isinstance(value, bool):
        message = f"{text!r} is not a quantity; write a number and one of {units}"
        raise ValueError(message)
    return float(match[1].replace("_", "")), match[2] or ""


def parse_quantity(value: object, units: dict[str, float], example: str) -> float:
    """Read a number with its unit and return it in the canonical unit.

    Parameters
    ----------
    value
        Text such as ``"80 GiB"``; a bare zero needs no unit.
    units
        Unit name to factor, one of the tables of this module.
    example
        A correct spelling, shown in the message.

    Raises
    ------
    ValueError
        When the text is no number with one of `units`; the message names them.
    """
    names = ", ".join(units)
    number, unit = _split(value, names)
    if unit in units:
        return number * units[unit]
    if not unit and number == 0.0:
        return 0.0
    if not unit:
        message = f"{value!s} has no unit; write one of {names}, for example {example}"
        raise ValueError(message)
    same = [name for name in units if name.lower() == unit.lower()]
    hint = f"did you mean {same[0]!r}? " if len(same) == 1 else ""
    message = f"unknown unit {unit!r} in {str(value)!r}; {hint}write one of {names}, for example {example}"
    raise ValueError(message)


def parse_duration(value: object) -> float:
    """Read ``30s``, ``15min``, ``2.5h`` or ``3d`` and return seconds."""
    return parse_quantity(value, DURATION_UNITS, "2.5h")


def parse_size(value: object) -> float:
    """Read ``80 GiB`` or ``2 TB`` and return bytes."""
    return parse_quantity(value, SIZE_UNITS, "80 GiB")


def parse_bandwidth(value: object) -> float:
    """Read ``100 Gbps`` and return bits per second."""
    return parse_quantity(value, BANDWIDTH_UNITS, "100 Gbps")


def parse_frequency(value: object) -> float:
    """Read ``50 Hz`` and return hertz."""
    return parse_quantity(value, FREQUENCY_UNITS, "50 Hz")


def parse_money(value: object) -> Money:
    """Read ``2500 USD`` and return the amount with its currency."""
    number, unit = _split(value, "a currency such as USD or CNY")
    if not _CURRENCY.match(unit):
        message = f"{str(value)!r} is not money; write an amount and a currency, for example 2500 USD"
        raise ValueError(message)
    return Money(number, unit)


def format_duration(seconds: float) -> str:
    """Write seconds in the largest unit that keeps at least one whole: ``5400`` gives ``1.5h``."""
    for unit in ("d", "h", "min"):
        if abs(seconds) >= DURATION_UNITS[unit]:
            return f"{seconds / DURATION_UNITS[unit]:.4g}{unit}"
    return f"{seconds:.4g}s"


def format_size(size_bytes: float) -> str:
    """Write bytes in the largest binary unit that keeps at least one whole."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if abs(size_bytes) >= SIZE_UNITS[unit]:
            return f"{size_bytes / SIZE_UNITS[unit]:.4g} {unit}"
    return f"{size_bytes:.4g} B"


def seconds_to_hours(seconds: float) -> float:
    """Convert seconds to hours."""
    return seconds / SECONDS_PER_HOUR


def hours_to_seconds(hours: float) -> float:
    """Convert hours to seconds."""
    return hours * SECONDS_PER_HOUR


def bytes_to_gib(size_bytes: float) -> float:
    """Convert bytes to GiB (2**30)."""
    return size_bytes / GIB


def bytes_to_gb(size_bytes: float) -> float:
    """Convert bytes to GB (1e9), the unit that storage and traffic are billed in."""
    return size_bytes / GIGA


def gbps_to_gb_s(gigabits_per_second: float) -> float:
    """Convert Gb/s of a network port to GB/s (1e9 bytes)."""
    return gigabits_per_second / BITS_PER_BYTE
