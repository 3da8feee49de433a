"""Predictions beside measurements: one record per measured quantity of each row, none left out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rlopt.errors import InputError, RloptError
from rlopt.facts import Catalog
from rlopt.facts.calibration import Calibration
from rlopt.measured.outcome import FITS, OOM, RowOutcome, with_band
from rlopt.measured.quantities import (
    CELL_OF,
    FITS_QUANTITY,
    GENERATION,
    KINDS,
    MEMORY,
    RL,
    TRAINING,
    UNITS,
    asked,
    kind_of_columns,
    knows,
)
from rlopt.measured.rows import MeasuredRow, MeasuredTable
from rlopt.measured.sanity import slip

Predict = Callable[[Sequence[MeasuredRow], Catalog, Calibration], list[RowOutcome]]

PREDICTED, UNSUPPORTED = "predicted", "unsupported"
NOT_MEASURED: Final = "no measured value"
FAULT: Final = "a defect of rlopt"
"""How the reason of a row begins that no model should have tripped over."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One measured quantity of one row, and what the models say about it.

    Parameters
    ----------
    row
        The row, asking for the quantity.
    kind
        training | generation | rl | memory.
    measured
        Number in the quantity's unit, or fits | oom; ``None`` where nothing usable was measured.
    outcome
        The prediction or the reason why there is none.
    """

    row: MeasuredRow
    kind: str
    measured: float | str | None
    outcome: RowOutcome

    @property
    def status(self) -> str:
        """Whether there is a prediction: predicted | unsupported."""
        return UNSUPPORTED if self.outcome.predicted is None else PREDICTED

    @property
    def ratio(self) -> float | None:
        """Predicted over measured; ``None`` where either is no number."""
        predicted, measured = self.outcome.predicted, self.measured
        if not isinstance(predicted, float) or not isinstance(measured, float):
            return None
        return predicted / measured

    @property
    def unit(self) -> str:
        """Unit of the measured and the predicted value."""
        return UNITS.get(self.row.quantity, "")

    def label(self, name: str) -> str:
        """What errors are grouped by; empty where it is not known."""
        return self.outcome.labels.get(name, "")


def predict_table(table: MeasuredTable, catalog: Catalog, calibration: Calibration) -> list[Prediction]:
    """Predict every measured quantity of a file, in the order of its rows.

    Raises
    ------
    InputError
        When no column of the file holds a measurement.
    """
    if not knows(table):
        allowed = "tokens_per_s_per_gpu, step_time_s, output_tokens_per_s_total, peak_mem_gib or result"
        message = "no column tells what was measured"
        raise InputError.of("", message, file=table.name, line=1, allowed=allowed, fix="rename the measured column")
    found: list[Prediction] = []
    for row in table.rows:
        cases = [_case(row.asking(quantity), kind) for kind, quantity in asked(table, row)]
        found += cases or [_unmeasured(row, kind_of_columns(table))]
    for kind in KINDS:
        open_ = [place for place, one in enumerate(found) if one.kind == kind and not one.outcome.reason]
        outcomes = _outcomes(kind, [found[place].row for place in open_], catalog, calibration)
        for place, outcome in zip(open_, outcomes, strict=True):
            found[place] = replace(found[place], outcome=with_band(_checked(outcome, found[place]), kind, calibration))
    return found


def models() -> Mapping[str, Predict]:
    """What predicts the rows of each kind; imported here, as `rlopt --help` needs none of it."""
    from rlopt.measured.loop.rows import predict as loops
    from rlopt.measured.memory.rows import predict as memory
    from rlopt.measured.sampling.rows import predict as sampling
    from rlopt.measured.training.rows import predict as training

    return {TRAINING: training, GENERATION: sampling, RL: loops, MEMORY: memory}


def _unmeasured(row: MeasuredRow, kind: str) -> Prediction:
    return Prediction(row, kind, None, RowOutcome.unsupported(NOT_MEASURED))


def _case(row: MeasuredRow, kind: str) -> Prediction:
    """The measurement without its prediction; refused where its own cells cannot be true."""
    cell = row.text(CELL_OF.get(row.quantity, row.quantity))
    if row.quantity == FITS_QUANTITY:
        value = cell.lower()
        if value not in (FITS, OOM):
            return Prediction(
                row, kind, None, RowOutcome.unsupported(f"the result {cell[:40]!r} is neither fits nor oom")
            )
        return Prediction(row, kind, value, RowOutcome(None, slip(row)))
    number = row.number(row.quantity)
    if number is None or number <= 0:
        reason = f"the measured value {cell[:40]!r} is no number above zero"
        return Prediction(row, kind, None, RowOutcome.unsupported(reason))
    return Prediction(row, kind, number, RowOutcome(None, slip(row)))


def _outcomes(kind: str, rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    if not rows:
        return []
    with np.errstate(all="ignore"):
        return _guarded(models()[kind], rows, catalog, calibration)


def _guarded(
    predict: Predict, rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration
) -> list[RowOutcome]:
    """Outcomes of all rows; a row that a model trips over takes no other row with it, and says so."""
    try:
        return predict(rows, catalog, calibration)
    except RloptError:
        raise
    except Exception as error:
        if os.environ.get("RLOPT_DEBUG"):
            raise
        if len(rows) == 1:
            return [RowOutcome.unsupported(f"{FAULT}: {type(error).__name__}: {error}"[:160])]
    middle = len(rows) // 2
    halves = rows[:middle], rows[middle:]
    return [outcome for half in halves for outcome in _guarded(predict, half, catalog, calibration)]


def _checked(outcome: RowOutcome, case: Prediction) -> RowOutcome:
    """The outcome, refused where a model gave something that is no prediction."""
    predicted = outcome.predicted
    if predicted is None:
        return outcome if outcome.reason else outcome.because("no reason given")
    if isinstance(case.measured, str):
        return outcome if predicted in (FITS, OOM) else outcome.because("the model says neither fits nor oom")
    if isinstance(predicted, str) or not _is_sound(float(predicted), case.measured or 1.0):
        return outcome.because("the model gives no finite value above zero")
    return replace(
        outcome, predicted=float(predicted), low=_finite(outcome.low), high=_finite(outcome.high),
        needed=_finite(outcome.needed), limit=_finite(outcome.limit),
    )  # fmt: skip


def _is_sound(predicted: float, measured: float) -> bool:
    return 0.0 < predicted < math.inf and 0.0 < predicted / measured < math.inf


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
