"""Errors out of sample: constants fitted without the rows they are then held against."""

from __future__ import annotations

import multiprocessing
import zlib
from dataclasses import dataclass

import numpy as np

from rlopt.estimates import Calibration
from rlopt.estimates.codes import Floats, Ints
from rlopt.fitting.fit import Study, fit


def fold_of(labels: tuple[str, ...], folds: int) -> Ints:
    """A fold for each row, shape (n,): rows of one label share theirs, and it never changes."""
    order = sorted(set(labels), key=lambda label: (zlib.crc32(label.encode()), label))
    place = {label: number % folds for number, label in enumerate(order)}
    return np.array([place[label] for label in labels], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Work:
    """What every fit of one scheme shares; a forked worker inherits it."""

    study: Study
    calibration: Calibration
    whole: Calibration
    fold: Ints

    def predicted(self, number: int) -> Floats:
        """Predictions of the rows of a fold from a fit without them."""
        out = self.fold == number
        return np.asarray(self.study.predict(fit(self.study, self.calibration, ~out, self.whole))[out])


_work: _Work | None = None


def _of_fold(number: int) -> Floats:
    assert _work is not None
    return _work.predicted(number)


def out_of_sample(
    study: Study,
    calibration: Calibration,
    by: str = "config",
    folds: int | None = 5,
    whole: Calibration | None = None,
    workers: int = 1,
) -> Floats:
    """Predictions of every row from fits that never saw its fold, shape (n,).

    ``by`` names the label that stays together; ``folds`` None leaves one label out at a time. ``whole`` is the fit on
    all rows, where it is known already. ``workers`` processes share the folds where the system can fork.
    """
    global _work
    labels = study.labels[by]
    count = min(folds or len(set(labels)), len(set(labels)))
    fold = fold_of(labels, count)
    _work = _Work(study, calibration, whole or fit(study, calibration), fold)
    if workers > 1 and "fork" in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            parts = pool.map(_of_fold, range(count), chunksize=1)
    else:
        parts = [_of_fold(number) for number in range(count)]
    found = np.full(len(labels), np.nan)
    for number, part in enumerate(parts):
        found[fold == number] = part
    return found
