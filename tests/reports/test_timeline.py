"""What runs when: bars fill a step exactly, in turn or at once."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.timeline import bars, waiting_seconds
from tests.reports import plans
from tests.reports.rich_plans import ROLLOUT, SCORE, TRAIN, mixed


def told(plan: Plan) -> list[tuple[str, str, float, float]]:
    return [(bar.pool, bar.stage.stage, round(bar.start, 3), round(bar.end, 3)) for bar in bars(plan)]


def apart(placement: str, stages: list[dict[str, object]], step: float) -> Plan:
    """A plan of a training, a rollout and a scoring pool with these stages."""
    plan = mixed().document()
    return Plan.model_validate({
        **plan,
        "pools": [TRAIN, ROLLOUT | {"name": "rollout", "share": None}, SCORE],
        "time": plan["time"] | {"stages": stages, "step_seconds": step},
        "decisions": plan["decisions"] | {"placement": placement},
    })  # fmt: skip


def stage(kind: str, pool: str, seconds: float, **more: object) -> dict[str, object]:
    return {"stage": kind, "pool": pool, "seconds": seconds, "model": "policy", **more}


HALVES = [
    stage("update", "train", 25.0),
    stage("forward", "train", 10.0),
    stage("generate", "rollout", 60.0),
    stage("forward", "score", 18.0),
    stage("transfer", "rollout", 4.0),
]


def test_one_pool_does_one_stage_after_the_other() -> None:
    assert told(plans.optimal()) == [
        ("main", "generate", 0.0, 61.2),
        ("main", "forward", 61.2, 71.0),
        ("main", "update", 71.0, 96.0),
    ]
    assert waiting_seconds(plans.optimal()) == 0.0


def test_pools_take_turns_in_step() -> None:
    plan = apart("disaggregated", HALVES, 117.0)
    assert told(plan) == [
        ("train", "forward", 78.0, 88.0),
        ("train", "update", 88.0, 113.0),
        ("rollout", "generate", 0.0, 60.0),
        ("rollout", "transfer", 113.0, 117.0),
        ("score", "forward", 60.0, 78.0),
    ]
    assert waiting_seconds(plan) == 0.0


def test_pools_work_at_once_out_of_step_and_the_rest_is_waiting() -> None:
    plan = apart("async", HALVES, 70.0)
    assert told(plan) == [
        ("train", "forward", 0.0, 10.0),
        ("train", "update", 10.0, 35.0),
        ("rollout", "generate", 0.0, 60.0),
        ("rollout", "transfer", 66.0, 70.0),
        ("score", "forward", 0.0, 18.0),
    ]
    assert waiting_seconds(plan) == pytest.approx(6.0)


def test_what_hides_and_what_answers_beside_makes_no_step_longer() -> None:
    stages = [
        stage("load", "main", 9.0, hidden_seconds=7.0),
        stage("generate", "main", 60.0),
        stage("environment", "main", 90.0),
        stage("update", "main", 30.0),
    ]
    plan = plans.optimal().document()
    pools = [plan["pools"][0], plan["pools"][1] | {"roles": ["environment"]}]
    found = Plan.model_validate(
        {**plan, "pools": pools, "time": plan["time"] | {"stages": stages, "step_seconds": 92.0}}
    )
    assert [(bar.pool, bar.stage.stage, bar.start, bar.end, bar.beside) for bar in bars(found)] == [
        ("main", "generate", 0.0, 60.0, False),
        ("main", "load", 60.0, 67.0, True),
        ("main", "load", 60.0, 62.0, False),
        ("main", "update", 62.0, 92.0, False),
        ("tools", "environment", 0.0, 60.0, True),
    ]


def test_a_pool_of_cpus_scores_before_the_pool_trains_even_out_of_step() -> None:
    plan = apart("async", [*HALVES, stage("forward", "scorers", 5.0)], 70.0)
    starts = {(bar.pool, bar.stage.stage): bar.start for bar in bars(plan)}
    assert starts["scorers", "forward"] == 0.0
    assert starts["train", "forward"] == 5.0


def test_a_pool_that_does_it_all_waits_for_scores_from_cpus() -> None:
    stages = [stage("generate", "main", 60.0), stage("update", "main", 30.0), stage("forward", "scorers", 5.0)]
    plan = plans.optimal().document()
    found = Plan.model_validate({**plan, "time": plan["time"] | {"stages": stages, "step_seconds": 95.0}})
    assert told(found) == [
        ("main", "generate", 0.0, 60.0),
        ("main", "update", 65.0, 95.0),
        ("scorers", "forward", 60.0, 65.0),
    ]


def test_no_plan_has_no_bars() -> None:
    assert bars(plans.infeasible()) == []
    assert waiting_seconds(plans.infeasible()) == 0.0


@pytest.mark.parametrize(
    "name", ["quickstart", "requests/06-ppo-opt13b-budget", "requests/01-grpo-lora-qwen2.5-0.5b-one-gpu"]
)
def test_lanes_of_a_solved_plan_fill_its_step(root: Path, name: str) -> None:
    from rlopt import api

    plan = api.solve(api.load(root / "examples" / f"{name}.yaml"), short_frontier=False)
    assert plan.time is not None
    assert plan.decisions is not None
    found = [bar for bar in bars(plan) if not bar.beside]
    assert max(bar.end for bar in found) == pytest.approx(plan.time.step_seconds)
    for first, second in pairwise(found):
        assert first.pool != second.pool or first.end <= second.start + 1e-9
    assert (waiting_seconds(plan) > 0.0) == (plan.decisions.placement == "async")
