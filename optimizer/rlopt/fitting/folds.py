"""Errors out of sample: constants fitted without the rows they are then held against."""

from __future__ import annotations

import zlib

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats, Ints
from rlopt.fitting.fit import Study, fit


def fold_of(labels: tuple[str, ...], folds: int) -> Ints:
    """A fold for each row, shape (n,): rows of one label share theirs, and it never changes."""
    order = sorted(set(labels), key=lambda label: (zlib.crc32(label.encode()), label))
    place = {label: number % folds for number, label in enumerate(order)}
    return np.array([place[label] for label in labels], dtype=np.int64)


def out_of_sample(study: Study, calibration: Calibration, by: str = "config", folds: int | None = 5) -> Floats:
    """Predictions of every row from fits that never saw its fold, shape (n,).

    ``by`` names the label that stays together; ``folds`` None leaves one label out at a time.
    """
    labels = study.labels[by]
    count = folds if folds is not None else len(set(labels))
    fold = fold_of(labels, count)
    whole = fit(study, calibration)
    found = np.full(len(labels), np.nan)
    for number in range(count):
        out = fold == number
        if out.any():
            found[out] = study.predict(fit(study, calibration, ~out, whole))[out]
    return found
