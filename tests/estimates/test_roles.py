"""Shapes and training of roles: narrow heads, image towers, frozen parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.estimates import Layout, ModelShape, Training
from rlopt.estimates.roles import (
    frozen_training,
    part_params,
    role_shape,
    role_training,
    trainable_share,
    trained_params,
)
from rlopt.estimates.training.activations import logits_gib
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.states import planned_stack, training_states
from rlopt.facts import Model
from rlopt.request import Request
from rlopt.units import GIB
from rlopt.workloads import Role, build_workload
from tests.estimates.flat import forward_seconds, update_parts, update_seconds
from tests.estimates.parts import FULL, calibration, hardware, layout, tokens
from tests.workloads import asked

CAL = calibration()
UNTIED = replace(asked.TEXT, tie_embeddings=False)
SEEING = replace(asked.TEXT, vision=asked.TOWER, params=1.4e9, active_params=1.0e9)


def frozen(*parts: str) -> dict[str, Any]:
    return {"trainable": {"kind": "frozen", "frozen": list(parts)}}


def text(*parts: str, model: Model = asked.TEXT) -> tuple[Request, Role]:
    return asked.request("sft", frozen(*parts)), Role("policy", model, True)


def robot(*parts: str) -> tuple[Request, dict[str, Role]]:
    request = asked.request("vla", frozen(*parts) if parts else None)
    return request, {role.name: role for role in build_workload(request, asked.ROBOT).roles}


def test_a_score_takes_the_place_of_the_vocabulary() -> None:
    full = ModelShape.of(UNTIED)
    one = full.with_outputs(1)
    hidden, vocab = UNTIED.hidden, UNTIED.vocab
    assert full.params - one.params == pytest.approx(hidden * (vocab - 1))
    assert (one.head, one.vocab, one.dense) == (hidden, 1, full.dense)
    how = planned_stack(layout())
    count = np.array([4096.0])
    wide, narrow = (logits_gib(shape, layout(), count, how, CAL) for shape in (full, one))
    assert wide / narrow == pytest.approx(vocab)


def test_a_tied_table_stays_when_the_head_goes() -> None:
    full = ModelShape.of(asked.TEXT)
    one = full.with_outputs(1)
    assert one.params == full.params + asked.TEXT.hidden
    assert one.tables == full.embedding + asked.TEXT.hidden
    assert full.with_outputs(0).params == full.params


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_more_bins_never_take_less(one: int, other: int) -> None:
    few, many = (
        role_shape(Role("value", asked.VALUE, True, outputs=bins)) for bins in sorted((one, other))
    )  # fmt: skip
    at, how = layout(micro_batch=4), (hardware(), layout(micro_batch=4), tokens(), "bf16")
    less, more = (update_parts(shape, FULL, None, at, tokens(), "bf16", CAL).total() for shape in (few, many))
    assert (less <= more).all()
    fast, slow = (update_seconds(shape, FULL, *how, 64.0, 1, 1, CAL) for shape in (few, many))
    assert (fast <= slow).all()


def test_a_tower_works_once_per_patch() -> None:
    plain = ModelShape.of(SEEING)
    seeing = role_shape(Role("policy", SEEING, True, patches_per_token=2.0))
    assert seeing.dense_active - plain.dense_active == pytest.approx(2.0 * asked.TOWER.params)
    kept = 2.0 * 27 / 16 * (8 * 1152 + 2 * 4304)
    assert seeing.activation_units - plain.activation_units == pytest.approx(kept)
    assert role_shape(Role("policy", SEEING, True)) == plain


@pytest.mark.parametrize("model", [asked.TEXT, UNTIED, SEEING, asked.LARGE])
def test_parts_add_up_to_the_model(model: Model) -> None:
    parts = part_params(Role("policy", model, True))
    assert sum(parts.values()) == pytest.approx(model.params)
    assert parts["vision"] == (asked.TOWER.params if model.vision else 0.0)
    assert all(count >= 0 for count in parts.values())


def test_a_tied_table_is_frozen_with_either_of_its_names() -> None:
    table = asked.TEXT.hidden * asked.TEXT.vocab
    for part in ("embeddings", "head"):
        request, role = text(part)
        assert trained_params(role, request.job.trainable) == pytest.approx(asked.TEXT.params - table)
    request, role = text("head", model=UNTIED)
    assert trained_params(role, request.job.trainable) == pytest.approx(UNTIED.params - table)


def test_the_robot_job_trains_the_expert_and_the_value_model() -> None:
    request, roles = robot("vision", "backbone")
    trainable = request.job.trainable
    assert trained_params(roles["policy"], trainable) == 0.0
    assert trained_params(roles["action"], trainable) == 0.86e9
    value = trained_params(roles["value"], trainable)
    assert value == pytest.approx(0.67e9 + 201 * 640)  # a tied table stays, bins come
    assert trainable_share(roles["action"], trainable) == 1.0


def test_a_frozen_backbone_runs_forward_only() -> None:
    request, roles = robot("vision", "backbone")
    backbone, expert = (role_training(request, roles[name]) for name in ("policy", "action"))
    assert (backbone.trainable_share, backbone.backward, backbone.frozen_bytes) == (0.0, False, 2.0)
    assert (expert.trainable_share, expert.backward) == (1.0, True)
    once = Passes.of(backbone, layout(recompute=2))
    assert [float(np.ravel(value)[0]) for value in (once.gemm, once.attention, once.traffic, once.collective)] == [
        1.0
    ] * 4
    shape, at, card = role_shape(roles["policy"]), layout(micro_batch=4), hardware()
    seconds = update_seconds(shape, backbone, card, at, tokens(828), "bf16", 64.0, 1, 1, CAL)
    scored = forward_seconds(shape, card, at, tokens(828), "bf16", 64.0, CAL)
    loop = CAL.by_engine("training", "step_s", np.array([0]))
    assert (seconds >= scored).all()
    assert (seconds <= scored + 2 * loop).all()


def test_a_backbone_that_learns_sends_gradients_through_a_frozen_expert() -> None:
    request, roles = robot("action")
    expert = role_training(request, roles["action"])
    assert (expert.trainable_share, expert.backward) == (0.0, True)
    assert float(np.ravel(Passes.of(expert, layout()).gemm)[0]) == 2.0  # forward, and gradients of the inputs
    assert trained_params(roles["action"], request.job.trainable) == 0.0


def test_a_head_alone_is_trained_without_a_backward_pass_through_the_layers() -> None:
    request, role = text("backbone", "embeddings", model=UNTIED)
    training = role_training(request, role)
    assert (training.backward, training.head_share, training.gemm_share) == (False, 1.0, 0.0)
    passes = Passes.of(training, layout())
    assert [float(np.ravel(value)[0]) for value in (passes.gemm, passes.head)] == [1.0, 2.0]


def test_embeddings_alone_need_the_whole_way_back() -> None:
    request, role = text("backbone", "head", model=UNTIED)
    training = role_training(request, role)
    assert (training.backward, training.head_share, training.gemm_share) == (True, 0.0, 0.0)
    passes = Passes.of(training, layout())
    assert [float(np.ravel(value)[0]) for value in (passes.gemm, passes.head)] == [2.0, 2.0]


def test_nothing_frozen_is_full_training() -> None:
    parts = part_params(Role("policy", UNTIED, True))
    all_of_it = frozen_training(parts, (), "adamw")
    for field in ("gemm", "attention", "traffic", "collective", "head"):
        assert getattr(Passes.of(all_of_it, layout()), field) == pytest.approx(
            getattr(Passes.of(FULL, layout()), field)
        )
    states = [training_states(ModelShape.of(UNTIED), how, layout(), CAL) for how in (all_of_it, FULL)]
    assert states[0].optimizer == pytest.approx(states[1].optimizer)


def test_optimizer_states_are_those_of_the_trained_part() -> None:
    request, roles = robot("vision", "backbone")
    at = layout()
    states = {
        name: training_states(role_shape(role), role_training(request, role), at, CAL) for name, role in roles.items()
    }
    # 12 bytes of master weights and moments a parameter: 0.86e9 in the expert, 0.67e9 in the value model
    assert states["policy"].optimizer == pytest.approx(0.0)
    assert states["policy"].gradients == pytest.approx(0.0)
    assert states["action"].optimizer == pytest.approx(12 * 0.86e9 / GIB)
    assert states["value"].optimizer == pytest.approx(12 * (0.67e9 + 201 * 640) / GIB)
    assert states["policy"].weights == pytest.approx(2 * 3.88e9 / GIB)


PARTS = ("vision", "backbone", "embeddings", "head")
some = st.sets(st.sampled_from(PARTS), min_size=1, max_size=3).map(lambda parts: tuple(sorted(parts)))
layouts = st.builds(
    lambda tp, dp, sharding, micro_batch, recompute: layout(
        tp=tp, dp=dp, sharding=sharding, micro_batch=micro_batch, recompute=recompute
    ),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([1, 4]),
    st.sampled_from([0, 1, 2]),
)


@given(some, layouts, st.sampled_from([asked.TEXT, UNTIED, SEEING]))
def test_frozen_parts_never_take_more(parts: tuple[str, ...], at: Layout, model: Model) -> None:
    request, role = text(*parts, model=model)
    shape, training = role_shape(role), role_training(request, role)
    assert memory(shape, training, at) <= memory(shape, FULL, at) * (1 + 1e-12)
    assert seconds(shape, training, at) <= seconds(shape, FULL, at) * (1 + 1e-12)


def memory(shape: ModelShape, training: Training, at: Layout) -> float:
    return float(update_parts(shape, training, None, at, tokens(), "bf16", CAL).total()[0])


def seconds(shape: ModelShape, training: Training, at: Layout) -> float:
    return float(update_seconds(shape, training, hardware(), at, tokens(), "bf16", 64.0, 2, 1, CAL)[0])


@given(some, layouts)
def test_training_takes_more_than_scoring(parts: tuple[str, ...], at: Layout) -> None:
    request, role = text(*parts, model=UNTIED)
    if sum(part_params(role)[part] for part in PARTS if part not in parts) == 0.0:
        return  # nothing is left to train: refused where the request is read
    shape = role_shape(role)
    scored = forward_seconds(shape, hardware(), at, tokens(), "bf16", 64.0, CAL)
    assert seconds(shape, role_training(request, role), at) >= scored[0] * (1 - 1e-12)


def test_adapters_go_on_both_parts_of_a_policy() -> None:
    request = asked.request("vla", {"trainable": {"kind": "lora", "lora_rank": 16}})
    roles = {role.name: role for role in build_workload(request, asked.ROBOT).roles}
    kinds = {name: role_training(request, role).kind for name, role in roles.items()}
    assert kinds == {"policy": "lora", "action": "lora", "value": "full"}
    count = trained_params(roles["action"], request.job.trainable)
    assert 0.0 < count < 0.05 * 0.86e9
    assert trainable_share(roles["action"], request.job.trainable) == pytest.approx(count / 0.86e9)


def test_adapters_are_as_before() -> None:
    request = asked.request("sft", {"trainable": {"kind": "lora", "lora_rank": 16, "base": "int4"}})
    training = role_training(request, Role("policy", asked.TEXT, True))
    assert (training.kind, training.lora_rank, training.base_bytes) == ("lora", 16, 0.55)
    rank = ModelShape.of(asked.TEXT).lora_params(16)
    assert trained_params(Role("policy", asked.TEXT, True), request.job.trainable) == pytest.approx(rank)
    critic = Role("critic", asked.TEXT, True, outputs=1)
    assert role_training(request, critic).kind == "full"
    assert trained_params(critic, request.job.trainable) == pytest.approx(asked.TEXT.params + asked.TEXT.hidden)
    assert trained_params(replace(critic, trained=False), request.job.trainable) == 0.0
