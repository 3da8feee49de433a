"""Engineer hours against compute: every figure from the bills of requests that are solved apart."""

from __future__ import annotations

import math

import pytest

from rlopt import api
from rlopt.answers.explanation import Engineering, Explanation
from rlopt.answers.plan import Plan
from rlopt.reports.text.explain import engineering
from rlopt.request import Request
from tests.studies.small import asked

HOURS = {"colocated": 8, "disaggregated": 12, "async": 16}
TRIALS = 3


def _request(price: float) -> Request:
    choices = {"placements": list(HOURS), "providers": ["runpod"], "regions": "any", "gpus": ["L40S"]}
    costs = {"engineer_hour": f"{price} USD", "setup_hours": HOURS}
    job = {"trials": TRIALS, "response_tokens": {"mean": 800, "max": 3000}}
    return asked("grpo", job=job, choices=choices, costs=costs)


def _compute(request: Request, placement: str) -> float:
    plan = api.solve(request.replaced("choices.placements", (placement,)), short_frontier=False)
    assert plan.cost is not None
    return sum(line.usd for line in plan.cost.lines if line.dimension == "compute") / TRIALS


def _explained(request: Request) -> tuple[Explanation, dict[str, Engineering]]:
    found = api.explain(request)
    return found, {one.placement: one for one in found.engineering}


def _placement(plan: Plan) -> str:
    assert plan.decisions is not None
    return plan.decisions.placement


@pytest.mark.parametrize(("price", "chosen"), [(0.01, "async"), (90.0, "colocated")])
def test_savings_are_those_of_two_bills(price: float, chosen: str) -> None:
    request = _request(price)
    found, others = _explained(request)
    assert _placement(found.plan) == chosen
    assert list(others) == ["disaggregated", "async"]
    for name, one in others.items():
        saved = _compute(request, "colocated") - _compute(request, name)
        assert one.simplest == "colocated"
        assert one.chosen == (name == chosen)
        assert one.saved_usd_per_run == pytest.approx(saved, abs=0.01)
        assert one.more_hours == HOURS[name] - HOURS["colocated"]
        assert one.more_usd == pytest.approx(one.more_hours * price)
        assert one.pays_after_runs == (math.ceil(one.more_usd / saved) if saved > 0.01 else None)
    assert others["async"].pays_after_runs is not None


def test_the_simplest_is_one_that_has_a_plan() -> None:
    """Only apart: in step is then the simplest."""
    request = _request(90.0).replaced("choices.placements", ("disaggregated", "async"))
    _, others = _explained(request)
    assert {name: one.simplest for name, one in others.items()} == {"async": "disaggregated"}


def test_without_a_price_or_a_choice_nothing_is_said() -> None:
    free = _request(0.0)
    assert not api.explain(free).engineering
    assert not api.explain(_request(90.0).replaced("choices.placements", ("async",))).engineering


@pytest.mark.parametrize(
    ("saved", "hours", "runs", "said"),
    [
        (12.3, 8.0, 59, "async saves $12.30 of compute a run against colocated and takes 8 more engineer hours"),
        (12.3, 0.0, 0, "takes as many engineer hours: it pays at once"),
        (-3.0, 8.0, None, "async saves no compute against colocated"),
        (12.3, -2.0, 0, "takes 2 fewer engineer hours ($180.00 once): it pays at once"),
    ],
)
def test_a_sentence_says_when_it_pays(saved: float, hours: float, runs: int | None, said: str) -> None:
    one = Engineering(
        placement="async",
        simplest="colocated",
        chosen=False,
        saved_usd_per_run=saved,
        more_hours=hours,
        more_usd=hours * 90.0,
        pays_after_runs=runs,
    )
    assert said in engineering(one)
