"""The study of memory: what it sees, what it moves, and that its margins cover what they say."""

from __future__ import annotations

import numpy as np
import pytest

from lab.fitting.memory import measured_rows, study, touches
from lab.fitting.memory_margin import OWN_STATES, family, margins
from lab.fitting.published import published
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting.fit import Study, log_errors
from rlopt.measured.memory.cases import cases

CAL, CATALOG = load_catalog().calibration, load_catalog()


@pytest.fixture(scope="module")
def memory() -> Study:
    return study(CATALOG, CAL)


def test_dropped_rows_exist_and_have_a_reason() -> None:
    dropped = published("dropped_memory.csv")
    assert {row.id for row in dropped}.isdisjoint(row.id for row in measured_rows())
    assert all(row.text("reason") for row in dropped)


def test_every_constant_lies_within_its_bounds(memory: Study) -> None:
    for parameter in memory.parameters:
        assert parameter.low <= CAL.at(parameter.path) <= parameter.high, parameter.path


def test_a_constant_touches_only_the_rows_it_is_said_to(memory: Study) -> None:
    before = memory.predict(CAL)
    for path, rows in touches(CAL, memory.labels["engine"]).items():
        after = memory.predict(CAL.replaced({path: CAL.at(path) * 1.1}))
        assert np.array_equal(before[~rows], after[~rows]), path


def test_no_source_is_far_off_as_a_whole(memory: Study) -> None:
    error = log_errors(memory, CAL)
    for source in set(memory.labels["source"]):
        here = np.array([name == source for name in memory.labels["source"]])
        if here.sum() >= 10:
            assert abs(np.median(error[here])) < 0.2, source


def test_margins_cover_what_they_say(memory: Study) -> None:
    found = cases(measured_rows(), CATALOG, CAL)
    made = margins(memory, found, memory.predict(CAL), CAL)
    assert all(0.0 < value <= 0.6 for value in made.values())
    assert set(OWN_STATES) <= set(CAL.engines)
    assert family("bridge-25", CAL) == "megatron"
    assert memory.limit is not None
    above = memory.measured > memory.limit(CAL.replaced(made))
    assert above.mean() < 0.05
