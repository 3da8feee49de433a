"""What the memory model says of measured rows: their peak, or whether they fit."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.estimates import Calibration
from rlopt.facts import Catalog
from rlopt.measured.memory.cases import cases, margins, peaks
from rlopt.measured.memory.fit_rows import predict_fits
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.quantities import RESULT
from rlopt.measured.rows import MeasuredRow


def predict(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    """One outcome per row, in order. Rows with a result state loops and capacities in columns of their own."""
    judged = [row for row in rows if row.has(RESULT)]
    plain = [row for row in rows if not row.has(RESULT)]
    fits = iter(predict_fits(judged, catalog, calibration))
    others = iter(_peaks(plain, catalog, calibration))
    return [next(fits) if row.has(RESULT) else next(others) for row in rows]


def _peaks(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> list[RowOutcome]:
    found = cases(rows, catalog, calibration)
    result = [RowOutcome.unsupported(reason) for reason in found.reasons]
    if not len(found):
        return result
    seen, needed = peaks(found, calibration)
    most = needed * (1.0 + margins(found, calibration))
    for case, place in enumerate(found.index):
        result[place] = RowOutcome(
            float(seen[case]),
            labels=found.labels[case],
            note=found.fields[case].note,
            needed=float(needed[case]),
            limit=float(most[case]),
        )
    return result


__all__ = ["predict"]
