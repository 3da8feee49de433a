"""How busy pools are, by hand, and smaller pools against the listing of every plan with them."""

from __future__ import annotations

import pytest

from rlopt.answers.explanation import Rival
from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.assembly.bottlenecks import idle_notes, idle_pools, pool_uses, smaller_gpus, with_smaller, working
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.search.clock import Clock
from rlopt.search.exhaustive import exhaustive
from rlopt.studies.cheapest import cheapest
from rlopt.studies.explain.rivals import rivals_of
from tests.studies.small import asked


def _request(placement: str, hours: float) -> Request:
    apart = {"placements": [placement], "providers": ["runpod"], "regions": "any", "gpus": ["L40S"]}
    return asked("grpo", choices=apart, limits={"deadline": f"{hours}h"})


def _solved(placement: str, hours: float) -> tuple[Problem, Plan]:
    problem = problem_of(_request(placement, hours))
    plan = cheapest(problem)
    assert plan.status == "optimal"
    return problem, plan


def _sizes(problem: Problem, plan: Plan) -> dict[str, Rival]:
    with pytest.MonkeyPatch.context() as patch:  # sizes alone are asked about
        for name in ("part_of", "rebuilt"):
            patch.setattr(f"rlopt.studies.explain.rivals.{name}", lambda *_: problem)
        found = rivals_of(problem, plan, Clock.of(60.0, exact=True))
    return {rival.value: rival for rival in found if rival.axis == "size"}


def test_busy_is_a_pool_s_own_seconds_over_those_of_a_step() -> None:
    _, plan = _solved("disaggregated", 2.5)
    assert plan.time is not None
    uses = {use.pool: use for use in pool_uses(plan)}
    assert set(uses) == {pool.name for pool in working(plan)}
    seconds = {(stage.pool, stage.stage, stage.model): stage.seconds for stage in plan.time.stages}
    assert uses["rollout"].busy_seconds == seconds["rollout", "generate", "policy"]
    trains = sum(value for (pool, stage, _), value in seconds.items() if pool == "train" and stage != "transfer")
    assert uses["train"].busy == pytest.approx(trains / plan.time.step_seconds)
    assert plan.usage is not None
    assert plan.usage.pools == sorted(uses.values(), key=lambda use: -use.busy_seconds)
    noted = {text.split()[1] for text in plan.warnings if text.startswith("pool ") and " of a step" in text}
    assert noted == {name for name, use in uses.items() if use.busy < 0.5}


@pytest.mark.parametrize(("placement", "hours"), [("disaggregated", 1.2), ("async", 0.8)])
def test_a_smaller_pool_costs_what_the_listing_of_every_plan_says(placement: str, hours: float) -> None:
    problem, plan = _solved(placement, hours)
    found, seen = _sizes(problem, plan), 0
    assert plan.cost is not None
    for pool in idle_pools(plan):
        gpus = smaller_gpus(plan, pool, problem)
        if gpus is None:
            continue
        rival = found[f"{pool.name} on {gpus} of {pool.gpus} GPUs"]
        listed = exhaustive(with_smaller(plan, pool, gpus, problem))
        seen += 1
        if listed is None:
            assert rival.verdict == "late"
            assert rival.over[0].constraint == "limits.deadline"
            continue
        assert rival.verdict == "dearer"
        assert rival.total_usd == pytest.approx(listed.usd, rel=1e-9)
        assert rival.total_usd >= plan.cost.total_usd
    assert seen == len(found) > 0


def test_the_smallest_pool_says_so() -> None:
    problem, plan = _solved("disaggregated", 100.0)
    idle = idle_pools(plan)
    assert idle
    assert [smaller_gpus(plan, pool, problem) for pool in idle] == [None] * len(idle)
    assert sum("no smaller one of these machines can do its work" in text for text in plan.warnings) == len(idle)
    assert not _sizes(problem, plan)


def test_pools_that_two_offers_share_are_not_said_to_be_explained() -> None:
    problem, plan = _solved("disaggregated", 1.2)
    shared = [pool.model_copy(update={"share": 0.5}) if pool.gpus else pool for pool in plan.pools]
    notes = idle_notes(plan.model_copy(update={"pools": shared}), problem)
    assert notes
    assert all(note.endswith("two offers share its work") for note in notes)
    assert any(note.endswith("GPUs would cost") for note in idle_notes(plan, problem))
