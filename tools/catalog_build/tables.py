"""Reading raw tables and writing catalogs: sorted, deterministic, one line per row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Row = dict[str, str]

_DATE = re.compile(r"(\d{4}(?:-\d{2}(?!\d)(?:-\d{2})?)?)(?!\d)")
UNDATED = "undated"


@dataclass
class Table:
    """One catalog in the making.

    `source` cells hold the full text until the last step turns it into a key. `left_out` counts raw rows
    that did not become rows of the catalog, by reason.
    """

    name: str
    columns: tuple[str, ...]
    rows: list[dict[str, object]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str, rows: int = 1) -> None:
        """Count rows that are not carried over."""
        self.left_out[reason] = self.left_out.get(reason, 0) + rows


def read(folder: Path, name: str) -> list[Row]:
    """Read one raw table; cells are stripped, a missing cell is empty."""
    with (folder / name).open(encoding="utf-8", newline="") as handle:
        return [{key: (value or "").strip() for key, value in row.items()} for row in csv.DictReader(handle)]


def render(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Render rows as CSV text in the order given; a row with an unknown column is an error."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: cell(value) if isinstance(value, float) else value for key, value in row.items()})
    return out.getvalue()


def optional(text: str) -> float | None:
    """Read a cell that may be empty or say that nothing was found."""
    return None if text.lower() in ("", "unknown") else float(text)


def cell(value: float | None) -> str:
    """Write a number in the shortest way that keeps nine significant digits; nothing where it is unknown."""
    if value is None:
        return ""
    text = f"{value:.9g}"
    return f"{float(text):.0f}" if "e+" in text else text


def iso_date(text: str) -> str:
    """Reduce a date as collected to ISO form, or ``undated``.

    ``undated(...)``, the head date of a repository and prose without a leading date count as undated; of a
    range the earlier end is kept, because a price is no newer than that.
    """
    lower = text.lower()
    if not lower or lower.startswith(("undated", "see ")) or "repo head" in lower:
        return UNDATED
    match = _DATE.search(text)
    return match[1] if match and (match.start() == 0 or lower.startswith("old (")) else UNDATED


def slug(text: str) -> str:
    """Reduce text to lower-case words joined by dashes, for use in an id."""
    return re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-")


def join(*texts: str) -> str:
    """Join the texts that are not empty."""
    return "; ".join(text for text in texts if text)
