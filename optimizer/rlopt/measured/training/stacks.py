"""From the text of a row to the family of training stacks that ran it, and what such a stack does by default."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from rlopt.facts.calibration import Calibration
from rlopt.facts.stacks import StackFacts
from rlopt.measured.rows import MeasuredRow

ENGINE_COLUMNS = ("engine", "framework")
SEARCHED = (*ENGINE_COLUMNS, "source", "model", "gpu", "precision", "sharding", "method", "notes")


@lru_cache(maxsize=512)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _matches(patterns: tuple[str, ...], text: str) -> bool:
    return all(_pattern(pattern).search(text) for pattern in patterns)


def untimed(row: MeasuredRow, calibration: Calibration) -> str:
    """Why a row's time says nothing of how fast a stack trains; empty where it does."""
    text = _text(row)
    return next((one.reason for one in calibration.stacks.untimed if _matches(one.match, text)), "")


def _text(row: MeasuredRow) -> str:
    return " | ".join(row.text(column) for column in SEARCHED)


def find_stack(row: MeasuredRow, calibration: Calibration) -> StackFacts:
    """The stack of a row; an `engine` or `framework` cell that names a family wins over the table."""
    named = next((row.text(column).lower() for column in ENGINE_COLUMNS if row.has(column)), "")
    text = _text(row)
    found = next(one.facts for one in calibration.stacks.sources if _matches(one.match, text))
    if named not in calibration.engines:
        return found
    alike = next((one.facts for one in calibration.stacks.sources if one.facts.engine == named), found)
    return replace(alike, engine=named)


__all__ = ["StackFacts", "find_stack", "untimed"]
