"""Policies that act: closed forms, what may never happen, and a published latency."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.estimates import Hardware, ModelShape
from rlopt.estimates.roles import role_shape
from rlopt.estimates.sampling.acting import (
    ActingTime,
    Actor,
    Inference,
    Trajectories,
    acting_seconds,
    inference_seconds,
    planned_serving,
)
from rlopt.estimates.sampling.memory import kv_gib_per_token
from rlopt.estimates.sampling.replica import Replica
from rlopt.estimates.sampling.serving import Serving
from rlopt.workloads import Acting, build_workload
from rlopt.workloads.policy_parts import backbone_of, expert_of
from tests.estimates.parts import calibration, catalog, hardware
from tests.workloads import asked

CAL = calibration()
ONE = np.array([1])
EXPERT_300M = 311e6


def acting(**changes: object) -> Acting:
    found = build_workload(asked.request("vla"), asked.models("vla")).acting
    assert found is not None
    return replace(found, **changes)  # type: ignore[arg-type]


@lru_cache(maxsize=8)
def shapes() -> tuple[ModelShape, ModelShape]:
    workload = build_workload(asked.request("vla"), asked.models("vla"))
    return role_shape(workload.role("policy")), role_shape(workload.role("action"))


def actor(how: Acting, machine: Hardware, tp: np.ndarray, gib: float, engine: str | None = None) -> Actor:
    backbone, head = shapes()
    serving = planned_serving(machine, CAL) if engine is None else Serving.planned(machine, CAL, engine)
    return Actor(Replica(backbone, machine, tp, "bf16", serving, CAL), head, how, np.full(len(tp), gib))


def think(how: Acting, engine: str | None = None, tp: int = 1, gib: float = 40.0) -> Inference:
    return inference_seconds(actor(how, hardware(), np.array([tp]), gib, engine))


def act(
    how: Acting,
    instances: float = 64.0,
    asynchronous: bool = False,
    gpus: int = 8,
    trajectories: float = 64.0,
    gib: float = 40.0,
) -> ActingTime:
    asked = Trajectories(trajectories, instances, np.array([gpus]))
    return acting_seconds(actor(how, hardware(), ONE, gib), asked, asynchronous)


def test_a_step_is_rounds_of_thinking_and_stepping() -> None:
    how = acting(inferences_mean=300.0, inferences_max=600.0)
    one, found = think(how), act(how, instances=32.0, trajectories=128.0)
    b, world = 32 / 8, 0.5
    rounds = 128 / 32 * 300
    expected = rounds * (one.fixed + b * one.each + world) + 300 * (one.fixed + world)
    assert found.seconds == pytest.approx(expected)
    assert found.running == pytest.approx([b])
    assert found.world_seconds == pytest.approx([(rounds + 300) * world])
    assert found.utilization == pytest.approx(rounds * (one.fixed + b * one.each) / expected)


def test_out_of_step_halves_of_the_environments_take_turns() -> None:
    how = acting()
    one = think(how)
    half = one.fixed + 4 * one.each
    turns = np.maximum(2 * half, half + 0.5)
    assert act(how, asynchronous=True).seconds == pytest.approx(300 * np.minimum(turns, one.fixed + 8 * one.each + 0.5))
    assert (act(how, asynchronous=True).seconds < act(how).seconds).all()


def test_a_lone_environment_cannot_take_turns() -> None:
    how = acting()
    one = think(how)
    assert act(how, instances=8.0, asynchronous=True).seconds == pytest.approx(64 / 8 * 300 * (one.seconds(ONE) + 0.5))


def test_worlds_bound_a_step_however_many_gpus_there_are() -> None:
    # 64 trajectories x 300 s x 50 steps a second / (64 instances x 100 steps a second)
    assert (act(acting(), asynchronous=True, gpus=64).seconds >= 150.0).all()


def test_a_robot_takes_real_time() -> None:
    robot = acting(kind="robot", steps_per_second=50.0)
    assert act(robot).world_seconds == pytest.approx([600.0])  # the longest of 64 at once takes ten minutes


def test_an_observation_costs_the_backbone_and_a_chunk_the_expert() -> None:
    backbone, head = shapes()
    none, ten = think(acting(passes=0)), think(acting(passes=10))
    peak = 989e12
    assert (none.each >= 2 * float(backbone.dense_active) * 828 / peak).all()
    assert (ten.each - none.each >= 10 * 2 * float(head.dense_active) * 50 / peak).all()
    assert (ten.fixed - none.fixed >= 10 * 2 * float(head.dense_active) / 3.35e12).all()  # its weights are read anew


def test_tokens_are_decoded_through_the_backbone() -> None:
    spoken = replace(acting(), head="tokens", passes=350, tokens_per_pass=1)
    assert (think(spoken).fixed > 350 * 2 * 3.2e9 / 3.35e12).all()
    assert (think(spoken).fixed > think(acting()).fixed).all()


def test_what_the_cache_cannot_hold_is_read_in_batches() -> None:
    backbone, _ = shapes()
    how = acting()
    held = float(kv_gib_per_token(backbone, ONE)[0] * how.observation_tokens_max)
    one = think(how, gib=held * 4.5)
    assert one.most == pytest.approx([4.0])
    assert one.seconds(np.array([8.0])) == pytest.approx(2 * one.fixed + 8 * one.each)
    assert np.isinf(act(how, gib=held * 0.5).seconds).all()


def test_simulators_on_the_gpus_take_their_memory() -> None:
    gpu = acting(runs_on="gpu", memory_bytes=2.0 * 2**30)
    assert np.isfinite(act(gpu, gib=20.0).seconds).all()  # eight simulators a GPU leave 4 GiB
    assert np.isinf(act(gpu, gib=16.0).seconds).all()
    assert (act(gpu, asynchronous=True).seconds > act(acting(), asynchronous=True).seconds).all()


passes = st.integers(1, 20)


@given(passes, passes, st.booleans())
def test_more_flow_steps_are_never_faster(one: int, other: int, asynchronous: bool) -> None:
    few, many = (act(acting(passes=count), asynchronous=asynchronous).seconds for count in sorted((one, other)))
    assert (few <= many).all()


@given(st.integers(56, 896), st.integers(56, 896))
def test_smaller_images_are_never_slower(one: int, other: int) -> None:
    def of(size: int) -> ActingTime:
        tokens = 60.0 + 3 * (size // 28) ** 2
        return act(acting(observation_tokens=tokens, observation_tokens_max=tokens + 68, patches_per_image=size // 14))

    small, large = sorted((one, other))
    assert (of(small).seconds <= of(large).seconds * (1 + 1e-12)).all()


@settings(max_examples=60)
@given(st.integers(1, 300), st.integers(1, 300), st.booleans(), st.sampled_from([0.5, 2.0, 40.0]))
def test_more_instances_are_never_slower(one: int, other: int, asynchronous: bool, gib: float) -> None:
    few, many = sorted((one, other))
    slow = act(acting(), float(few), asynchronous, trajectories=256.0, gib=gib).seconds
    fast = act(acting(), float(many), asynchronous, trajectories=256.0, gib=gib).seconds
    assert (fast <= slow * (1 + 1e-9)).all()


@given(st.sampled_from([1, 2, 4]))
def test_rows_are_independent(tp: int) -> None:
    how, gpus = acting(), np.array([8, 16, 32])
    many, single = actor(how, hardware(rows=3), np.full(3, tp), 40.0), actor(how, hardware(), np.array([tp]), 40.0)
    together = acting_seconds(many, Trajectories(64.0, 64.0, gpus), False).seconds
    alone = [acting_seconds(single, Trajectories(64.0, 64.0, gpus[[row]]), False).seconds[0] for row in range(3)]
    assert together == pytest.approx(alone)


def pi0_ms(views: int, engine: str) -> float:
    """One inference of pi0 on an RTX 4090: 224 x 224 images, a prompt of 20 tokens, 50 actions in 10 flow steps."""
    vlm = catalog().models["PaliGemma-3B (pi0 VLM)"]
    policy = replace(vlm, params=vlm.params + EXPERT_300M, vlm_params=vlm.params, action_params=EXPERT_300M)
    tokens = 20.0 + 256.0 * views
    how = acting(
        observation_tokens=tokens,
        observation_tokens_max=tokens,
        images=views,
        patches_per_image=256,
        passes=10,
        tokens_per_pass=50,
    )
    expert = expert_of(policy)
    assert expert is not None
    backbone = ModelShape.of(backbone_of(policy)).with_outputs(0)
    assert vlm.vision is not None
    backbone = backbone.with_images(vlm.vision, how.patches_per_token)
    head = ModelShape.of(expert).with_outputs(0)
    card = hardware("RTX-4090", 1, "pcie", None)
    replica = Replica(backbone, card, ONE, "bf16", Serving.planned(card, CAL, engine), CAL)
    one = inference_seconds(Actor(replica, head, how, np.array([10.0])))
    return float(one.seconds(np.array([1.0]))[0]) * 1e3


def test_pi0_takes_what_was_published() -> None:
    # arXiv 2510.26742: two views take over 100 ms in PyTorch, 40 to 50 ms once CUDA graphs hide the launches
    assert 100.0 < pi0_ms(2, "transformers") < 130.0
    assert 40.0 < pi0_ms(2, "vllm") < 50.0


@pytest.mark.parametrize(("views", "tuned"), [(1, 23.6), (2, 32.9), (3, 39.2)])
def test_no_engine_beats_kernels_tuned_by_hand(views: int, tuned: float) -> None:
    # github.com/Dexmal/realtime-vla: hand-written kernels for this model and card
    assert tuned < pi0_ms(views, "vllm") < 1.7 * tuned
