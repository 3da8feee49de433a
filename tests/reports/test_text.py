"""The plan report: read once by a person, then kept word for word."""

from __future__ import annotations

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.layout import terminal, to_text
from rlopt.reports.text.plan import headline, plan_report, standing
from tests.reports import plans
from tests.reports.golden import check_golden

CASES = {
    "optimal": plans.optimal,
    "feasible": plans.feasible,
    "infeasible": plans.infeasible,
    "nothing_found": plans.nothing_found,
}


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("width", [60, 100])
def test_report_reads_as_kept(name: str, width: int) -> None:
    check_golden(f"{name}_{width}.txt", to_text(*plan_report(CASES[name]()), width=width))


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    lines = to_text(*plan_report(CASES[name]()), width=width).splitlines()
    assert max(len(line) for line in lines) <= width


@pytest.mark.parametrize("name", sorted(CASES))
def test_no_solver_jargon(name: str) -> None:
    text = to_text(*plan_report(CASES[name]())).lower()
    words = set(text.replace(",", " ").replace(".", " ").split())
    assert not words & {
        "mip",
        "milp",
        "gap",
        "bound",
        "dual",
        "relaxation",
        "columns",
        "objective",
        "binary",
        "infeasible",
    }


def test_every_amount_of_the_bill_is_shown() -> None:
    plan = plans.optimal()
    text = to_text(*plan_report(plan), width=200)
    assert plan.cost is not None
    for line in plan.cost.lines:
        assert line.basis in text
        assert f"{line.usd:,.2f}" in text
    assert "612.40" in headline(plan)


def test_headline_says_cost_time_and_deadline() -> None:
    assert headline(plans.optimal()) == (
        "math-7b costs $612.40 and is expected to be done in 17.1 h; "
        "9 runs in 10 are done within 20.3 h, the deadline is 24 h."
    )


def test_only_a_proof_is_called_proven() -> None:
    assert standing(plans.optimal()).startswith("Proven:")
    assert standing(plans.feasible()).startswith("Not proven:")
    assert "5.3%" in standing(plans.feasible())


def test_the_fastest_plan_is_called_the_fastest() -> None:
    plan = plans.optimal()
    fastest = plan.model_copy(update={"solver": plan.solver.model_copy(update={"objective": "time"})})
    assert standing(fastest) == "Proven: no plan that keeps every limit and floor is done sooner."
    plan = plans.feasible()
    stopped = {"objective": "time", "bound_hours": 12.0}
    unproven = plan.model_copy(update={"solver": plan.solver.model_copy(update=stopped)})
    assert standing(unproven).endswith("None is done sooner than in 12 h.")


def test_texts_of_others_are_no_markup() -> None:
    plan: Plan = plans.optimal().model_copy(update={"warnings": ["[bold]set[/bold] [red] :warning:"]})
    assert "[bold]set[/bold] [red] :warning:" in to_text(*plan_report(plan))


def test_changes_that_help_are_shown_cheapest_first() -> None:
    text = to_text(*plan_report(plans.infeasible()))
    assert 0 < text.index("choices.gpus") < text.index("limits.deadline") < text.index("Or these together")


def test_nothing_on_offer_is_said_so() -> None:
    plan = plans.infeasible()
    empty = plan.model_copy(update={"solver": plan.solver.model_copy(update={"candidates": 0}), "relaxations": []})
    text = to_text(*plan_report(empty))
    assert "nothing among the choices can take any part of this job" in text
    assert "no change of a limit or floor was found that helps" in text


def test_no_colour_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal().color_system is not None
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal().no_color


def test_hours_that_are_no_steps_are_named_where_there_are_any() -> None:
    plan = plans.optimal()
    assert plan.time is not None
    plain = to_text(*plan_report(plan), width=200)
    assert "checkpoints" not in plain.split("confident")[0].split("without any failure")[1]
    time = plan.time.model_copy(update={"once_hours": 2.5, "saving_hours": 0.005})
    text = to_text(*plan_report(plan.model_copy(update={"time": time})), width=240)
    assert "24 min before the first step and after the last, 2.5 h once over the data before the first step" in text
    assert "and 18 s standing still for checkpoints" in text
