"""The frontier as text and as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from rlopt.plan import Frontier
from rlopt.reports.console import to_text
from rlopt.reports.csv_frontier import COLUMNS, DIMENSIONS, frontier_csv
from rlopt.reports.frontier_text import frontier_report
from tests.reports import plans
from tests.reports.golden import check_golden


@pytest.mark.parametrize("width", [60, 100])
def test_table_reads_as_kept(width: int) -> None:
    check_golden(f"frontier_{width}.txt", to_text(*frontier_report(plans.frontier()), width=width))


def test_empty_frontier_says_what_to_do() -> None:
    assert "rlopt solve says what would help" in to_text(*frontier_report(Frontier(points=[])))


def test_csv_has_one_row_per_plan_and_dimensions_add_up() -> None:
    rows = list(csv.DictReader(io.StringIO(frontier_csv(plans.frontier()))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["status"] for row in rows] == ["feasible", "optimal"]
    for row in rows:
        parts = sum(float(row[f"{dimension}_usd"]) for dimension in DIMENSIONS)
        assert parts == pytest.approx(float(row["total_usd"]))
    assert rows[0]["group_size"] == ""
    assert rows[1]["gpus"] == "8"


def test_csv_of_nothing_is_a_header() -> None:
    assert frontier_csv(Frontier(points=[])) == ",".join(COLUMNS) + "\n"
