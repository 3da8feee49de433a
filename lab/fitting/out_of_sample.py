"""Predictions of rows that the constants were not fitted on: the file that accuracy is stated from.

One line per row and scheme. `fold`: five-fold, rows of one printed configuration kept out together; `source`, `device`
and `model`: everything of one source, device or model kept out.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rlopt.errors import Complaint, InputError
from rlopt.measured.points import UNKNOWN, Point, section_of
from rlopt.measured.quantities import UNITS

SCHEMES: Final = ("fold", "source", "device", "model")
LABELS: Final = ("source", "device", "model", "engine", "method", "architecture")
COLUMNS: Final = ("kind", "id", "quantity", "scheme", "measured", "predicted", "low", "high", "limit", *LABELS)
"""``quantity`` is the measured column; ``low`` and ``high`` are the 80 % band; ``limit`` is for memory: the plan's
need × (1 + margin), GiB. Blank ``quantity`` means the kind's main one."""
MAIN: Final = {
    "training": "tokens_per_s_per_gpu",
    "generation": "output_tokens_per_s_total",
    "rl": "step_time_s",
    "memory": "peak_mem_gib",
}
_DIGITS: Final = 5


def read_kept_out(path: Path) -> dict[str, list[Point]]:
    """Points by scheme, in the order of the file.

    Raises
    ------
    InputError
        With each line that has no kind, scheme or usable measured value.
    """
    found: dict[str, list[Point]] = {scheme: [] for scheme in SCHEMES}
    faults: list[Complaint] = []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            line = sum(map(len, found.values())) + len(faults) + 2
            if row["kind"] not in MAIN or row["scheme"] not in found or not row["measured"]:
                message = f"{row['id']}: kind {row['kind']!r}, scheme {row['scheme']!r}, measured {row['measured']!r}"
                faults.append(Complaint(str(path), line, "", message, "", "write the file again"))
                continue
            found[row["scheme"]].append(_point(row, line))
    if faults:
        raise InputError(faults)
    return found


def _point(row: dict[str, str], line: int) -> Point:
    quantity = row.get("quantity") or MAIN[row["kind"]]
    labels = {name: row.get(name) or UNKNOWN for name in LABELS}
    return Point(
        section=section_of(row["kind"], quantity), id=row["id"], quantity=quantity, unit=UNITS.get(quantity, ""),
        measured=_value(row["measured"]), predicted=_value(row["predicted"]), reason="", low=_number(row.get("low")),
        high=_number(row.get("high")), limit=_number(row.get("limit")), labels=labels | {"size": UNKNOWN}, line=line,
    )  # fmt: skip


def _value(cell: str) -> float | str | None:
    number = _number(cell)
    return cell or None if number is None else number


def _number(cell: str | None) -> float | None:
    try:
        value = float(cell or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def kept_out_csv(rows: Iterable[dict[str, object]]) -> str:
    """Write rows with `COLUMNS` as keys (missing ones are blank), numbers to five significant digits.

    The same rows give the same text: sorted by kind, scheme and id.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    order = {name: place for place, name in enumerate(SCHEMES)}
    writer.writerows(
        [_cell(row.get(column)) for column in COLUMNS]
        for row in sorted(rows, key=lambda row: (str(row["kind"]), order[str(row["scheme"])], str(row["id"])))
    )
    return stream.getvalue()


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
