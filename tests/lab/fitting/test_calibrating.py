"""Fits, folds and the files they write."""

from __future__ import annotations

import numpy as np
import pytest

from lab.fitting.constants_file import with_constants, with_tables
from lab.fitting.folds import fold_of, out_of_sample
from lab.fitting.published import source_weights
from rlopt.estimates import Calibration
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting import Parameter, Study, fit
from rlopt.measured.outcome import RowOutcome, band_factor, with_band

CAL = load_catalog().calibration
PATH = ("training", "half_width")
X = np.linspace(1.0, 40.0, 40)


def study(measured: np.ndarray, sd: float | None = None, start: float = 100.0) -> Study:
    """Values that are a constant times x, as a study of that constant."""
    labels = {"config": tuple(f"run {i % 10}" for i in range(len(X))), "source": ("page",) * len(X)}

    def predict(calibration: Calibration) -> np.ndarray:
        return calibration.at(PATH) * X

    ids = tuple(str(i) for i in range(len(X)))
    parameter = Parameter(PATH, start, 1.0, 1000.0, sd)
    return Study("training", ids, measured, labels, np.ones(len(X)), (parameter,), predict)


def test_a_fit_finds_what_made_the_numbers() -> None:
    assert fit(study(250.0 * X), CAL).at(PATH) == pytest.approx(250.0, rel=1e-3)


def test_wild_rows_hardly_move_a_robust_fit() -> None:
    measured = 250.0 * X
    measured[:4] *= 50.0
    assert fit(study(measured), CAL).at(PATH) == pytest.approx(250.0, rel=0.06)


def test_a_prior_holds_what_rows_do_not_tell_and_bounds_hold_everything() -> None:
    loose, tight = (fit(study(250.0 * X, sd), CAL).at(PATH) for sd in (10.0, 0.001))
    assert tight < 0.9 * loose
    assert fit(study(1800.0 * X), CAL).at(PATH) == pytest.approx(1000.0, rel=1e-3)


def test_a_fit_starts_from_its_own_values_and_not_from_the_files() -> None:
    moved = CAL.replaced({PATH: 900.0})
    assert fit(study(250.0 * X), CAL).at(PATH) == fit(study(250.0 * X), moved).at(PATH)


def test_rows_of_one_configuration_share_their_fold() -> None:
    labels = tuple(f"run {i % 7}" for i in range(70))
    folds = fold_of(labels, 5)
    assert set(folds) == set(range(5))
    assert len({(label, fold) for label, fold in zip(labels, folds, strict=True)}) == 7
    assert list(folds) == list(fold_of(labels, 5))


@pytest.mark.parametrize("workers", [1, 2])
def test_predictions_out_of_sample_never_saw_their_rows(workers: int) -> None:
    """A run measured ten times too slow is not explained by itself."""
    measured = 250.0 * X
    odd = np.array([i % 10 == 3 for i in range(len(X))])
    measured[odd] *= 10.0
    found = out_of_sample(study(measured), CAL, "config", None, workers=workers)
    assert np.isfinite(found).all()
    assert found[odd] == pytest.approx(250.0 * X[odd], rel=0.01)


def test_large_sources_do_not_decide_alone() -> None:
    weights = source_weights(["a"] * 100 + ["b"] * 4)
    assert weights[0] / weights[-1] == pytest.approx(0.2)
    assert weights.mean() == pytest.approx(1.0)


def test_numbers_change_and_comments_stay() -> None:
    text = 'as_of: "2026-11-30"\nhalf: 3.0   # T why\ntable: {a: 1.0, b: 2.0}   # T both\n'
    found = with_constants(text, {("half",): 4.123456, ("table", "b"): 0.5})
    assert "half: 4.123" in found
    assert "# T why" in found
    assert "{a: 1.0, b: 0.5}" in found
    assert with_constants(found, {("half",): 4.123456, ("table", "b"): 0.5}) == found
    bands = with_tables("training:   # rows\n  dense: {known: 1.0}\n", {"training": {"dense": {"known": 0.123456}}})
    assert bands == "training:   # rows\n  dense: {known: 0.1235}\n"


def test_every_number_predicted_gets_a_band_and_a_verdict_none() -> None:
    labels = {"device": "H100-SXM", "engine": "-", "architecture": "dense"}
    found = with_band(RowOutcome(10.0, labels=labels), "training", CAL)
    assert found.low is not None
    assert found.high is not None
    assert found.low * found.high == pytest.approx(100.0)
    assert with_band(RowOutcome("fits", labels=labels), "memory", CAL).low is None
    strange = band_factor("training", labels | {"device": "a new card"}, CAL)
    assert strange >= band_factor("training", labels | {"device": ""}, CAL)
