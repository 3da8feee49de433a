"""Predictions for other programs: one flat record each, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from rlopt.facts.calibration import Calibration
from rlopt.measured.meanings import MEANINGS
from rlopt.measured.points import points_of
from rlopt.measured.predictions import Prediction
from rlopt.measured.quantities import STAGE_COLUMNS
from rlopt.measured.rows import MeasuredTable
from rlopt.measured.summary import refusals, summary

SCHEMA: Final = "rlopt.validation/1"
COLUMNS: Final = tuple(MEANINGS)
_LABELS: Final = ("model", "device", "engine", "source", "method", "architecture", "size")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings that a spreadsheet takes for a formula."""


def records(predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """One record per prediction, keys as `COLUMNS`; ``None`` where there is nothing to say."""
    found = []
    for one, point in zip(predictions, points_of(predictions), strict=True):
        outcome = one.outcome
        record: dict[str, Any] = {
            "id": _name(one), "kind": one.kind, "measured": one.measured, "predicted": outcome.predicted,
            "ratio": one.ratio, "status": one.status, "reason": outcome.reason, "quantity": one.row.quantity,
            "unit": one.unit, "low": outcome.low, "high": outcome.high, "needed_gib": outcome.needed,
            "limit_gib": outcome.limit,
        }  # fmt: skip
        record |= {name: point.labels[name] for name in _LABELS}
        found.append(record | {"line": one.row.line, "note": outcome.note})
    return found


def _name(one: Prediction) -> str:
    """The row's id; a stage of its step carries its column behind it, so that an id names one quantity of a kind."""
    return f"{one.row.id}:{one.row.quantity}" if one.row.quantity in STAGE_COLUMNS else one.row.id


def to_csv(rows: Iterable[dict[str, Any]]) -> str:
    """Write records as CSV; texts that a spreadsheet would run as a formula get a quote in front."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row[column]) for column in COLUMNS])
    return stream.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.8g}"
    text = str(value)
    return f"'{text}" if len(text) > 1 and text.startswith(_FORMULA) else text


def document(table: MeasuredTable, predictions: Sequence[Prediction], calibration: Calibration) -> dict[str, Any]:
    """Everything that ``rlopt validate`` knows, as one JSON document (docs/command-line.md names its fields)."""
    points = points_of(predictions)
    repeated = [name for name, number in Counter(row.id for row in table.rows).items() if number > 1]
    return {
        "schema": SCHEMA,
        "file": table.name,
        "rows": len(table.rows),
        "repeated_ids": repeated,
        "calibration": {"name": calibration.name, "as_of": calibration.as_of},
        "summary": summary(points),
        "unsupported": refusals(points),
        "predictions": records(predictions),
    }
