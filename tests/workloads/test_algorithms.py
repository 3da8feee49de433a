"""Roles, stages and volumes of each algorithm, by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.errors import NotSupportedError
from rlopt.workloads import ALGORITHMS, Stage, Workload, build_workload
from rlopt.workloads.policy_parts import backbone_of, expert_of
from tests.workloads.asked import LARGE, POLICY, TEXT, TOWER, models, request


def built(algorithm: str, job: dict[str, Any] | None = None, **sections: Any) -> Workload:
    return build_workload(request(algorithm, job, **sections), models(algorithm))


def stages(workload: Workload) -> list[tuple[str, str]]:
    return [(stage.kind, stage.role) for stage in workload.stages]


def stage(workload: Workload, kind: str, role: str) -> Stage:
    return next(s for s in workload.stages if (s.kind, s.role) == (kind, role))


@pytest.mark.parametrize("algorithm", [module.NAME for module in ALGORITHMS])
def test_every_stage_has_its_role_and_every_role_its_stage(algorithm: str) -> None:
    workload = built(algorithm)
    names = {role.name for role in workload.roles}
    assert {s.role for s in workload.stages} == names
    assert workload.generates == (algorithm in ("ppo", "grpo", "opd", "vla"))
    assert all(workload.sequences(s, size) > 0 for s in workload.stages for size in workload.group_sizes)


def test_a_reward_model_is_one_score_wide_and_sees_both_sequences_of_a_pair() -> None:
    workload = built("rm", {"updates_per_step": 2})
    (role,) = workload.roles
    assert (role.name, role.trained, role.outputs) == ("policy", True, 1)
    assert stages(workload) == [("update", "policy")]
    assert workload.sequences(workload.stages[0], 1) == 2 * 16
    assert workload.stages[0].updates == 2


def test_critics_and_reward_models_give_one_score() -> None:
    workload = built("ppo")
    assert {role.name: role.outputs for role in workload.roles} == {
        "policy": None,
        "reference": None,
        "reward": 1,
        "critic": 1,
    }


def test_distillation_scores_every_sample_with_the_teacher() -> None:
    job = {"cache_hit_rate": 0.25, "filter": {"drop": 0.5}}
    workload = built("opd", job, choices={"group_size": [4]})
    assert stages(workload) == [
        ("generate", "policy"),
        ("forward", "policy"),
        ("forward", "teacher"),
        ("update", "policy"),
    ]
    assert [workload.sequences(s, 4) for s in workload.stages] == [48.0, 64.0, 64.0, 32.0]
    assert [(role.name, role.trained) for role in workload.roles] == [("policy", True), ("teacher", False)]
    assert workload.role("teacher").model is LARGE


def test_what_is_repeated_against_forgetting_is_trained_as_well() -> None:
    workload = built("sft", {"remedial_share": 0.25})
    assert workload.sequences(workload.stages[0], 1) == 20.0


@given(st.floats(0.0, 0.9))
def test_the_filter_takes_off_the_policys_update_alone(drop: float) -> None:
    workload = built("ppo", {"filter": {"drop": drop}})
    assert workload.sequences(stage(workload, "update", "policy"), 1) == pytest.approx(16 * (1 - drop))
    others = [s for s in workload.stages if (s.kind, s.role) != ("update", "policy")]
    assert {workload.sequences(s, 1) for s in others} == {16.0}


def test_evaluations_sample_where_the_job_does_and_score_where_it_does_not() -> None:
    asked = {"evaluation": {"every": 10, "samples": 200}}
    sampled, scored = built("grpo", asked).evaluation, built("dpo", asked).evaluation
    assert sampled is not None
    assert scored is not None
    assert (sampled.stage.kind, scored.stage.kind) == ("generate", "forward")
    assert (sampled.sequences, sampled.stage.name) == (20.0, "evaluation")
    assert built("grpo").evaluation is None


def test_steps_that_fall_back_are_told() -> None:
    assert built("grpo", {"fallback": {"share_of_steps": 0.05}}).fallback_share == 0.05


TOOLS = {
    "kind": "tools",
    "calls_per_sample": {"mean": 2, "max": 4},
    "seconds_per_call": {"mean": 1.0, "max": 5.0},
}


def test_copies_of_an_environment_are_a_grid_up_to_the_samples_of_the_largest_step() -> None:
    workload = built("grpo", {"environment": TOOLS, "prompts_per_step": 3})
    assert workload.instances == (1, 2, 4, 8, 16, 24)
    assert workload.tools is not None
    assert workload.tools.instances == 24
    assert (workload.tools.wait_seconds, workload.tools.most_seconds) == (2.0, 20.0)
    assert built("grpo", {"environment": TOOLS | {"instances": 5}}).instances == (5,)
    assert built("grpo").instances == ()


@given(st.integers(1, 5000), st.integers(1, 64))
def test_the_grid_ascends_to_all_samples(prompts: int, size: int) -> None:
    job = {"environment": TOOLS, "prompts_per_step": prompts}
    options = built("grpo", job, choices={"group_size": [size]}).instances
    assert list(options) == sorted(set(options))
    assert (options[0], options[-1]) == (1, prompts * size)
    assert all(later <= 2 * earlier for earlier, later in itertools.pairwise(options))


def test_volumes_of_a_robot_job() -> None:
    # 64 trajectories of 300 s at one inference and one scored frame a second, half of the samples dropped
    workload = built("vla")
    volumes = {(s.kind, s.role): workload.sequences(s, 1) for s in workload.stages}
    assert volumes == {
        ("generate", "policy"): 64.0,
        ("environment", "policy"): 64.0,
        ("forward", "value"): 19200.0,
        ("update", "value"): 9600.0,
        ("update", "policy"): 9600.0,
        ("update", "action"): 9600.0,
    }
    assert stage(workload, "update", "policy").lengths.mean == 60 + 3 * 256
    assert stage(workload, "update", "policy").lengths.longest == 128 + 3 * 256
    assert stage(workload, "update", "action").lengths.mean == 50
    assert (workload.role("value").outputs, workload.role("policy").outputs) == (201, 0)
    assert workload.tools is None


def test_how_a_robot_acts() -> None:
    acting = built("vla").acting
    assert acting is not None
    assert (acting.observation_tokens, acting.observation_tokens_max) == (828.0, 896.0)
    assert (acting.images, acting.patches_per_image) == (3, 32 * 32)
    assert (acting.passes, acting.tokens_per_pass, acting.action_tokens) == (5, 50, 50)
    assert (acting.inferences_mean, acting.inferences_max, acting.frames) == (300.0, 600.0, 300.0)
    assert (acting.steps_per_second, acting.world_seconds) == (100.0, 0.5)
    assert acting.frame_bytes == 3 * 602112
    assert acting.stored_frames == 150.0  # half is dropped before it is stored
    assert acting.memory_bytes == 8 * 2**30


def test_what_is_dropped_after_storage_is_stored() -> None:
    acting = built("vla", {"filter": {"drop": 0.5, "before_storage": False}}).acting
    assert acting is not None
    assert acting.stored_frames == acting.frames == 300.0


def test_a_frame_is_an_inference_where_no_stride_is_given() -> None:
    action = {"head": "flow", "flow_steps": 5, "chunk": 25, "frequency": 50.0}
    acting = built("vla", {"action": action, "value_stride": None}).acting
    assert acting is not None
    assert acting.frames == acting.inferences_mean == 600.0


def test_a_policy_without_a_value_model_trains_on_what_it_did() -> None:
    asked_for = request("vla", {"models": {"policy": "text"}})
    found = build_workload(asked_for, {"policy": POLICY})
    assert [role.name for role in found.roles] == ["policy", "action"]
    assert stages(found)[2:] == [("update", "policy"), ("update", "action")]


@pytest.mark.parametrize("missing", ["action", "vision", "environment", "trajectory"])
def test_a_policy_that_acts_needs_to_know_how(missing: str) -> None:
    with pytest.raises(NotSupportedError, match=r"job\.action"):
        built("vla", {missing: None})


def test_a_value_model_needs_its_bins() -> None:
    with pytest.raises(NotSupportedError, match=r"choices\.value_bins"):
        built("vla", floors={})


def test_heads_differ_in_their_passes() -> None:
    action = {"chunk": 10, "frequency": 10.0}
    one = built("vla", {"action": action | {"head": "one_step"}}).acting
    tokens = built("vla", {"action": action | {"head": "tokens", "tokens_per_action": 7}}).acting
    assert one is not None
    assert tokens is not None
    assert (one.passes, one.tokens_per_pass, one.action_tokens) == (1, 10, 10)
    assert (tokens.passes, tokens.tokens_per_pass, tokens.action_tokens) == (70, 1, 70)


def test_a_robot_runs_in_real_time() -> None:
    acting = built("vla", {"environment": {"kind": "robot", "instances": 4}}).acting
    assert acting is not None
    assert (acting.kind, acting.steps_per_second, acting.world_seconds) == ("robot", 50.0, 1.0)


def test_a_policy_that_speaks_its_actions_is_one_model() -> None:
    action = {"head": "tokens", "tokens_per_action": 7, "chunk": 8, "frequency": 8.0}
    found = build_workload(request("vla", {"action": action}), models("vla") | {"policy": TEXT})
    assert [(r.name, r.outputs, r.part) for r in found.roles if r.name != "value"] == [("policy", None, "whole")]
    assert stage(found, "update", "policy").lengths.mean == 828 + 56


def test_parts_of_a_policy_add_up() -> None:
    backbone, expert = backbone_of(POLICY), expert_of(POLICY)
    assert expert is not None
    assert (backbone.params, expert.params) == (3.88e9, 0.86e9)
    assert backbone_of(TEXT) is TEXT
    assert expert_of(TEXT) is None
    assert (expert.layers, expert.heads, expert.kv_heads, expert.head_dim) == (34, 8, 4, 256)


def test_the_width_of_an_expert_follows_from_its_weights() -> None:
    # openpi's gemma_300m: width 1024, feed-forward 4096, 18 layers of 8 heads of 256 with one key-value head
    weights = 18 * (2 * 1024 * 256 * (8 + 1) + 3 * 1024 * 4096)
    expert = expert_of(replace(POLICY, layers=18, heads=8, kv_heads=1, head_dim=256, action_params=float(weights)))
    assert expert is not None
    assert (expert.hidden, expert.ffn, expert.params) == (1024, 4096, weights)


def test_policies_with_an_image_tower_read_patches() -> None:
    found = build_workload(request("vla"), models("vla") | {"policy": replace(POLICY, vision=TOWER)})
    assert found.role("policy").patches_per_token == pytest.approx(3 * 1024 / 828)
    assert built("vla").role("policy").patches_per_token == 0.0
