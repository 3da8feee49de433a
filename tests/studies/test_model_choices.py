"""Teacher, reward and value model as choices: each option is the best of some request, floors keep weak ones out."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.api import problem_of
from rlopt.costs import bill
from rlopt.errors import InputError
from rlopt.studies.explain.relax import relaxations
from tests.studies.small import LARGE, SMALL, asked, chosen, solved, usd

BOTH = [{"model": LARGE, "accuracy": 0.93}, {"model": SMALL, "accuracy": 0.85}]
POLICY: dict[str, Any] = {
    "name": "flow-2b",
    "params": 2.4e9,
    "vlm_params": 2.0e9,
    "action_params": 0.4e9,
    "layers": 18,
    "hidden": 2048,
    "heads": 8,
    "kv_heads": 1,
    "head_dim": 256,
    "ffn": 16384,
    "vocab": 257152,
    "tie_embeddings": True,
}
ROBOT: dict[str, Any] = {
    "prompts_per_step": 16,
    "steps": 40,
    "prompt_tokens": {"mean": 60, "max": 128},
    "vision": {"image_size": 224, "cameras": 1, "patch": 14, "tokens_per_image": 64},
    "action": {"head": "flow", "flow_steps": 5, "chunk": 50, "frequency": "50 Hz"},
    "trajectory": {"mean": "60s", "max": "120s"},
    "environment": {"kind": "simulator", "instances": 8, "steps_per_second": 100},
}


@pytest.mark.parametrize(("algorithm", "role"), [("grpo", "reward"), ("opd", "teacher")])
def test_the_cheaper_model_is_chosen_and_a_choice_costs_what_its_best_option_costs(algorithm: str, role: str) -> None:
    alone = {name: usd(solved(asked(algorithm, {role: name}))) for name in (LARGE, SMALL)}
    assert alone[SMALL] < alone[LARGE]
    plan = solved(asked(algorithm, {role: [LARGE, SMALL]}))
    assert chosen(plan) == {role: SMALL}
    assert usd(plan) == pytest.approx(alone[SMALL], abs=0.005)


@pytest.mark.parametrize(("algorithm", "role", "size"), [("grpo", "reward", 4), ("opd", "teacher", 1)])
def test_a_larger_model_that_needs_fewer_steps_may_win(algorithm: str, role: str, size: int) -> None:
    plan = solved(asked(algorithm, {role: [{"model": LARGE, "convergence": {size: 40}}, SMALL]}))
    assert chosen(plan) == {role: LARGE}
    assert plan.time is not None
    assert plan.time.steps == 40
    assert usd(plan) == pytest.approx(usd(solved(asked(algorithm, {role: LARGE}, job={"steps": 40}))), abs=0.005)


def test_a_value_model_that_is_trained_is_chosen_with_its_own_checkpoints() -> None:
    values = [LARGE, SMALL]
    policy, floors = POLICY, {"value_bins": 51, "checkpoints": {"keep_recent": 1, "history_every": 20}}
    alone = [solved(asked("vla", {"policy": policy, "value": name}, job=ROBOT, floors=floors)) for name in values]
    plan = solved(asked("vla", {"policy": policy, "value": values}, job=ROBOT, floors=floors))
    best = min(alone, key=usd)
    assert usd(plan) == pytest.approx(usd(best), abs=0.005)
    assert chosen(plan) == {"value": values[alone.index(best)]}
    assert plan.decisions is not None
    assert best.decisions is not None
    assert plan.decisions.checkpoint == best.decisions.checkpoint


def test_a_floor_keeps_a_weak_reward_model_out() -> None:
    free, kept = (
        solved(asked("grpo", {"reward": BOTH})),
        asked("grpo", {"reward": BOTH}, floors={"reward_quality": 0.9}),
    )
    assert chosen(free) == {"reward": SMALL}
    plan = solved(kept)
    assert chosen(plan) == {"reward": LARGE}
    assert usd(plan) > usd(free)
    assert [bound.constraint for bound in plan.binding if bound.constraint.startswith("floors.r")] == []
    tight = solved(asked("grpo", {"reward": BOTH}, floors={"reward_quality": 0.93}))
    assert "floors.reward_quality" in [bound.constraint for bound in tight.binding]


def test_below_the_floor_there_is_no_plan_and_the_floor_is_named() -> None:
    request = asked("grpo", {"reward": BOTH}, floors={"reward_quality": 0.95})
    assert solved(request).status == "infeasible"
    named = relaxations(problem_of(request))
    assert [(one.constraint, one.to) for one in named if not isinstance(one, list)] == [("floors.reward_quality", 0.93)]


def test_one_model_that_is_described_is_billed_as_if_it_was_named() -> None:
    plain, stated = asked("grpo", {"reward": LARGE}), asked("grpo", {"reward": {"model": LARGE, "accuracy": 0.93}})
    assert usd(solved(plain)) == usd(solved(stated))


def test_base_weights_are_those_of_the_model_chosen() -> None:
    request = asked("grpo", {"reward": [{"model": LARGE, "convergence": {4: 40}}, SMALL]})
    problem, plan = problem_of(request), solved(request)
    total = sum(problem.models[name].params for name in ("policy", "reward")) * 2 / 1e9
    (line,) = [line for line in bill(plan, problem) if line.item == "base weights from the hub"]
    assert line.basis.startswith(f"{total:.2f} GB")


@pytest.mark.parametrize(
    ("reward", "floors", "key", "text"),
    [
        ([LARGE, {"model": SMALL, "accuracy": 0.9}], {"reward_quality": 0.8}, "job.models.reward[0]", LARGE),
        (LARGE, {"reward_quality": 0.8}, "job.models.reward", LARGE),
        ("rule", {"reward_quality": 0.8}, "floors.reward_quality", "reward model"),
        ([LARGE, LARGE], {}, "job.models.reward", "twice"),
        ([LARGE, "rule"], {}, "job.models.reward", "rule"),
        ([], {}, "job.models.reward", "empty"),
        ([{"model": LARGE, "teacher_training": {"steps": 3}}], {}, "job.models.reward[0].teacher_training", "teacher"),
        ([{"model": LARGE, "accuracy": 1.2}], {}, "job.models.reward[0].accuracy", "out of range"),
        ([{"model": LARGE, "acuracy": 0.9}], {}, "job.models.reward[0].acuracy", "unknown key"),
    ],
)
def test_what_is_not_known_is_asked_for(reward: Any, floors: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        asked("grpo", {"reward": reward}, floors=floors)
    assert key in [complaint.key for complaint in caught.value.complaints]
    assert text in str(caught.value)


def test_roles_of_one_model_take_no_list() -> None:
    with pytest.raises(InputError, match="the policy is one model, not a choice"):
        asked("grpo", {"policy": [LARGE, SMALL]})


@pytest.mark.parametrize("scoring", ["shared", "own"])
def test_the_model_is_chosen_wherever_it_scores(scoring: str) -> None:
    choices = {"placements": ["disaggregated", "async"], "scoring": [scoring], "gpus": ["A100-80GB"]}
    limits = {"max_gpus": 24}
    for models, best in (([LARGE, SMALL], SMALL), ([{"model": LARGE, "convergence": {4: 10}}, SMALL], LARGE)):
        plan = solved(asked("grpo", {"reward": models}, choices=choices, limits=limits))
        assert chosen(plan) == {"reward": best}
        assert any(pool.name == "score" for pool in plan.pools) == (scoring == "own")
