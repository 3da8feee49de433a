"""The frontier as text and as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from rlopt.answers.plan import Frontier, FrontierPoint, Plan, WorstCase
from rlopt.reports.csv_frontier import COLUMNS, DIMENSIONS, frontier_csv
from rlopt.reports.layout import to_text
from rlopt.reports.text.frontier import frontier_report
from rlopt.reports.text.plan import plan_report
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


def robust() -> Frontier:
    """The frontier of a request whose limits hold even if every step takes 1.5 times as long."""
    found = plans.frontier()
    points = []
    for plan in found.points:
        assert plan.time is not None
        assert plan.decisions is not None
        worst = WorstCase(times=1.5, total_usd=999.0, time=plan.time, checkpoint=plan.decisions.checkpoint)
        points.append(plan.model_copy(update={"worst": worst}))
    return found.model_copy(update={"points": points})


def test_hours_that_include_a_worst_case_say_so_in_every_form() -> None:
    text = " ".join(to_text(*frontier_report(robust()), width=100).split())
    assert "done by then even if every step takes 1.5 times what is predicted" in text
    assert "expected hours and bills are those of the predicted pace" in text
    rows = list(csv.DictReader(io.StringIO(frontier_csv(robust()))))
    assert tuple(rows[0]) == (*COLUMNS, "confident_hours_at_times")
    assert {row["confident_hours_at_times"] for row in rows} == {"1.5"}
    assert {point["worst"]["times"] for point in robust().document()["points"]} == {1.5}
    plan = (
        robust()
        .points[0]
        .model_copy(
            update={"frontier": [FrontierPoint(confident_hours=20.0, total_usd=700.0, summary="8 L4 spot at aws")]}
        )
    )
    assert "steps 1.5 times as long" in " ".join(to_text(*plan_report(plan), width=100).split())


def test_csv_of_nothing_is_a_header() -> None:
    assert frontier_csv(Frontier(points=[])) == ",".join(COLUMNS) + "\n"


def test_csv_tells_the_deadline_and_what_most_runs_lie_between() -> None:
    sure = {"confidence": 0.9, "low_usd": 540.0, "high_usd": 800.0, "low_hours": 13.0, "high_hours": 22.0}
    plan = Plan.model_validate({**plans.optimal().document(), "certainty": sure | {"deadline_probability": 0.948}})
    (row,) = csv.DictReader(io.StringIO(frontier_csv(Frontier(points=[plan]))))
    told = ("deadline_hours", "deadline_probability", "low_usd", "high_usd", "low_hours", "high_hours")
    assert [row[name] for name in told] == ["24.0", "0.948", "540.0", "800.0", "13.0", "22.0"]
