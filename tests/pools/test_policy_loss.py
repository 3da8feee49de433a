"""Losses of a policy that acts: the likelihood of ppo in stages, seconds and memory; a value head on a backbone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.costs.text_log import gb_per_sample
from rlopt.estimates import Layout, Tokens, loop_factors
from rlopt.pools.context import Context
from rlopt.pools.training.memory import training_memory
from rlopt.pools.training.seconds import stage_seconds
from rlopt.units import GIB
from rlopt.workloads.shared_value import head_model
from tests.costs.rich import rich_problem
from tests.estimates.flat import forward_seconds, update_tensors
from tests.estimates.parts import layout
from tests.pools.parts import context
from tests.workloads.asked import POLICY, VLA

BINS: dict[str, Any] = {"floors": {"value_bins": 201}}
FROZEN: dict[str, Any] = {"trainable": {"frozen": ["vision", "backbone"]}}
SAMPLES, KEPT = 64 * 300, 64 * 300 / 2  # trajectories · inferences; what the filter leaves


def vla(loss: str = "awr", steps: int = 5, head: str = "flow", **job: Any) -> Context:
    action = VLA["action"] | {"head": head, "flow_steps": steps if head == "flow" else None, "policy_loss": loss}
    action |= {"tokens_per_action": 7} if head == "tokens" else {}
    return context("vla", {**FROZEN, "action": action, **job}, **BINS)


def shared(loss: str = "awr", **job: Any) -> Context:
    """The same with a value model of 400M on the policy's frozen backbone."""
    value = {"shared": {"share": "backbone", "head": 400_000_000}}
    models = {"policy": POLICY, "value": head_model(POLICY, 400_000_000)}
    action = VLA["action"] | {"policy_loss": loss}
    roles = {"models": {"policy": "text", "value": value}}
    return context("vla", {**FROZEN, **roles, "action": action, "value_stride": None, **job}, models, **BINS)


def seconds(here: Context, at: Layout) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for kind, role, time in stage_seconds(here, here.hardware, at, 1, "bf16", "bf16"):
        found[kind, role] = found.get((kind, role), 0.0) + float(time[0])
    return found


def passes(here: Context) -> list[tuple[str, str, float, float]]:
    """(name, role, sequences of a step, mean tokens) of every pass that trains or scores."""
    stages = [stage for stage in here.workload.stages if stage.kind in ("forward", "update")]
    return [(s.name or s.kind, s.role, here.sequences(s, 1), s.lengths.mean) for s in stages]


def test_only_a_ratio_of_likelihoods_adds_a_stage_and_only_a_flow_head_unrolls_it() -> None:
    seen, chunk = 60 + 3 * 256, 50
    plain = [("forward", "value", SAMPLES, seen), ("update", "value", SAMPLES / 2, seen)]
    update = [("update", "policy", KEPT, seen), ("update", "action", KEPT, chunk)]
    for loss in ("awr", "advantage_conditioned"):
        assert passes(vla(loss)) == [*plain, *update]
    for steps, head in ((5, "flow"), (1, "one_step")):
        acts = [("policy", KEPT, seen), ("action", KEPT, chunk * steps)]
        expected = [(name, *part) for name in ("likelihood", "update") for part in acts]
        assert passes(vla("ppo", head=head)) == [*plain, *expected]
    tokens = [(name, "policy", KEPT, seen + chunk * 7) for name in ("likelihood", "update")]
    assert passes(vla("ppo", head="tokens", trainable={"kind": "full"})) == [*plain, *tokens]


def test_seconds_of_a_likelihood_by_hand() -> None:
    here, at = vla("ppo"), layout(dp=8)
    found = seconds(here, at)
    chunk, calibration, hardware = Tokens.of(250.0, 250, 0.0, 0, True), here.calibration, here.hardware
    shape = here.shapes["action"]
    alone = forward_seconds(shape, hardware, at, chunk, "bf16", KEPT, calibration, stack=here.stack(at))
    slower = loop_factors(here.framework, hardware.generation, shape.moe, calibration)[1]
    assert found["likelihood", "action"] == pytest.approx(float((slower * alone)[0]))
    # two FLOPs a weight, 9,600 kept samples of five passes over 50 tokens each, eight H100 of 989 TFLOP/s
    at_peak = 2 * 0.86e9 * 5 * 50 * KEPT / (8 * 989e12)
    assert at_peak < found["likelihood", "action"] < 10 * at_peak
    assert found["likelihood", "policy"] > 2 * 3.21e9 * 828 * KEPT / (8 * 989e12)
    # one sequence at a time is bound by launches; of many at once five passes take five times as long
    many = layout(dp=8, micro_batch=64)
    full, single = seconds(here, many), seconds(vla("ppo", steps=1), many)
    assert 4.0 < full["likelihood", "action"] / single["likelihood", "action"] < 5.5
    assert full["likelihood", "policy"] == pytest.approx(single["likelihood", "policy"])


def test_an_update_under_ppo_keeps_the_activations_of_every_flow_step() -> None:
    at, found = layout(), {}
    for loss in ("awr", "ppo"):
        here = vla(loss)
        memory = training_memory(here, at, "bf16", "bf16")
        found[loss] = {stage.stage: stage for stage in memory.stages}
    assert set(found["ppo"]) == set(found["awr"]) | {"forward policy", "forward action"}
    here = vla()
    tensors = [
        update_tensors(
            here.shapes["action"],
            here.trainings["action"],
            at,
            Tokens.of(float(count), count, 0.0, 0, True),
            "bf16",
            here.calibration,
            here.stack(at, here.trainings["action"]),
        ).activations
        for count in (50, 250)
    ]
    more = found["ppo"]["update policy"].parts["activations"] - found["awr"]["update policy"].parts["activations"]
    assert more == pytest.approx(tensors[1] - tensors[0])
    assert tensors[1] == pytest.approx(5 * tensors[0])
    assert found["ppo"]["update value"].total() == found["awr"]["update value"].total()


@settings(max_examples=25, deadline=None)
@given(steps=st.integers(1, 12), more=st.integers(1, 12), loss=st.sampled_from(["awr", "ppo"]))
def test_more_flow_steps_never_take_less(steps: int, more: int, loss: str) -> None:
    few, many, at = vla(loss, steps), vla(loss, steps + more), layout(dp=8)
    times = [sum(seconds(here, at).values()) for here in (few, many)]
    needed = [training_memory(here, at, "bf16", "bf16").peak() for here in (few, many)]
    if loss == "awr":
        assert (times[0], needed[0]) == (pytest.approx(times[1]), pytest.approx(needed[1]))
    else:
        assert times[0] < times[1]
        assert np.all(needed[0] <= needed[1])


def test_the_text_of_a_sample_is_written_once_whatever_the_loss_runs() -> None:
    problem = rich_problem(acting=True)
    found = [vla(loss) for loss in ("awr", "ppo")]
    sizes = [gb_per_sample(replace(problem, request=here.request, workload=here.workload)) for here in found]
    assert sizes[0] == pytest.approx(sizes[1])
    assert sizes[0] > 0.0


def test_a_shared_backbone_is_held_once_and_read_once_where_inputs_coincide() -> None:
    seen = 60 + 3 * 256
    below, score = ("forward", "policy", SAMPLES, seen), ("forward", "value", SAMPLES, seen)
    learns, kept = ("update", "value", KEPT, seen), ("forward", "policy", KEPT, seen)
    policy = [("update", "policy", KEPT, seen), ("update", "action", KEPT, 50)]
    assert passes(shared()) == [below, score, learns, *policy]
    # another prompt than the policy's, or other frames: the head's own training reads the backbone again
    assert passes(shared("advantage_conditioned")) == [below, score, kept, learns, *policy]
    assert len(passes(shared(value_stride=0.5))) == 6


def test_memory_of_a_value_head_by_hand() -> None:
    at, here, own = layout(), shared(), vla(value_stride=None)
    memory = {s.stage: s for s in training_memory(here, at, "bf16", "bf16").stages}
    head = 400_000_000 + 201 * 2560
    # one pass updates policy and head: bf16 weights of both, states of the expert and the head alone
    assert "update value" not in memory
    stage = memory["update policy"]
    assert stage.parts["optimizer"] == pytest.approx([12 * (0.86e9 + head) / GIB], rel=1e-6)
    assert stage.parts["weights"] == pytest.approx([2 * (4.74e9 + head) / GIB], rel=0.02)
    alone = {s.stage: s for s in training_memory(own, at, "bf16", "bf16").stages}
    assert alone["update policy"].parts["weights"] - 2 * 0.67e9 / GIB == pytest.approx(
        stage.parts["weights"] - 2 * 0.4e9 / GIB, rel=0.02
    )


def test_a_shared_backbone_runs_forward_and_the_head_trains() -> None:
    here, at = shared(), layout(dp=8)
    found = seconds(here, at)
    assert found["forward", "policy"] > 2 * 3.21e9 * 828 * SAMPLES / (8 * 989e12)
    assert found["update", "value"] > 6 * 0.4e9 * 828 * KEPT / (8 * 989e12)
    assert found["update", "value"] < 6 * 6 * 0.4e9 * 828 * KEPT / (8 * 989e12)
