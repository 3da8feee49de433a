"""Where a catalog comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """One catalog file: its name, the newest date in it, its rows and its main sources."""

    name: str
    as_of: str
    rows: int
    source: str
