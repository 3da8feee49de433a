"""A plan under stress, in sentences."""

from __future__ import annotations

from typing import Any

from rlopt.answers.plan import Peak, RightPlan, Stressed
from rlopt.reports.layout import to_text
from rlopt.reports.text.plan import plan_report
from rlopt.reports.text.stress import sentence
from tests.reports import plans

RIGHT = RightPlan(total_usd=880.0, confident_hours=20.0, summary="async: 8 H100-SXM on_demand at aws", same=False)
LATE = Stressed(
    times=1.5,
    total_usd=900.0,
    expected_hours=28.0,
    confident_hours=30.0,
    meets_deadline=False,
    broken=["limits.deadline"],
    right=RIGHT,
    regret_usd=20.0,
)


def said(**found: Any) -> str:
    return sentence(LATE.model_copy(update=found), 0.9)


def test_a_missed_deadline_says_which_plan_is_right_and_how_to_ask_for_it() -> None:
    assert said() == (
        "If every step takes 1.5 times what is predicted, this plan costs $900.00 and 9 runs in 10 are done within "
        "30 h: the deadline is missed. Then the right plan is async: 8 H100-SXM on demand at aws for $880.00, done "
        "within 20 h. To plan for it from the start, set limits.robust: {time: 1.5}."
    )
    assert "it breaks limits.budget" in said(broken=["limits.deadline", "limits.budget"])
    assert "No plan keeps every limit" in said(right=None, regret_usd=None)


def test_a_missed_deadline_says_by_how_much() -> None:
    assert "30 h: the deadline is missed by 6 h. Then" in sentence(LATE, 0.9, 24.0)


def test_what_the_right_plan_saves_where_nothing_is_broken() -> None:
    assert "$20.00 less than this plan costs then" in said(broken=[], meets_deadline=True)
    same = RIGHT.model_copy(update={"same": True})
    assert said(broken=[], meets_deadline=None, right=same).endswith(
        "30 h. It is still the right plan then: nothing is to be changed."
    )
    unproven = RIGHT.model_copy(update={"proven": False})
    assert "the best found in the time given" in said(right=unproven)


def test_a_run_without_progress_and_the_heading() -> None:
    stopped = {"total_usd": None, "expected_hours": None, "confident_hours": None, "regret_usd": None}
    assert "makes no progress between two stops" in said(**stopped, broken=["x"])
    plan = plans.optimal().model_copy(update={"stress": [LATE]})
    assert "Under stress" in to_text(*plan_report(plan), width=100)
    assert "Under stress" not in to_text(*plan_report(plans.optimal()), width=100)


def test_a_heavier_load_that_fits_and_one_that_does_not() -> None:
    base = {**LATE.model_dump(), "broken": [], "meets_deadline": True, "what": "length", "fits": True, "misfit": None}
    peak = Peak.model_validate(base)
    assert sentence(peak, 0.9).startswith("If responses are 1.5 times as long, this plan costs $900.00 and")
    many = peak.model_copy(update={"what": "samples", "broken": ["limits.deadline"]})
    assert sentence(many, 0.9).startswith("If every step has 1.5 times the samples, this plan costs")
    assert "limits.robust" not in sentence(many, 0.9)
    lacks = {"fits": False, "misfit": "pool main needs 84 GiB per GPU of 72", "total_usd": None}
    same = RIGHT.model_copy(update={"same_machines": True})
    text = sentence(peak.model_copy(update={**lacks, "right": same}), 0.9)
    assert (
        "this plan cannot run: pool main needs 84 GiB per GPU of 72. Then the right plan is the same machines with"
        in text
    )
    assert text.endswith("To plan for it from the start, write that load into the request.")
