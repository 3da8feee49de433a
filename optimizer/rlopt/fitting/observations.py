"""Measured steps and rates as what a fit is held against, all rows alike and no constant in play yet.

What cannot be predicted is left out. Weights and constants are the caller's: a user's fit moves a few factors, the
house's own fit of the shipped constants moves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.facts import Catalog
from rlopt.fitting.fit import Study
from rlopt.measured.loop import rows as loop
from rlopt.measured.loop.stages import stages_of
from rlopt.measured.quantities import GENERATION, RL, TRAINING
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.sampling import rows as sampling
from rlopt.measured.training import rows as training

LABELS = ("source", "lengths")
"""Labels of loops that are there even of no rows."""


def of_training(rows: Sequence[MeasuredRow], read: training.TrainingCases) -> Study:
    """Training rows, each asked for its throughput or its step."""
    kept = [rows[place] for place in read.index]
    quantities = [row.quantity for row in kept]
    return _study(
        TRAINING,
        kept,
        {**read.labels, "quantity": tuple(quantities)},
        lambda constants: training.in_metric(read, quantities, training.seconds(read, constants)),
    )


def of_generation(rows: Sequence[MeasuredRow], read: sampling.Cases, calibration: Calibration) -> Study:
    """Generation rows, each asked for its throughput; how they are served follows from ``calibration``."""
    serving = read.serving(calibration)
    return _study(
        GENERATION,
        [rows[place] for place in read.rows],
        {name: tuple(one[name] for one in read.labels) for name in read.labels[0]},
        lambda constants: read.tokens_per_s(constants, serving),
    )


def of_loops(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> Study:
    """Loop rows, each asked for its step; ``calibration`` gives the stages, fits move what loops add to them."""
    read = loop.cases(rows, catalog, calibration)
    kept = [rows[place] for place in read.index]
    prepared = stages_of(read.fields, calibration)

    def predicted(constants: Calibration) -> Floats:
        time = loop.step_times(prepared, constants)
        found = [loop.in_quantity(row.quantity, row, one, time, case)
                 for case, (row, one) in enumerate(zip(kept, read.fields, strict=True))]  # fmt: skip
        return np.array([value if isinstance(value, float) else np.nan for value in found])

    labels = [loop.labels_of(one) | {"quantity": row.quantity, "lengths": "stated" if row.has("response_len_mean") else
                                     "guessed"} for row, one in zip(kept, read.fields, strict=True)]  # fmt: skip
    names = labels[0] if labels else LABELS
    return _study(RL, kept, {name: tuple(label[name] for label in labels) for name in names}, predicted)


def _study(
    kind: str,
    rows: Sequence[MeasuredRow],
    labels: Mapping[str, tuple[str, ...]],
    predict: Callable[[Calibration], Floats],
) -> Study:
    return Study(
        kind=kind,
        ids=tuple(row.id for row in rows),
        measured=np.array([row.number(row.quantity) or np.nan for row in rows]),
        labels=labels,
        weights=np.ones(len(rows)),
        parameters=(),
        predict=predict,
    )


STUDIES: Mapping[str, Callable[[Sequence[MeasuredRow], Catalog, Calibration], Study]] = {
    TRAINING: lambda rows, catalog, base: of_training(rows, training.cases(rows, catalog, base)),
    GENERATION: lambda rows, catalog, base: of_generation(rows, sampling.cases(rows, catalog, base), base),
    RL: of_loops,
}
"""Study of the rows of one kind, in the order in which constants build on each other."""
