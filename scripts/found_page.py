"""A page that is written from a checked-in file of findings, for the scripts that compute both."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


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


def run(script: str, found: Path, page: Path, compute: Callable[[], str], write: Callable[[], str]) -> int:
    """Write both, the page alone (``--page``), or nothing and say whether the page is current (``--check``)."""
    if "--check" in sys.argv[1:]:
        current = page.is_file() and page.read_text(encoding="utf-8") == write()
        sys.stdout.write("" if current else f"{page.name} is not current: run python scripts/{script}\n")
        return int(not current)
    if "--page" not in sys.argv[1:]:
        found.write_text(compute(), encoding="utf-8")
    page.write_text(write(), encoding="utf-8")
    return 0
