"""The bill of a plan: lines that add up to its total."""

from __future__ import annotations

from typing import Literal

from rlopt.strict import Strict

Dimension = Literal["compute", "storage", "network", "cache", "logging", "operations", "data"]
Kind = Literal["fixed", "elastic", "hidden"]


class BillLine(Strict):
    """One line of the bill; ``basis`` lets a person recompute it."""

    dimension: Dimension
    item: str
    kind: Kind
    usd: float
    basis: str


class Cost(Strict):
    """The whole bill."""

    total_usd: float
    lines: list[BillLine]
