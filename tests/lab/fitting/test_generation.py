"""The study of generation: what it sees, what it moves, and that the shipped constants are its answer."""

from __future__ import annotations

import numpy as np
import pytest

from lab.fitting.generation import measured_rows, study
from lab.fitting.published import dropped
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting.fit import Study, log_errors

CAL = load_catalog().calibration


@pytest.fixture(scope="module")
def generation() -> Study:
    return study(load_catalog(), CAL)


def test_dropped_rows_exist_and_are_few() -> None:
    ids = {row.id for row in measured_rows()}
    assert dropped("generation") <= ids
    assert len(dropped("generation")) < 0.02 * len(ids)


def test_every_constant_lies_within_its_bounds(generation: Study) -> None:
    for parameter in generation.parameters:
        assert parameter.low <= CAL.at(parameter.path) <= parameter.high, parameter.path


def test_a_constant_without_rows_stays_near_its_centre(generation: Study) -> None:
    for parameter in generation.parameters:
        if not generation.touches[parameter.path].any():
            centre = CAL.at(parameter.toward) if parameter.toward else parameter.start
            away = abs(np.log(CAL.at(parameter.path) / centre))  # the search ends within a part of a wide prior
            assert away <= 0.5 * (parameter.prior_sd or 0.0), parameter.path


def test_constants_touch_only_the_rows_they_claim(generation: Study) -> None:
    base = log_errors(generation, CAL)
    for parameter in generation.parameters[::29]:
        moved = log_errors(generation, CAL.replaced({parameter.path: CAL.at(parameter.path) * 1.01}))
        assert not np.any((moved != base) & ~generation.touches[parameter.path]), parameter.path


def test_residuals_are_small_and_centred(generation: Study) -> None:
    error = log_errors(generation, CAL)
    assert abs(np.median(error)) < 0.03
    assert np.median(np.abs(error)) < 0.085
    assert np.quantile(np.abs(error), 0.9) < 0.30
