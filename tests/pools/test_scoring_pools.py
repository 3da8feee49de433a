"""Pools that only score, and frozen models on the pool that trains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlopt import api
from rlopt.estimates import loop_factors
from rlopt.estimates.training.scoring import scoring_layout
from rlopt.facts import Model
from rlopt.pools.context import Context, context_of
from rlopt.pools.scoring.table import replicas, scoring_parts, scoring_seconds, scoring_table
from rlopt.pools.training.memory import role_layout, training_memory
from rlopt.pools.training.table import training_table
from rlopt.units import GIB
from tests.estimates.flat import forward_seconds
from tests.estimates.parts import layout
from tests.pools.parts import MOE, context
from tests.workloads.asked import LARGE, TEXT

OPD = next((Path(__file__).parents[2] / "examples" / "requests").glob("13-*.yaml"))

FP8 = {"choices": {"precision": {"score": ["fp8"]}}}


def opd(teacher: Model = LARGE, policy: Model = TEXT, **parts: Any) -> Context:
    return context("opd", models={"policy": policy, "teacher": teacher}, **parts)


def apart(found: Context, *roles: str) -> Context:
    """The scoring pool of ``roles`` alone."""
    workload = found.workload
    return context_of(
        found,
        replace(
            workload,
            roles=tuple(role for role in workload.roles if role.name in roles),
            stages=tuple(stage for stage in workload.stages if stage.kind == "forward" and stage.role in roles),
        ),
    )


def test_degrees_divide_heads_and_experts() -> None:
    assert replicas(apart(opd(), "teacher"), 8) == [(1, 1), (2, 1), (4, 1), (8, 1)]
    six = replace(LARGE, heads=6)
    assert replicas(apart(opd(six), "teacher"), 8) == [(1, 1), (2, 1)]
    assert replicas(apart(opd(MOE), "teacher"), 8) == [(1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (1, 4), (1, 8)]
    assert replicas(apart(opd(replace(MOE, experts=6)), "teacher"), 4)[3:] == [(1, 2)]
    assert replicas(apart(opd(), "teacher"), 1) == [(1, 1)]


@pytest.mark.parametrize(("tp", "ep"), [(8, 1), (1, 8)])
def test_experts_of_a_teacher_are_split_or_spread(tp: int, ep: int) -> None:
    found = apart(opd(MOE, **FP8), "teacher")
    shape = found.shapes["teacher"]
    at = scoring_layout(np.array([tp]), np.array([8 // tp]), 1, np.array([ep]))
    size = found.calibration.size_bytes("fp8")
    dense = (shape.dense + shape.tables) / tp
    weights = scoring_parts(found, at, "fp8")["forward teacher"]["weights"]
    assert weights == pytest.approx([(dense + shape.experts_total / 8) * size / GIB])


def test_all_models_of_a_pool_are_held_at_once() -> None:
    found = context("ppo", {"models": {"policy": "text", "critic": "policy", "reward": "large"}})
    both = apart(found, "reward", "reference")
    at = scoring_layout(np.array([2]), np.array([4]))
    parts = scoring_parts(both, at, "bf16")
    alone = [float(scoring_parts(apart(found, name), at, "bf16")[f"forward {name}"]["weights"][0])
             for name in ("reward", "reference")]  # fmt: skip
    for stage in parts.values():
        assert stage["weights"] == pytest.approx([sum(alone)])
    assert alone[0] > alone[1]


def test_a_pass_is_as_slow_as_the_loop_makes_it() -> None:
    found = apart(opd(), "teacher")
    stage = found.workload.stages[0]
    at = scoring_layout(np.array([2]), np.array([4]), 4)
    alone = forward_seconds(
        found.shapes["teacher"], found.hardware, at, found.tokens(stage), "bf16", 16.0, found.calibration,
        stack=found.stack(at),
    )  # fmt: skip
    factor = loop_factors(found.framework, found.hardware.generation, False, found.calibration)[1]
    [(role, seconds)] = scoring_seconds(found, found.hardware, at, 1, "bf16")
    assert role == "teacher"
    assert seconds == pytest.approx(factor * alone)


def test_what_does_not_fit_is_left_out() -> None:
    large = replace(LARGE, params=70e9, active_params=70e9)
    table = scoring_table(apart(opd(large, nodes=2), "teacher"))
    assert table is not None
    assert len(table) > 0
    assert table.layout.tp.min() == 4  # 140 GB over two cards of 80 GB leave nothing for the rest
    assert set(table.nodes.tolist()) == {1, 2}
    assert len(table) < table.tried
    more = table.nodes == 2
    assert table.seconds[1][more].min() < table.seconds[1][~more].min()


def test_a_step_that_falls_back_scores_in_sixteen_bits() -> None:
    plain = apart(opd(), "teacher")
    asked = replace(plain, workload=replace(plain.workload, fallback_share=0.25))
    at = scoring_layout(np.array([1]), np.array([8]))
    (low, high), found = (
        (scoring_seconds(plain, plain.hardware, at, 1, name)[0][1] for name in ("fp8", "bf16")),
        scoring_seconds(asked, plain.hardware, at, 1, "fp8")[0][1],
    )
    assert found == pytest.approx(0.75 * low + 0.25 * high)
    held = scoring_parts(asked, at, "fp8")["forward teacher"]["weights"]
    assert held == pytest.approx(scoring_parts(plain, at, "bf16")["forward teacher"]["weights"])


def test_a_mixture_beside_a_dense_policy_splits_its_experts_over_tp() -> None:
    found, at = opd(MOE), layout(tp=4, dp=2)
    assert role_layout(found, "teacher", at).etp.tolist() == [4]
    assert role_layout(found, "policy", at) is at
    assert role_layout(opd(MOE, MOE), "teacher", at) is at
    held = training_memory(found, at, "bf16", "bf16").stages
    weights = {stage.stage: float(stage.parts["weights"][0]) for stage in held}
    assert weights["update policy"] == pytest.approx((TEXT.params + MOE.params) * 2 / 4 / GIB, rel=0.01)


def test_layouts_of_a_shared_pool_divide_the_teacher_too() -> None:
    table = training_table(opd(replace(LARGE, heads=12)), (0,), "bf16")
    assert table is not None
    assert set(table.layout.tp.tolist()) == {1, 2, 4}
    experts = training_table(opd(replace(MOE, experts=12), MOE), (0,), "bf16")
    assert experts is not None
    assert set(experts.layout.ep.tolist()) <= {1, 2, 4}


def test_what_never_changes_is_the_pools_fixed_share() -> None:
    shared = api.solve(api.load(OPD, ["choices.scoring=[shared]"]), short_frontier=False)
    apart = api.solve(api.load(OPD, ["choices.scoring=[own]", "choices.placements=[async]"]), short_frontier=False)
    train = next(pool for pool in shared.pools if pool.name == "train" or pool.name == "main")
    assert train.memory is not None
    # Qwen3-32B at the precision that it scores in, beside the student's own weights
    size = {"bf16": 2.0, "fp8": 1.0}[shared.decisions.precision.score] if shared.decisions else 0.0
    degree = (train.layout.tp or 1) * (train.layout.dp or 1 if train.layout.sharding == "zero3" else 1)
    assert train.memory.frozen_gib == pytest.approx(32.76e9 * size / 2**30 / degree, rel=0.02)
    alone = {pool.name: pool.memory.frozen_gib for pool in apart.pools if pool.memory is not None}
    assert alone["train"] == 0.0
    assert alone["score"] > 0.0


def test_a_reward_model_without_any_machine_leaves_no_plan_and_no_fault() -> None:
    from tests.studies.small import asked, solved

    request = asked("grpo", choices={"providers": ["lambda"], "regions": "any", "gpus": ["MI300X"], "placements": None})
    assert solved(request).status == "infeasible"
