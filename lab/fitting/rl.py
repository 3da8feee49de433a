"""The study of sampling loops: published steps, and which constants of the loop they may move.

The stages are the planner's estimates of training and serving under the calibration at hand and stay as they are;
fits move what loops add to them. Fit the other rooms first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab.fitting.published import dropped, published
from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study, source_weights
from rlopt.measured.loop.rows import RATE, STEP, cases, in_quantity, labels_of, step_times
from rlopt.measured.loop.stages import stages_of
from rlopt.measured.rows import MeasuredRow

FILE = "rl.csv"
GUESSED = 0.5
"""Weight of a row whose mean response length is a guess."""
FRAMEWORKS = ("rl", "frameworks")
LABELS = ("source", "lengths")
"""Labels that are there even of no rows."""


def measured_rows() -> list[MeasuredRow]:
    """Every row with the time or the rate of a step, asked for it."""
    rows = published(FILE)
    asked = [(row, next((name for name in (STEP, RATE) if row.number(name)), "")) for row in rows]
    return [row.asking(quantity) for row, quantity in asked if quantity]


def study(catalog: Catalog, calibration: Calibration) -> Study:
    """Loops that fits see; trainers of RL files are the training study's matter."""
    return study_of([row for row in measured_rows() if row.id not in dropped("rl")], catalog, calibration)


def study_of(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> Study:
    """The same of any rows, each asked for its step; rows that cannot be predicted are left out."""
    read = cases(rows, catalog, calibration)
    kept = [rows[place] for place in read.index]
    prepared = stages_of(read.fields, calibration)

    def predicted(constants: Calibration) -> Floats:
        time = step_times(prepared, constants)
        found = [in_quantity(row.quantity, row, one, time, case)
                 for case, (row, one) in enumerate(zip(kept, read.fields, strict=True))]  # fmt: skip
        return np.array([value if isinstance(value, float) else np.nan for value in found])

    labels = [labels_of(one) | {"quantity": row.quantity, "lengths": "stated" if row.has("response_len_mean") else
                                "guessed"} for row, one in zip(kept, read.fields, strict=True)]  # fmt: skip
    columns = {name: tuple(label[name] for label in labels) for name in (labels[0] if labels else LABELS)}
    stated = np.array([length == "stated" for length in columns["lengths"]])
    return Study(
        kind="rl",
        ids=tuple(row.id for row in kept),
        measured=np.array([row.number(row.quantity) or np.nan for row in kept]),
        labels=columns,
        weights=source_weights(columns["source"]) * np.where(stated, 1.0, GUESSED),
        parameters=PARAMETERS,
        predict=predicted,
    )


def _of(name: str, key: str, start: float, low: float, high: float, sd: float, toward: str = "") -> Parameter:
    """A constant of a framework's row, shrunk towards ``start`` or towards the row ``toward``."""
    parent = (*FRAMEWORKS, toward, key) if toward else None
    return Parameter((*FRAMEWORKS, name, key), start, low, high, sd, parent)


PARAMETERS = (
    _of("nemo-rl", "train", 1.2, 0.5, 4.0, 0.4),
    _of("nemo-rl-0.4", "train", 1.2, 0.5, 4.0, 0.1, "nemo-rl"),
    _of("nemo-rl-0.4", "sample", 1.0, 0.7, 1.6, 0.1),
    _of("verl-fsdp", "train", 1.2, 0.3, 4.0, 0.3, "nemo-rl"),
    _of("verl-megatron", "train", 1.2, 0.3, 4.0, 0.3, "verl-fsdp"),
    _of("verl-async", "train", 1.0, 0.2, 4.0, 0.4, "verl-fsdp"),
    _of("easyr1", "train", 1.2, 0.3, 4.0, 0.25, "verl-fsdp"),
    _of("deepspeed-chat-2023", "train", 1.5, 0.5, 6.0, 0.7),
    _of("verl-fsdp", "sample", 1.2, 0.6, 3.0, 0.3),
    _of("deepspeed-chat-2023", "sample", 1.5, 0.5, 8.0, 0.7),
    _of("deepspeed-chat-2023", "pressure", 0.2, 0.01, 2.0, 0.7),
    _of("deepspeed-chat-2023", "step_s", 2.0, 0.1, 10.0, 0.7),
    _of("nemo-rl", "tail", 0.3, 0.01, 1.0, 0.5),
    _of("verl-fsdp", "tail", 0.1, 0.01, 1.0, 0.7),
    _of("nemo-rl", "step_s", 5.0, 1.0, 20.0, 0.5),
    _of("nemo-rl", "switch_s", 8.0, 1.0, 40.0, 0.5),
    _of("easyr1", "images_s", 37.0, 1.0, 150.0, 0.5),
    Parameter(("rl", "moe_train"), 1.3, 0.7, 5.0, 0.4),
    Parameter(("rl", "generation_train", "Blackwell"), 1.4, 0.7, 4.0, 0.4),
    Parameter(("rl", "generation_train", "CDNA"), 1.0, 0.5, 3.0, 0.3),
    Parameter(("rl", "generation_moe_train", "Blackwell"), 1.0, 0.5, 3.0, 0.2),
    Parameter(("rl", "generation_sample", "Blackwell"), 1.0, 0.5, 3.0, 0.2),
    Parameter(("rl", "generation_sample", "CDNA"), 1.0, 0.5, 3.0, 0.2),
    Parameter(("rl", "exposed_share"), 0.11, 0.01, 1.0, 0.4),
    Parameter(("generation", "rl_factor"), 1.0, 0.6, 2.0, 0.2),
    Parameter(("generation", "rl_moe_factor"), 1.1, 0.7, 3.0, 0.15),
    Parameter(("rl", "narrow_expert"), 30.0, 1.0, 300.0, 0.7),
)
