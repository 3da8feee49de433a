"""From the text of a row to the family of training stacks that ran it, and what such a stack does by default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rlopt.estimates.calibration import Calibration, calibration_dir
from rlopt.facts.files.tables import table
from rlopt.measured.rows import MeasuredRow

FILE = "sources.yaml"
ENGINE_COLUMNS = ("engine", "framework")
SEARCHED = (*ENGINE_COLUMNS, "source", "model", "gpu", "precision", "sharding", "method", "notes")


@dataclass(frozen=True, slots=True)
class StackFacts:
    """A family of training stacks and what it does where a row does not say.

    Parameters
    ----------
    engine
        Name in the calibration's engines.
    recompute
        none | selective | full.
    fused_attention, chunked_loss, sequence_parallel
        As in `rlopt.estimates.Stack`.
    knows_attention
        Whether ``fused_attention`` holds whatever the row says: tables often say yes of a stack as a whole.
    """

    engine: str
    recompute: str = "none"
    fused_attention: bool = True
    chunked_loss: bool = False
    sequence_parallel: bool = True
    knows_attention: bool = False


@dataclass(frozen=True, slots=True)
class _Entry:
    patterns: tuple[re.Pattern[str], ...]
    facts: StackFacts


@lru_cache(maxsize=1)
def _file() -> Mapping[str, Any]:
    return table(calibration_dir() / FILE)


@lru_cache(maxsize=1)
def _entries() -> tuple[_Entry, ...]:
    found = []
    for entry in _file()["sources"]:
        patterns = tuple(re.compile(pattern, re.IGNORECASE) for pattern in entry["match"])
        found.append(_Entry(patterns, StackFacts(**{key: entry[key] for key in entry if key != "match"})))
    return tuple(found)


@lru_cache(maxsize=1)
def _untimed() -> tuple[tuple[tuple[re.Pattern[str], ...], str], ...]:
    return tuple(
        (tuple(re.compile(pattern, re.IGNORECASE) for pattern in entry["match"]), entry["reason"])
        for entry in _file()["untimed"]
    )


def untimed(row: MeasuredRow) -> str:
    """Why a row's time says nothing of how fast a stack trains; empty where it does."""
    text = _text(row)
    return next((reason for patterns, reason in _untimed() if all(p.search(text) for p in patterns)), "")


def _text(row: MeasuredRow) -> str:
    return " | ".join(row.text(column) for column in SEARCHED)


def default(name: str) -> Any:
    """What is assumed where a row leaves a cell blank."""
    return _file()["defaults"][name]


def find_stack(row: MeasuredRow, calibration: Calibration) -> StackFacts:
    """The stack of a row; an `engine` or `framework` cell that names a family wins over the table."""
    named = next((row.text(column).lower() for column in ENGINE_COLUMNS if row.has(column)), "")
    text = _text(row)
    found = next(entry.facts for entry in _entries() if all(pattern.search(text) for pattern in entry.patterns))
    if named not in calibration.engines:
        return found
    alike = next((entry.facts for entry in _entries() if entry.facts.engine == named), found)
    return replace(alike, engine=named)


__all__ = ["StackFacts", "default", "find_stack", "untimed"]
