"""Which bytes move to another tier, in words."""

from __future__ import annotations

from rlopt.answers.plan import Decisions
from rlopt.reports import words
from rlopt.units import HOURS_PER_DAY


def moves(made: Decisions) -> list[tuple[str, str]]:
    """What is stored compressed, and a row for each kind of bytes that moves; none where all stay where they are."""
    found = [
        (f"{move.role} copies", move.to, move.after_hours, "after the run" if move.role == "recent" else "old")
        for move in made.checkpoint.moves
    ]
    squeezed = [kept.item for kept in made.storage if kept.compressed]
    rows = [("compressed", words.listed(squeezed))] if squeezed else []
    found += [(kept.item, kept.to, kept.after_hours or 0.0, "old") for kept in made.storage if kept.to is not None]
    return rows + [
        ("" if number else "lifecycle", f"{item}: to {to} when {_days(hours)} {since}")
        for number, (item, to, hours, since) in enumerate(found)
    ]


def _days(hours: float) -> str:
    return words.count(round(hours / HOURS_PER_DAY), "day")
