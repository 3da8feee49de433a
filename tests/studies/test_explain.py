"""Explanations of real requests: every figure is the difference of two answers of `rlopt solve`."""

from __future__ import annotations

import math

import pytest

from rlopt import api
from rlopt.answers.explanation import Explanation, Rival
from rlopt.answers.plan import Relaxation
from rlopt.request import Request
from rlopt.studies.explain.unfit import UNKNOWN_HOST_MEMORY
from rlopt.units import Money
from tests.examples import runs
from tests.studies.small import asked

OPEN = {"pricing": ["on_demand", "spot"], "placements": ["colocated", "disaggregated"], "providers": ["gcp", "lambda"]}


def _request(deadline: str = "40h", **limits: object) -> Request:
    choices = {**OPEN, "regions": "any"}
    return asked("grpo", choices=choices, limits={"deadline": deadline, "max_gpus": 16, **limits})


def _usd(request: Request) -> float:
    plan = api.solve(request, short_frontier=False)
    return math.inf if plan.cost is None else plan.cost.total_usd


def _of(found: Explanation, axis: str) -> dict[str, Rival]:
    return {rival.value: rival for rival in found.rivals if rival.axis == axis}


def _narrowed(request: Request, rival: Rival) -> Request:
    key = {"gpu": "gpus", "provider": "providers", "placement": "placements", "pricing": "pricing"}[rival.axis]
    return request.replaced(f"choices.{key}", (rival.value,))


def test_rivals_are_the_plans_of_narrowed_requests() -> None:
    request = _request()
    found = api.explain(request)
    assert found.complete
    assert {rival.axis for rival in found.rivals} == {"gpu", "provider", "placement", "pricing"}
    best = found.plan.cost.total_usd if found.plan.cost else math.nan
    for rival in found.rivals:
        assert rival.verdict == "dearer", rival
        assert rival.total_usd == pytest.approx(_usd(_narrowed(request, rival)), rel=1e-9), rival
        assert sum(rival.by_dimension.values()) == pytest.approx((rival.total_usd or 0.0) - best, abs=0.05)
        assert rival.machines


def test_a_rival_that_is_late_says_by_how_much() -> None:
    easy = api.explain(_request())
    slow = max((one for one in easy.rivals if one.hours), key=lambda one: one.hours or 0.0)
    fast = api.frontier(_request(), points=2).points[0]
    deadline = (fast.time.confident_hours if fast.time else 0.0) * 1.02
    found = api.explain(_request(f"{deadline:.4f}h"))
    late = [one for one in found.rivals if one.verdict == "late" and one.axis != "size"]  # sizes: test_bottlenecks
    assert late, slow
    for rival in late:
        free = _narrowed(_request(), rival).replaced("limits.deadline", None).replaced("objective", "time")
        quickest = api.solve(free, short_frontier=False)
        assert quickest.time is not None
        assert rival.hours == pytest.approx(quickest.time.confident_hours, rel=1e-9)
        assert rival.over[0].constraint == "limits.deadline"
        assert rival.over[0].value > rival.over[0].limit


def test_a_rival_that_does_not_fit_says_what_is_missing() -> None:
    request = asked(
        "sft",
        {"policy": "Qwen/Qwen2.5-7B-Instruct"},
        choices={"gpus": ["L4", "H100"]},
        limits={"max_gpus": 1},
    )
    rival = _of(api.explain(request), "gpu")["L4"]
    assert rival.verdict == "memory"
    assert rival.missing_gib is not None
    assert rival.missing_gib > 0
    assert rival.stage == "update policy"
    assert "GiB per GPU needed on 1 L4" in rival.note


def test_a_rival_that_breaks_a_floor_names_it() -> None:
    found = api.explain(asked("grpo", choices={**OPEN, "regions": "any"}, floors={"on_demand_share": 0.5}))
    rival = _of(found, "pricing")["spot"]
    assert rival.verdict == "limits"
    assert [(one.constraint, one.value) for one in rival.over] == [("floors.on_demand_share", 0.0)]


def test_an_hour_is_worth_the_difference_of_two_answers() -> None:
    free = api.explain(_request())
    assert free.plan.time is not None
    deadline = free.plan.time.confident_hours * 0.8
    request = _request(f"{deadline:.3f}h")
    found = api.explain(request)
    worth = {one.constraint: one for one in found.worth}["limits.deadline"]
    here = _usd(request)
    more = _usd(request.replaced("limits.deadline", (worth.limit + 1.0) * 3600.0))
    less = _usd(request.replaced("limits.deadline", (worth.limit - 1.0) * 3600.0))
    assert worth.usd_per_unit == pytest.approx(here - more, abs=1e-6)
    assert (math.inf if worth.tighter is None else worth.tighter.total_usd) == pytest.approx(less, rel=1e-9)
    assert worth.without is not None
    assert worth.without.total_usd == pytest.approx(_usd(_request()), rel=1e-9)
    named = {one.constraint: one.usd_per_unit for one in found.plan.binding}
    assert named["limits.deadline"] == worth.usd_per_unit


def test_one_more_machine_is_worth_the_difference_of_two_answers() -> None:
    request = asked("grpo", objective="time", limits={"max_gpus": 8})
    found = api.explain(request)
    worth = {one.constraint: one for one in found.worth}["limits.max_gpus"]
    wider = api.solve(request.replaced("limits.max_gpus", 8 + int(worth.step)), short_frontier=False)
    assert wider.time is not None
    assert worth.looser is not None
    assert worth.looser.hours == pytest.approx(wider.time.confident_hours, rel=1e-9)
    assert worth.hours_per_unit is not None
    assert worth.hours_per_unit > 0


@pytest.mark.parametrize(
    ("name", "key"), [("15", "limits.deadline"), ("16", "limits.max_gpus"), ("17", "limits.budget")]
)
def test_changes_of_infeasible_examples_open_a_plan_and_no_less_does(name: str, key: str) -> None:
    request, found = runs.request(runs.name_of(name)), runs.explained(runs.name_of(name))
    assert found.complete
    assert found.plan.relaxations
    assert found.changes == sorted(found.changes, key=lambda change: change.total_usd)
    assert key in {change.constraint for change in found.changes}
    unit = {"limits.deadline": 3600.0, "limits.max_gpus": 1, "limits.budget": 1.0}
    for change in (one for one in found.changes if one.constraint in unit):
        scale = 3600.0 if change.unit == "h" else 1.0
        kind = int if change.unit == "GPUs" else float
        to = kind(change.to * scale)

        def at(limit: float, change: Relaxation = change) -> float:
            value = Money(limit, "USD") if change.unit == "USD" else limit
            return _usd(request.replaced(change.constraint, value))

        assert at(to * (1 if kind is int else 1 + 1e-9)) <= change.total_usd * (1 + 1e-6), change
        assert math.isinf(at(to - unit[change.constraint])), change


def test_memory_that_fits_nowhere_is_told_by_stage_and_part() -> None:
    found = runs.explained(runs.name_of("16"))
    first, second = found.misfit
    assert first.startswith(
        "training the policy takes 121.3 GiB of each GPU in the layout that comes closest, on 8 L40S"
    )
    assert first.endswith("GiB are missing")
    assert second.startswith("the largest part is weights with")


def test_a_rival_without_any_pool_says_what_really_leaves_none() -> None:
    """Not memory of an engine: too many GPUs in each machine, and too little host memory."""
    few = {"providers": ["runpod", "coreweave"], "gpus": ["A100-80GB"], "pricing": ["on_demand"], "regions": "any"}
    large = _of(api.explain(asked("sft", choices=few, limits={"max_gpus": 2})), "provider")["coreweave"]
    assert (large.verdict, large.note) == ("limits", "")
    assert [(one.constraint, one.value, one.limit) for one in large.over] == [("limits.max_gpus", 8.0, 2.0)]
    poor = {**few, "providers": ["runpod", "packet-ai"]}
    request = asked("grpo", {"policy": "Qwen/Qwen2.5-7B-Instruct", "reward": "rule"}, choices=poor)
    found = _of(api.explain(request), "provider")["packet-ai"]
    assert found.verdict == "memory"
    assert found.note == UNKNOWN_HOST_MEMORY  # a machine of which no source says more has not 0 GiB
