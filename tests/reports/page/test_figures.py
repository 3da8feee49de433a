"""Charts: what the plotting library itself accepts, and numbers that are the plan's."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.page.choice import choices
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.bill import bill_figure
from rlopt.reports.page.figures.frontier import frontier_figure
from rlopt.reports.page.figures.hours import when_figure
from rlopt.reports.page.figures.memory import memory_figure
from rlopt.reports.page.figures.step import step_figure
from tests.reports import plans
from tests.reports.rich_plans import acting, mixed

CERTAIN = {
    "confidence": 0.9, "low_usd": 500.0, "high_usd": 800.0, "low_hours": 13.0, "high_hours": 22.0,
    "deadline_probability": 0.95,
}  # fmt: skip


def certain() -> Plan:
    return Plan.model_validate({**plans.optimal().document(), "certainty": CERTAIN})


def all_figures(plan: Plan) -> dict[str, Figure | None]:
    assert plan.cost is not None
    return {
        "bill": bill_figure(plan.cost),
        "memory": memory_figure(plan.pools),
        "step": step_figure(plan),
        "when": when_figure(plan),
        "frontier": frontier_figure(choices(plan, [plans.faster(), plan], 1)),
    }


@pytest.mark.parametrize("plan", [certain, mixed, acting, plans.feasible])
def test_the_library_accepts_every_chart(plan: Any) -> None:
    from plotly.graph_objects import Figure as Checked

    for figure in all_figures(plan()).values():
        if figure is not None:
            Checked(figure)


def test_bars_of_the_bill_add_up_to_it() -> None:
    cost = plans.optimal().cost
    assert cost is not None
    (bars,) = bill_figure(cost)["data"]
    assert sum(bars["x"]) == pytest.approx(cost.total_usd)
    assert bars["x"] == sorted(bars["x"], reverse=True)


def test_small_lines_are_one_bar() -> None:
    cost = plans.optimal().cost
    assert cost is not None
    small = [line.model_copy(update={"usd": 0.1, "item": f"small {number}"}) for number, line in enumerate(cost.lines)]
    figure = bill_figure(cost.model_copy(update={"lines": [*cost.lines, *small]}))
    assert figure["data"][0]["x"][-1] == pytest.approx(0.5)
    assert "5 smaller lines together" in figure["layout"]["annotations"][-1]["text"]


def test_parts_of_memory_add_up_to_what_is_needed() -> None:
    plan = plans.optimal()
    figure = memory_figure(plan.pools)
    assert figure is not None
    parts = [trace for trace in figure["data"] if trace["type"] == "bar"]
    capacity = next(trace for trace in figure["data"] if trace["type"] == "scatter")
    memory = plan.pools[0].memory
    assert memory is not None
    assert sum(trace["x"][0] for trace in parts) == pytest.approx(memory.needed_gib)
    assert capacity["x"] == [memory.capacity_gib]


def test_every_stage_has_its_bar_of_memory() -> None:
    plan = plans.optimal().document()
    stages = {"forward reference": {"weights": 14.2}, "update policy": {"weights": 14.2, "logits": 6.25}}
    pool = plan["pools"][0] | {"memory": plan["pools"][0]["memory"] | {"stages": stages}}
    figure = memory_figure(Plan.model_validate({**plan, "pools": [pool]}).pools)
    assert figure is not None
    texts = [one["text"] for one in figure["layout"]["annotations"]]
    assert [text.partition("   ")[0] for text in texts] == [
        "main · training the policy",
        "main · scoring with the reference",
    ]


def test_pools_without_memory_have_no_chart_of_it() -> None:
    assert memory_figure(plans.optimal().pools[1:]) is None


def test_points_carry_the_number_of_their_plan() -> None:
    plan = plans.optimal()
    figure = frontier_figure(choices(plan, [plans.faster(), plan], 1))
    _, on, beside, ring = figure["data"]
    assert on["customdata"] == [1, 0]
    assert on["y"] == [700.0, 612.4]
    assert beside["customdata"] == []
    assert (ring["x"], ring["y"]) == ([20.3], [612.4])


def test_other_machines_stand_beside_the_frontier() -> None:
    plan = plans.optimal()
    other = plans.faster()
    figure = frontier_figure(choices(plan.model_copy(update={"alternatives": [other]})))
    assert figure["data"][1]["customdata"] == [0]
    assert figure["data"][2]["customdata"] == [1]


def test_hours_between_which_most_runs_lie() -> None:
    figure = when_figure(certain())
    assert figure is not None
    assert figure["data"][0]["x"] == [13.0, 22.0]
    assert [trace["x"] for trace in figure["data"][1:]] == [[17.12], [20.3], [24.0, 24.0]]
    assert when_figure(plans.optimal()) is None


def test_texts_are_no_markup() -> None:
    plan = plans.optimal().document()
    hostile = plan["pools"][0] | {"name": "<a href='https://example.org'>x</a>"}
    stages = [one | {"pool": hostile["name"]} for one in plan["time"]["stages"]]
    changed = Plan.model_validate({**plan, "pools": [hostile], "time": plan["time"] | {"stages": stages}})
    for figure in (memory_figure(changed.pools), step_figure(changed)):
        assert figure is not None
        assert "<a" not in str(figure["layout"])
