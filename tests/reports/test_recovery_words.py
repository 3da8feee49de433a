"""What the report says of waits, pilots, collapses and lost machines."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.layout import to_text
from rlopt.reports.text.plan import plan_report
from tests.reports import plans


def told(time: dict[str, Any] | None = None, recovery: dict[str, Any] | None = None) -> str:
    """The report of a plan with other hours and decisions, on one line."""
    plan = plans.optimal()
    assert plan.time is not None
    assert plan.decisions is not None
    changed = {
        "time": plan.time.model_copy(update=time or {}),
        "decisions": plan.decisions.model_copy(update={"recovery": recovery}),
    }
    found: Plan = plan.model_copy(update=changed)
    return " ".join(to_text(*plan_report(found), width=200).split())


@pytest.mark.parametrize(
    ("counts", "where"), [(True, "part of the confident hours"), (False, "not part of the hours above")]
)
def test_the_wait_for_machines_is_told_with_what_it_counts_for(counts: bool, where: str) -> None:
    assert f"wait 3 h for the last of the machines, {where}" in told({"waiting_hours": 3.0, "waiting_counts": counts})


def test_pilots_and_collapses_are_told_in_hours() -> None:
    text = told({"pilot_hours": 5.4, "divergence_hours": 0.5})
    assert "pilots 5.4 h of the confident hours, before the run" in text
    assert "collapses of the training take 30 min of the expected hours" in text


@pytest.mark.parametrize(
    ("spares", "every", "elastic", "text"),
    [
        (0, None, False, "no spare node; any lost machine stops the run"),
        (1, None, False, "1 spare node ready; any lost machine stops the run"),
        (2, 512, True, "2 spare nodes ready; rollout machines come and go without a stop; "
         "unfinished responses copied every 512 tokens"),
    ],
)  # fmt: skip
def test_lost_machines_are_told(spares: int, every: int | None, elastic: bool, text: str) -> None:
    made = {"spare_nodes": spares, "rollouts_every": every, "elastic": elastic}
    assert f"lost machines {text}" in told(recovery=made)


def test_a_plan_that_was_asked_nothing_says_nothing() -> None:
    text = told()
    assert all(word not in text for word in ("lost machines", "pilots", "collapses", "for the last of the machines"))
