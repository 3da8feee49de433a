"""The error family: texts and exit codes."""

from __future__ import annotations

import pickle

import pytest

from rlopt.errors import (
    Complaint,
    InfeasibleError,
    InputError,
    MissingFactError,
    NotSupportedError,
    RloptError,
    SolverError,
)
from rlopt.request import Limits

ERRORS = (
    InputError.of("limits.deadline", "24 has no unit", file="f.yaml", line=3, allowed="h", fix="write 24h"),
    InfeasibleError("nothing fits", ["a change"]),
    MissingFactError("model x", "memory", "add it"),
    NotSupportedError("job.algorithm", "not in this release"),
    SolverError("it failed"),
)


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ERRORS[0], 2, "f.yaml:3: limits.deadline: 24 has no unit\n  allowed: h\n  fix: write 24h"),
        (ERRORS[1], 3, "nothing fits"),
        (ERRORS[2], 2, "the catalogs lack model x, needed for memory\n  fix: add it"),
        (ERRORS[3], 2, "job.algorithm: not in this release"),
        (ERRORS[4], 1, "it failed"),
    ],
)
def test_text_and_exit_code(error: RloptError, code: int, text: str) -> None:
    assert isinstance(error, RloptError)
    assert error.exit_code == code
    assert str(error) == text


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_inside_a_sentence_each_is_one_line_without_a_stop(error: RloptError) -> None:
    said = error.sentence()
    assert said
    assert said == " ".join(said.split())
    assert not said.endswith(".")


def test_a_missing_fact_inside_a_sentence_keeps_what_to_do() -> None:
    assert ERRORS[2].sentence() == "the catalogs lack model x, needed for memory (add it)"
    assert MissingFactError("a price", "y", "give\n  costs.x.").sentence().endswith("(give costs.x)")
    assert MissingFactError("a price", "y").sentence() == "the catalogs lack a price, needed for y"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_travel_between_processes(error: RloptError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)


def test_a_complaint_without_place_or_fix_is_one_line() -> None:
    assert str(Complaint(None, None, "", "is empty")) == "is empty"
    assert str(Complaint("f", None, "a.b", "is empty")) == "f: a.b: is empty"


def test_relaxations_stay_with_the_error() -> None:
    assert ERRORS[1].relaxations == ("a change",)


def test_records_are_frozen_and_closed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Limits().deadline = 3.0
    with pytest.raises(ValueError, match="dedline"):
        Limits.model_validate({"dedline": 3.0})
    assert Limits.model_fields["max_gpus"].description == "GPUs of all pools together."
