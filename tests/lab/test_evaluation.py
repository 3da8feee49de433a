"""The evaluation page says what its file says, and its file what `rlopt evaluate` says of the published runs."""

from __future__ import annotations

import csv
import io

import pytest

from lab.evaluation import page as evaluation_page
from lab.evaluation import runs as evaluation
from lab.savings import runs as savings

AGAIN = (
    ("06-ppo-opt13b-budget", "R111"),
    ("07-grpo-llama3.1-8b-quota", "R012"),
    ("11-grpo-qwen2.5-math-7b-cny", "R068"),
)
"""Rows that are evaluated anew each time: one pool, two pools, a price in another currency."""
ADVICE = "run: python -m lab evaluation"


@pytest.fixture(scope="module")
def found() -> list[dict[str, str]]:
    """The lines of the checked-in file."""
    return [dict(line) for line in evaluation.found_rows()]


def test_the_page_is_what_its_file_says() -> None:
    assert evaluation.PAGE.read_text(encoding="utf-8") == evaluation.page(), ADVICE


def test_every_published_run_has_its_line_and_an_answer_or_a_reason(found: list[dict[str, str]]) -> None:
    assert [(line["id"], line["row"]) for line in found] == [(row.id, row.text("source_row")) for row in savings.rows()]
    for line in found:
        assert (line["fits"] == "yes") == bool(line["hours"] and line["usd"])
        assert line["fits"] == "yes" or line["reason"], line["id"]


def test_the_examples_and_runs_have_not_changed_since(found: list[dict[str, str]]) -> None:
    assert not {line["id"] for line in found if line["inputs"] != savings.inputs(line["id"])}, ADVICE


@pytest.mark.parametrize("key", AGAIN)
def test_lines_evaluated_anew_are_the_same(found: list[dict[str, str]], key: tuple[str, str]) -> None:
    row = next(row for row in savings.rows() if (row.id, row.text("source_row")) == key)
    (line,) = (line for line in found if (line["id"], line["row"]) == key)
    (again,) = csv.DictReader(io.StringIO(evaluation.found_csv([row])))
    for column, cell in again.items():
        if column in ("usd", "hours", "needed_gib"):
            assert float(line[column]) == pytest.approx(float(cell), rel=0.005, abs=0.06), ADVICE
        else:
            assert line[column] == cell, ADVICE


def test_runs_that_were_carried_out_fit(found: list[dict[str, str]]) -> None:
    assert {evaluation_page.fits(line) for line in found if line["fits"]} <= {"yes", "not known"}


def test_hours_far_off_are_explained() -> None:
    assert "| not understood |" not in evaluation.page(), "say in lab/savings/words.py what is known"


def test_a_ratio_is_of_the_same_job_alone() -> None:
    line = {"hours": "2", "published_hours": "4", "match": "same job"}
    assert evaluation_page.ratio(line) == 0.5
    assert not evaluation_page.far(line)
    assert evaluation_page.far(line | {"hours": "1.9"})
    assert evaluation_page.ratio(line | {"match": "similar"}) is None
