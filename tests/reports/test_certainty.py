"""How sure a plan is, in sentences."""

from __future__ import annotations

import pytest

from rlopt.answers.plan import Certainty, Plan, WorstCase
from rlopt.reports.layout import to_text
from rlopt.reports.text.plan import headline, plan_report
from tests.reports import plans

SURE = Certainty(confidence=0.9, low_usd=540.0, high_usd=701.5, low_hours=10.0, high_hours=13.0)


def report(**found: float | None) -> str:
    return " ".join(to_text(*plan_report(_plan(**found)), width=200).split())


def _plan(**found: float | None) -> Plan:
    return plans.optimal().model_copy(update={"certainty": SURE.model_copy(update=found)})


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.948, "94.8% of runs meet it"), (0.99999, "more than 99.9% of runs"), (0.0001, "fewer than 0.1% of runs")],
)
def test_runs_that_meet_the_deadline_never_read_as_all_or_none(share: float, said: str) -> None:
    assert said in report(deadline_probability=share)
    assert "meet it" not in report(deadline_probability=None)


def test_bills_between_which_most_runs_lie() -> None:
    assert "9 runs in 10 cost between $540.00 and $701.50" in report()
    assert "spot price" not in report()
    assert "At the lowest and highest spot price" in report(spot_low_usd=500.0, spot_high_usd=800.0)
    assert "make no progress" in report(high_usd=None, high_hours=None)


def test_a_worst_case_says_what_holds_in_it() -> None:
    plan = _plan(deadline_probability=0.97)
    assert plan.time is not None
    late = plan.time.model_copy(update={"expected_hours": 16.5})
    plan = plan.model_copy(
        update={"worst": WorstCase(times=1.5, total_usd=880.0, time=late, checkpoint=plan.decisions.checkpoint)}
    )
    text = " ".join(to_text(*plan_report(plan), width=200).split())
    assert "even if every step takes 1.5 times as long" in headline(plan)
    assert "every step takes 1.5 times what is predicted: the bill is then $880.00 and 16.5 h are expected" in text
    assert "97.0% of runs meet it at the predicted pace" in text
