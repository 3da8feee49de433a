"""The savings page says what its file says, and its file what the published runs and the examples say."""

from __future__ import annotations

import csv
import io

import pytest

from lab.savings import page as savings_page
from lab.savings import runs as savings
from lab.savings import words as savings_words

AGAIN = (("04-dpo-olmo2-1b-spot-only", "R284"), ("06-ppo-opt13b-budget", "R111"))
"""Rows quick enough to be compared anew each time."""
CLOSE = 0.005


@pytest.fixture(scope="module")
def found() -> list[dict[str, str]]:
    """The lines of the checked-in file."""
    return [dict(line) for line in savings.found_rows()]


def test_the_page_is_what_its_file_says() -> None:
    assert savings.PAGE.read_text(encoding="utf-8") == savings.page(), "run: python -m lab savings"


def test_every_published_run_has_its_line(found: list[dict[str, str]]) -> None:
    wanted = [(row.id, row.text("source_row")) for row in savings.rows()]
    assert [(line["id"], line["row"]) for line in found] == wanted


def test_the_examples_and_runs_have_not_changed_since(found: list[dict[str, str]]) -> None:
    changed = {line["id"] for line in found if line["inputs"] != savings.inputs(line["id"])}
    assert not changed, "run: python -m lab savings"


@pytest.mark.parametrize("key", AGAIN)
def test_lines_compared_anew_are_the_same(found: list[dict[str, str]], key: tuple[str, str]) -> None:
    row = next(row for row in savings.rows() if (row.id, row.text("source_row")) == key)
    (line,) = (line for line in found if (line["id"], line["row"]) == key)
    (again,) = csv.DictReader(io.StringIO(savings.found_csv([row])))
    advice = "run: python -m lab savings"
    for column, cell in again.items():
        if column.endswith(("usd", "hours")) and cell:
            assert float(line[column]) == pytest.approx(float(cell), rel=CLOSE, abs=0.011), "run: python -m lab savings"
        else:
            assert line[column] == cell, advice


def test_every_line_has_a_configuration_or_a_reason(found: list[dict[str, str]]) -> None:
    for line in found:
        assert bool(line["configuration_usd"]) != bool(line["reason"]), line["id"]


def test_no_configuration_beats_the_cheapest_under_its_limits(found: list[dict[str, str]]) -> None:
    for line in found:
        if line["configuration_usd"]:
            assert float(line["unlimited_usd"]) <= float(line["configuration_usd"]) + 0.01, savings_page.name(line)


def test_every_loss_is_on_the_page_with_a_cause(found: list[dict[str, str]]) -> None:
    text = savings.PAGE.read_text(encoding="utf-8")
    losses = text.partition(savings_words.LOSSES)[2].partition(savings_words.OFF)[0]
    for line in found:
        against = savings_page.against_configuration(line), savings_page.against_real(line)
        if any(value is not None and value < 0 for value in against):
            assert f"**{savings_page.name(line)}**" in losses
        if against[0] is not None and against[0] < 0:
            assert line["lifted"] or line["assumed"], "a dearer plan under the same limits is a fault"


def test_real_costs_are_the_published_ones(found: list[dict[str, str]]) -> None:
    """Against the totals that were worked out with the published rows, in their own currency."""
    for row, line in zip(savings.rows(), found, strict=True):
        printed = row.number("cost_at_that_price")
        if printed is not None and line["real_usd"] and row.text("currency") == "USD":
            real = float(line["real_usd"]) / float(line["trials"])
            assert real == pytest.approx(printed, rel=2e-3, abs=0.005), line["id"]  # printed to the cent


def test_every_explanation_is_of_a_row() -> None:
    assert set(savings_words.FAR) <= {(row.id, row.text("source_row")) for row in savings.rows()}


def test_hours_far_off_are_explained() -> None:
    assert "| not understood |" not in savings.page(), "say in lab/savings/words.py what is known"


def test_savings_and_losses_have_their_sign() -> None:
    assert savings_page.saved(50.0, 100.0) == pytest.approx(0.5)
    assert savings_page.saved(150.0, 100.0) == pytest.approx(-0.5)
    assert savings_page.saved(100.1, 100.0) == 0.0
    assert savings_page.saved(None, 100.0) is None
