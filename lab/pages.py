"""What pages of evidence share: Markdown tables, and files of findings that the suite checks them against."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST = 9.99
"""Errors beyond this are only said to be beyond."""
NOT_UNDERSTOOD = "not understood"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """A table whose last ``numbers`` columns are numbers and end together."""
    ruler = ["---"] * (len(columns) - numbers) + ["---:"] * numbers
    head, *body = [[cell_text(cell) for cell in line] for line in (columns, *rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ruler, *body))


def cell_text(text: str) -> str:
    """Text that leaves a table whole."""
    return " ".join(text.replace("|", "/").replace("<", "‹").replace(">", "›").split())


def percent(value: float | None, *, signed: bool = False) -> str:
    """A share or an error."""
    if value is None:
        return "–"
    if value > MOST:
        return f"over {100.0 * MOST:.0f} %"
    digits = 0 if abs(value) >= 0.1 else 1
    return f"{100.0 * value:{'+' if signed else ''}.{digits}f} %".replace("-", "−")


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Findings as CSV with a header."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def read(found: Path) -> list[Mapping[str, str]]:
    """The lines of the checked-in file."""
    with found.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@dataclass(frozen=True, slots=True)
class Page:
    """A page of docs/ and the checked-in file of findings that it is written from, by a command of the bench."""

    command: str
    findings: Path
    page: Path
    compute: Callable[[], str]
    write: Callable[[], str]

    def run(self, arguments: Sequence[str]) -> int:
        """Write both, the page alone (``--page``), or nothing and say whether the page is current (``--check``)."""
        if "--check" in arguments:
            current = self.page.is_file() and self.page.read_text(encoding="utf-8") == self.write()
            sys.stdout.write("" if current else f"{self.page.name} is not current: run python -m lab {self.command}\n")
            return int(not current)
        if "--page" not in arguments:
            self.findings.write_text(self.compute(), encoding="utf-8")
        self.page.write_text(self.write(), encoding="utf-8")
        return 0
