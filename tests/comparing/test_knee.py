"""The knee: found where it is known, none where there is none, and said in every form of the frontier."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt import api
from rlopt.answers.plan import Frontier, Plan
from rlopt.reports.csv_frontier import frontier_csv
from rlopt.reports.layout import to_text
from rlopt.reports.text.frontier import MARK, frontier_report
from rlopt.studies.knee import knee
from tests.reports import plans
from tests.studies.small import asked


def _curve(points: Sequence[tuple[float, float]]) -> list[Plan]:
    plan = plans.optimal()
    assert plan.time is not None
    assert plan.cost is not None
    return [
        plan.model_copy(
            update={
                "time": plan.time.model_copy(update={"confident_hours": hours}),
                "cost": plan.cost.model_copy(update={"total_usd": usd}),
            }
        )
        for hours, usd in points
    ]


L_SHAPE = [(1.0, 1000.0), (2.0, 400.0), (4.0, 130.0), (8.0, 120.0), (16.0, 110.0), (32.0, 100.0)]


def test_the_corner_of_an_l_is_its_knee() -> None:
    assert knee(_curve(L_SHAPE)) == 2


def test_by_hand_on_three_points() -> None:
    """ln 10 of ln 100 hours leaves x = 1/2, ln 2 of ln 4 dollars y = 1/2: on the chord; a cent below it is a knee."""
    assert knee(_curve([(1.0, 400.0), (10.0, 200.0), (100.0, 100.0)])) is None
    assert knee(_curve([(1.0, 400.0), (10.0, 199.99), (100.0, 100.0)])) == 1
    assert knee(_curve([(1.0, 400.0), (10.0, 200.01), (100.0, 100.0)])) is None


@pytest.mark.parametrize("points", [0, 1, 2])
def test_fewer_than_three_points_have_none(points: int) -> None:
    assert knee(_curve(L_SHAPE[:points])) is None


def test_plans_without_a_bill_are_passed_over_and_flat_curves_have_none() -> None:
    assert knee([plans.infeasible(), *_curve(L_SHAPE)]) == 3
    assert knee(_curve([(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)])) is None
    assert knee(_curve([(2.0, 7.0), (2.0, 6.0), (2.0, 5.0)])) is None


@given(
    steps=st.lists(st.tuples(st.floats(1.01, 4.0), st.floats(1.01, 4.0)), min_size=2, max_size=8),
    hour=st.floats(0.01, 100.0),
    dollar=st.floats(0.01, 100.0),
)
def test_the_unit_of_hours_and_money_does_not_matter(
    steps: list[tuple[float, float]], hour: float, dollar: float
) -> None:
    hours = np.cumprod([1.0, *(step[0] for step in steps)])
    usd = 1e6 / np.cumprod([1.0, *(step[1] for step in steps)])
    found = knee(_curve(list(zip(hours.tolist(), usd.tolist(), strict=True))))
    assert found is None or 0 < found < len(hours) - 1
    x, y = np.log(hours) / np.log(hours[-1]), np.log(usd / usd[-1]) / np.log(usd[0] / usd[-1])
    below = np.sort(1.0 - x - y)
    if below[-1] - below[-2] > 1e-6:
        scaled = [(float(h * hour), float(c * dollar)) for h, c in zip(hours, usd, strict=True)]
        assert knee(_curve(scaled)) == found


def test_text_and_csv_mark_it() -> None:
    curve = Frontier(points=_curve(L_SHAPE), knee=2)
    text = to_text(*frontier_report(curve), width=120)
    marked = [line for line in text.splitlines() if f"h {MARK}" in line]
    assert len(marked) == 1
    assert "$130.00" in marked[0]
    assert "$135.00 more for each hour that it saves, this one $2.50 against the next slower" in " ".join(text.split())
    rows = list(csv.DictReader(io.StringIO(frontier_csv(curve))))
    assert [row["knee"] for row in rows] == ["", "", "yes", "", "", ""]
    plain = curve.model_copy(update={"knee": None})
    assert MARK not in to_text(*frontier_report(plain), width=120)


def test_a_real_frontier_carries_it() -> None:
    curve = api.frontier(asked("grpo", limits={"max_gpus": 16}), points=6)
    assert len(curve.points) >= 3
    assert curve.knee == knee(curve.points)
    assert curve.document()["knee"] == curve.knee


def test_plans_that_would_read_as_equally_fast_are_told_to_the_second() -> None:
    def text(*hours: float) -> str:
        points = _curve([(each, 500.0 - each) for each in hours])
        return to_text(*frontier_report(Frontier(points=points)), width=120)

    assert "3:03:36 h" in text(3.06, 3.07)
    assert "3:04:12 h" in text(3.06, 3.07)
    assert "3.1 h" in text(3.1, 4.0)
