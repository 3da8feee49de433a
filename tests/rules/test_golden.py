"""The rows of each family of rules alone, as an LP text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rlopt.problem import Problem
from rlopt.problem.phases import Phase
from rlopt.request import Environment, Metrics, ModelOption, ModelRef
from rlopt.rules import FAMILIES
from rlopt.search.formulate import formulate
from rlopt.workloads import Role
from rlopt.workloads.picked import Picked
from tests.costs.golden import matches
from tests.costs.hand import HOUR, MODEL, columns_of, hand_problem, request

FOLDER = Path(__file__).parent / "golden"
LIMITS: dict[str, Any] = {
    "deadline": 2 * HOUR,
    "confidence": 0.9,
    "budget": {
        "total": {"amount": 250.0, "currency": "USD"},
        "compute": {"amount": 90.0, "currency": "USD"},
        "storage": {"amount": 40.0, "currency": "USD"},
        "cache": {"amount": 1.0, "currency": "USD"},
    },
    "hourly_budget": {"amount": 14.0, "currency": "USD"},
    "max_gpus": 4,
    "quotas": [{"gpu": "T", "pricing": "spot", "max_gpus": 0}, {"provider": "south", "max_gpus": 8}],
}
FLOORS: dict[str, Any] = {
    "group_size": 16,
    "samples_per_update": 200,
    "informative_groups": 0.995,
    "update_precision": "bf16",
    "on_demand_share": 0.5,
    "max_staleness": 0,
    "score_precision": "bf16",
    "data_precision": "jpeg90",
    "value_bins": 201,
    "value_params": 10**10,
    "replay_buffer": 2000,
    "simulator_bandwidth": 100e9,
    "core_metrics": {"every": 10},
    "text_log_rate": 0.5,
    "reward_quality": 0.9,
    "checkpoints": {"keep_recent": 2, "keep_best": 1, "history_every": 18, "recovery_time": 600.0},
}


def acting_problem(**sections: Any) -> Problem:
    """The problem by hand, its samples taken on simulators and its values in 101 bins of a model of its own."""
    asked = request(**sections)
    world = Environment(kind="simulator", steps_per_second=100.0)
    job = asked.job.model_copy(update={"environment": world, "metrics": Metrics(every=5)})
    problem = hand_problem(asked.model_copy(update={"job": job}))
    workload = replace(problem.workload, roles=(*problem.workload.roles, Role("value", MODEL, True, outputs=101)))
    picked = Picked("reward", 0, ModelOption(model=ModelRef(name="small"), accuracy=0.85))
    variant = replace(problem.variants[0], value_bins=101, picked=picked)
    undone = Phase("teacher training", None, None, 0.0, 0.0, 1, "")
    phases = (undone,) if sections["limits"] else ()
    return replace(problem, workload=workload, variants=(variant,), phases=phases)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda module: module.NAME)
def test_the_rows_of_a_family(family: ModuleType) -> None:
    problem = acting_problem(limits=LIMITS, floors=FLOORS)
    rules = family.rules(problem)
    assert rules
    matches(formulate(columns_of(problem), problem, "time", rules), FOLDER / f"{family.NAME}.lp")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda module: module.NAME)
def test_what_the_request_leaves_out_is_no_row(family: ModuleType) -> None:
    problem = acting_problem(limits={}, floors={})
    rows = [rule for rule in family.rules(problem) if rule.amount is not None]
    assert [rule.name for rule in rows] == (["choice"] if family.NAME == "choice" else [])


def test_every_family_has_its_golden_text_and_no_text_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.lp")} == {family.NAME for family in FAMILIES}
