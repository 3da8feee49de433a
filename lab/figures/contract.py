"""What one recomputed figure is."""

from __future__ import annotations

from dataclasses import dataclass

CLOSE = 0.05
"""Points (as a share) within which a figure counts as reproduced."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A quoted figure, ours, and why they differ; ``table`` is Markdown, ``title`` the heading of its section."""

    title: str
    claim: str
    quoted: str
    ours: str
    verdict: str
    case: str
    table: str
    why: str


def inside(value: float, low: float, high: float) -> bool:
    """Whether a share lies in a quoted range, or within `CLOSE` of it."""
    return low - CLOSE <= value <= high + CLOSE


def verdict(*held: bool) -> str:
    """reproduced, partly or not, by the claims that hold."""
    return "reproduced" if all(held) else "reproduced in part" if any(held) else "not reproduced"
