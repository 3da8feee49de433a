"""What statistics need of a prediction, wherever it came from: a file just read, or one kept out of a fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rlopt.measured.predictions import Prediction
from rlopt.measured.quantities import FITS_QUANTITY, STAGE_COLUMNS

SECTIONS: Final[Mapping[str, str]] = {
    "training": "Training time",
    "generation": "Generation throughput",
    "rl": "RL step",
    "rl stages": "Stages of the RL step",
    "memory": "Peak memory",
    "fits": "Fits or runs out of memory",
}
"""Titles of what is summed up apart from the rest."""
LABELS: Final = ("source", "device", "model", "engine", "method", "architecture", "size")
UNKNOWN: Final = "not stated"
_SIZES: Final = (0.0, 1.0, 4.0, 16.0, 50.0, 150.0)
"""Class borders, 10⁹ parameters."""


@dataclass(frozen=True, slots=True)
class Point:
    """A measured value and its prediction.

    Parameters
    ----------
    section
        Key of `SECTIONS`.
    id, quantity, unit
        Row, measured column and unit.
    measured, predicted
        Numbers, or fits | oom; ``predicted`` is ``None`` where unsupported, ``measured`` where nothing was.
    reason
        Why unsupported.
    low, high
        80 % band of the prediction, or ``None``.
    limit
        GiB that a peak should not exceed: the plan's needed memory × (1 + margin); or ``None``.
    labels
        Values of `LABELS`; sizes are the same classes for every kind.
    line
        Line in the file it was read from; 0 where there is none.
    """

    section: str
    id: str
    quantity: str
    unit: str
    measured: float | str | None
    predicted: float | str | None
    reason: str
    low: float | None
    high: float | None
    limit: float | None
    labels: Mapping[str, str]
    line: int = 0

    @property
    def ratio(self) -> float | None:
        """Predicted over measured, where both are numbers."""
        if isinstance(self.predicted, float) and isinstance(self.measured, float):
            return self.predicted / self.measured
        return None


def section_of(kind: str, quantity: str) -> str:
    """Key of `SECTIONS` for a quantity of a kind."""
    if quantity == FITS_QUANTITY:
        return "fits"
    return "rl stages" if kind == "rl" and quantity in STAGE_COLUMNS else kind


def points_of(predictions: Iterable[Prediction]) -> list[Point]:
    """One point per prediction, in order."""
    return [_point(one) for one in predictions]


def _point(one: Prediction) -> Point:
    outcome, row = one.outcome, one.row
    labels = {name: one.label(name) or UNKNOWN for name in LABELS}
    labels["source"] = short_source(row.text("source") or one.label("source"))
    for name, column in (("model", "model"), ("device", "gpu"), ("engine", "framework"), ("engine", "engine")):
        if labels[name] == UNKNOWN:
            labels[name] = row.text(column)[:60] or UNKNOWN
    labels["size"] = size_class(row.number("params_b") or _named_size(labels["model"]))
    return Point(
        section=section_of(one.kind, row.quantity), id=row.id, quantity=row.quantity, unit=one.unit,
        measured=one.measured, predicted=outcome.predicted, reason=outcome.reason, low=outcome.low, high=outcome.high,
        limit=outcome.limit, labels=labels, line=row.line,
    )  # fmt: skip


def short_source(cell: str) -> str:
    """The repository or site that a source cell names, without path, commit and scheme."""
    text = re.sub(r"^(https?://|github(\.com)?[:/])+(www\.)?(github\.com/)?", "", cell.strip())
    parts = re.split(r"[\s:@]", text, maxsplit=1)[0].split("/")
    return "/".join(parts[:2])[:60] or UNKNOWN


def size_class(params_b: float | None) -> str:
    """Class of a model by its parameters (10⁹), so that small and huge ones are not averaged."""
    if params_b is None or params_b <= 0:
        return UNKNOWN
    for low, high in pairwise(_SIZES):
        if params_b < high:
            return f"{low:g} to {high:g} B" if low else f"under {high:g} B"
    return f"over {_SIZES[-1]:g} B"


def _named_size(model: str) -> float | None:
    """10⁹ parameters as the name says them (``-7B``, ``0.5b``), the largest figure of a mixture's name."""
    figures = [float(found) for found in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z0-9])", model.lower())]
    return max(figures, default=None)


def numeric(points: Sequence[Point]) -> list[Point]:
    """Those with a ratio."""
    return [point for point in points if point.ratio is not None]
