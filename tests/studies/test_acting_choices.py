"""How a policy acts, bins of its value model, data learned from first and screening, each as part of a proven plan.

`solved` asks both backends and the listing of every plan, and all three agree.
"""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.errors import InputError
from rlopt.request import Request
from tests.studies.small import asked, solved, usd
from tests.studies.test_model_choices import POLICY, ROBOT

PLAIN = {key: value for key, value in POLICY.items() if not key.startswith(("vlm", "action"))}
"""A policy that acts through its backbone, so that all heads are of one model."""
VALUE: dict[str, Any] = {
    "name": "value-0.5b",
    "params": 0.5e9,
    "layers": 12,
    "hidden": 1024,
    "heads": 8,
    "kv_heads": 1,
    "head_dim": 128,
    "ffn": 4096,
    "vocab": 257152,
    "tie_embeddings": True,
}
ACTION = ROBOT["action"] | {"tokens_per_action": 2}
HEADS = ["flow", "one_step", "tokens"]
APART = {"placements": ["disaggregated", "async"], "gpus": ["A100-80GB"], "mixed_pools": True}
FLOORS = {"value_bins": 51, "checkpoints": {"keep_recent": 1, "history_every": 20}}


def acting(models: dict[str, Any], job: dict[str, Any], apart: bool = False, **choices: Any) -> Request:
    """A small robot's request on one pool, or on two."""
    where = {**(APART if apart else {}), **choices}
    limits = {"max_gpus": 16 if apart else 8}
    floors = FLOORS if "value" in models else {}
    return asked("vla", models, job={**ROBOT, **job}, choices=where, limits=limits, floors=floors)


def made(plan: Plan) -> Any:
    assert plan.decisions is not None
    return plan.decisions


def seconds(plan: Plan) -> dict[tuple[str, str, str | None], float]:
    """Seconds by stage, pool and model."""
    assert plan.time is not None
    return {(stage.stage, stage.pool, stage.model): stage.seconds for stage in plan.time.stages}


@pytest.mark.parametrize("apart", [False, True], ids=["one pool", "two pools"])
@pytest.mark.parametrize(
    ("steps", "best"), [((40, 40, 40), "one_step"), ((20, 60, 60), "flow"), ((80, 80, 10), "tokens")]
)
def test_each_head_is_the_best_of_some_request(steps: tuple[int, ...], best: str, apart: bool) -> None:
    table = dict(zip(HEADS, steps, strict=True))
    job: dict[str, Any] = {"steps": None, "convergence": table, "action": ACTION}
    plan = solved(acting({"policy": PLAIN}, job, apart, action_head=HEADS))
    assert made(plan).action_head == best
    assert plan.time is not None
    assert plan.time.steps == table[best]
    keys = {"flow": ("flow_steps",), "one_step": (), "tokens": ("tokens_per_action",)}[best]
    own = {key: ACTION[key] for key in ("chunk", "frequency", *keys)}
    alone = solved(acting({"policy": PLAIN}, {"steps": table[best], "action": {"head": best, **own}}, apart))
    assert usd(plan) == pytest.approx(usd(alone), abs=0.005)
    assert made(alone).action_head is None


@pytest.mark.parametrize("apart", [False, True], ids=["one pool", "two pools"])
@pytest.mark.parametrize("best", ["flow", "tokens"])
def test_a_token_head_leaves_the_action_expert_out(best: str, apart: bool) -> None:
    """Checkpoints, weights that are sent and fetched, and texts are those of the head that is chosen."""
    table = {"flow": 60, "tokens": 60} | {best: 20}
    kept = {"text_log_rate": 0.5, "checkpoints": {"keep_recent": 2, "keep_best": 2, "history_every": 10}}
    where, limits = APART if apart else {}, {"max_gpus": 16 if apart else 8}

    def asks(head: str, choices: dict[str, Any], **job: Any) -> Plan:
        keys = {"flow": ("flow_steps",), "tokens": ("tokens_per_action",), "": ("flow_steps", "tokens_per_action")}
        own = {key: ACTION[key] for key in ("chunk", "frequency", *keys["" if choices else head])}
        job = {**ROBOT, **job, "action": {"head": head, **own}}
        request = asked("vla", {"policy": POLICY}, job=job, choices={**where, **choices}, limits=limits, floors=kept)
        return solved(request)

    plan = asks("flow", {"action_head": ["flow", "tokens"]}, steps=None, convergence=table)
    alone = asks(best, {}, steps=20)
    assert made(plan).action_head == best
    assert plan.cost is not None
    assert alone.cost is not None
    lines = [{(line.dimension, line.item): round(line.usd, 6) for line in each.cost.lines} for each in (plan, alone)]
    assert lines[0] == lines[1]
    assert made(plan).checkpoint == made(alone).checkpoint
    assert plan.time == alone.time


@pytest.mark.parametrize(
    ("job", "choices", "key", "text"),
    [
        ({"convergence": {"flow": 40}}, {"action_head": HEADS[:2]}, "job.convergence", "one_step has no steps"),
        ({"steps": 40}, {"action_head": HEADS[:2]}, "choices.action_head", "flow has no steps of its own"),
        ({"convergence": {"flow": 40, "tokens": 9}}, {"action_head": HEADS[::2]}, "job.action", "tokens_per_ac"),
        ({"convergence": {"flow": 40, 4: 9}}, {}, "job.convergence", "4 is no action head"),
        ({"steps": 40, "offline": {"samples": 10}}, {}, "job.offline", "there is none"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said(job: dict[str, Any], choices: dict[str, Any], key: str, text: str) -> None:
    with pytest.raises(InputError) as caught:
        acting({"policy": PLAIN}, {"steps": None, **job}, **choices)
    assert key in [complaint.key for complaint in caught.value.complaints]
    assert text in str(caught.value)


def test_models_with_steps_of_their_own_leave_no_choice_of_heads() -> None:
    job = {"steps": None, "convergence": {"flow": 40, "one_step": 60}}
    known = [{"model": "Qwen/Qwen2.5-0.5B", "convergence": {1: 40}}, "Qwen/Qwen2.5-1.5B"]
    with pytest.raises(InputError, match="every head takes as long"):
        acting({"policy": POLICY, "value": known}, job, action_head=HEADS[:2])


@pytest.mark.parametrize(("table", "best"), [({1: 60, 201: 40}, 201), ({1: 40, 201: 41}, 1)])
def test_regression_may_take_the_place_of_bins(table: dict[int, int], best: int) -> None:
    models, job = {"policy": POLICY, "value": VALUE}, {"steps": None, "value_convergence": table}
    request = asked("vla", models, job={**ROBOT, **job}, choices={"value_bins": [1, 201]})
    assert made(solved(request)).data == {"value_bins": best}


@pytest.mark.parametrize("apart", [False, True], ids=["one pool", "two pools"])
def test_a_value_model_learns_from_stored_data_before_the_first_step(apart: bool) -> None:
    models = {"policy": POLICY, "value": VALUE}
    plain, once, twice = (
        solved(acting(models, {"offline": offline} if offline else {}, apart))
        for offline in (None, {"samples": 160}, {"samples": 160, "epochs": 2})
    )
    assert plain.time is not None
    assert once.time is not None
    assert twice.time is not None
    assert (plain.time.once_hours, usd(plain) < usd(once) < usd(twice)) == (0.0, True)
    pools = [(pool.name, pool.instance_type, pool.nodes) for pool in once.pools]
    assert pools == [(pool.name, pool.instance_type, pool.nodes) for pool in twice.pools]
    assert twice.time.once_hours == pytest.approx(2.0 * once.time.once_hours)
    # 160 trajectories are ten steps' worth of 16, and run outside the sampling loop: no slower than ten updates there
    step = sum(time for (stage, _, model), time in seconds(once).items() if (stage, model) == ("update", "value"))
    assert 0.5 * 10 * step < once.time.once_hours * 3600 <= 10 * step * (1 + 1e-9)


def test_screening_is_done_where_samples_are_collected() -> None:
    models, dropped = {"policy": POLICY, "value": VALUE}, {"drop": 0.5, "before_storage": True}
    plan, later = (solved(acting(models, {"filter": drop}, True)) for drop in (dropped, {"drop": 0.5}))
    found = seconds(plan)
    assert ("forward", "train", "value") not in found
    assert ("forward", "train", "value") in seconds(later)
    told = made(plan).screening
    assert (told["pool"], told["seconds"]) == ("rollout", pytest.approx(found["screening", "rollout", "value"]))
    assert made(later).screening is None
    assert told["update_seconds"] > 0.0
    assert told["traffic_gb"] == pytest.approx(2.0 * told["stored_gb"])
    rollout = next(pool for pool in plan.pools if pool.name == "rollout")
    other = next(pool for pool in later.pools if pool.name == "rollout")
    assert (rollout.roles, rollout.serves) == (["generate", "forward"], ["policy", "value"])
    assert rollout.memory is not None
    assert other.memory is not None
    more = rollout.memory.parts["weights"] - other.memory.parts["weights"]
    assert rollout.layout == other.layout
    assert rollout.layout is not None
    # 16-bit weights, its 51 outputs among them
    assert more == pytest.approx((0.5e9 + 51 * 1024) * 2 / 2**30 / rollout.layout.tp)


def test_on_one_pool_the_same_work_is_done_and_with_nothing_to_drop_nothing_is() -> None:
    models = {"policy": POLICY, "value": VALUE}
    screened, later = (
        solved(acting(models, {"filter": {"drop": 0.5, "before_storage": early}})) for early in (True, False)
    )
    assert seconds(screened) == seconds(later)
    assert made(screened).screening["pool"] == "main"
    for apart in (False, True):
        idle, plain = (
            solved(acting(models, {"filter": drop}, apart)) for drop in ({"before_storage": True}, {"drop": 0.0})
        )
        assert usd(idle) == usd(plain)
        assert made(idle).screening is None
        assert any("nothing to drop" in warning for warning in idle.warnings)
