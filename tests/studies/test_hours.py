"""The hours of a run, part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.assembly.audit import faults
from rlopt.problem import Seconds
from tests.costs.hand import HOUR, columns_of, hand_problem
from tests.costs.test_twins import plan_of


@pytest.mark.parametrize("gb_s", [100.0, 0.02])
def test_the_hours_of_a_run_add_up_from_what_the_plan_says(gb_s: float) -> None:
    problem = hand_problem()
    tiers = replace(problem.tiers, gb_s_per_node=np.full_like(problem.tiers.gb_s_per_node, gb_s))
    once = replace(problem.colocated, once=Seconds(*[np.full(len(problem.colocated), s) for s in (1800.0, 0.0)]))
    problem = replace(problem, tiers=tiers, colocated=once)
    columns = columns_of(problem)
    plan = plan_of(columns, 0, problem)
    time = plan.time
    assert time is not None
    assert time.once_hours == 0.5
    state = problem.checkpoint.resumable_bytes / 1e9
    interval, nodes, gpus = int(columns.interval_steps[0]), int(columns.nodes[0]), int(problem.colocated.gpus[0])
    snapshot = state / problem.operations.checkpoint_snapshot_gb_s_per_gpu / gpus
    late = max(state / (gb_s * nodes) - interval * time.step_seconds, 0.0)
    assert (late > 0.0) is (gb_s < 1.0)
    assert time.saving_hours == pytest.approx(time.steps / interval * (snapshot + late) / HOUR)
    parts = time.startup_hours + time.once_hours + time.steps * time.step_seconds / HOUR + time.saving_hours
    assert time.failure_free_hours == pytest.approx(parts, rel=1e-9)
    assert not any("add up" in text for text in faults(plan, problem))
    for name in ("once_hours", "saving_hours", "startup_hours", "failure_free_hours"):
        wrong = time.model_copy(update={name: getattr(time, name) + 0.01})
        assert any("add up" in text for text in faults(plan.model_copy(update={"time": wrong}), problem)), name
