"""Numbers by name out of one line: pairs, printed dictionaries and JSON, bounded and without running anything."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

WRAPPED = re.compile(r"\b(?:np|numpy|torch)\.\w+\(([^()]*)\)|\btensor\(([^(),]*)[^()]*\)")
"""Scalars that print with their type."""
UNREADABLE = re.compile(r"(?<![\w'\"])(?:nan|-?inf|NaN|-?Infinity)(?![\w'\"])")
LONGEST_SECONDS = 1e7
NUMBERS = ("step", "_step", "global_step", "training/global_step", "train/global_step")
"""Names of the step's own number in trackers' records."""


def unwrapped(text: str) -> str:
    """The text with plain numbers where typed scalars stand."""
    return WRAPPED.sub(lambda found: found[1] if found[1] is not None else found[2], text)


def number(value: Any) -> float | None:
    """A finite number, also where it was printed as text; None of anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def numbers(table: Mapping[Any, Any]) -> dict[str, float]:
    """What of a map is a number."""
    found = {str(key): number(value) for key, value in table.items()}
    return {key: value for key, value in found.items() if value is not None}


def printed(text: str) -> dict[str, float] | None:
    """A dictionary as Python prints it; None where it is cut off or none."""
    plain = UNREADABLE.sub("None", unwrapped(text))
    end = plain.rfind("}")
    if end < 0:
        return None
    try:
        table = ast.literal_eval(plain[: end + 1])
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return numbers(table) if isinstance(table, dict) else None


def recorded(text: str) -> tuple[int | None, dict[str, float]] | None:
    """A tracker's record as one line of JSON: its step's number and its numbers; None where it is none."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(table, dict):
        return None
    inner = table.get("data")
    values = numbers(inner if isinstance(inner, dict) else table)
    told = [number(table.get(name)) for name in NUMBERS] + [values.get(name) for name in NUMBERS]
    count = next((int(one) for one in told if one is not None and 0 <= one < 1e12), None)
    return count, values


def find(values: Mapping[str, float], name: str) -> float | None:
    """The value whose name is ``name``, or ends with it after a slash."""
    if name in values:
        return values[name]
    end = f"/{name}"
    return next((value for key, value in values.items() if key.endswith(end)), None)


def total(values: Mapping[str, float], names: Sequence[str]) -> float | None:
    """Sum of those that are there; None where none is."""
    found = [value for value in (find(values, name) for name in names) if value is not None]
    return sum(found) if found else None


def seconds_of(values: Mapping[str, float], timers: Mapping[str, Sequence[str]]) -> dict[str, float] | str:
    """Seconds by stage, timers of one stage added up; or why they cannot be."""
    found: dict[str, float] = {}
    for stage, names in timers.items():
        spent = total(values, names)
        if spent is None:
            continue
        if not 0.0 <= spent < LONGEST_SECONDS:
            return f"{stage} takes {spent:g} s"
        found[stage] = spent
    return found
