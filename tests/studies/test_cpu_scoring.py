"""Reward models on machines without GPUs: sized and chosen by the program, billed from the CPU catalog."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.answers.plan import Plan, Pool
from rlopt.api import problem_of
from rlopt.costs import bill
from rlopt.errors import InputError, NotSupportedError
from rlopt.facts.files.folder import load_catalog
from rlopt.market.cpu_machines import SCORERS
from rlopt.reports.check.sentences import derived
from rlopt.request import Request
from tests.studies.small import LARGE, SMALL, asked, chosen, solved, usd

FACTS = load_catalog()

GIB = 4.0
"""Memory of a process."""


def scored(seconds: float, name: str = LARGE, processes: tuple[int, ...] = (1, 8), **sections: Any) -> Request:
    """A grpo request whose reward model was measured without GPUs: vCPU-seconds a sample, in processes of 4 vCPUs."""
    cpu = {"vcpu_seconds_per_sample": seconds, "vcpus": 4, "memory": "4 GiB", "processes": list(processes)}
    return asked("grpo", {"reward": {"model": name, "cpu": cpu}}, **sections)


def machines(plan: Plan) -> Pool:
    """The plan's machines that score without GPUs."""
    (found,) = [pool for pool in plan.pools if pool.name == SCORERS]
    return found


def test_a_fast_measurement_moves_scoring_to_cpus_and_a_slow_one_leaves_it_on_gpus() -> None:
    fast, slow, plain = solved(scored(0.002)), solved(scored(40.0)), solved(asked("grpo", {"reward": LARGE}))
    assert fast.decisions is not None
    assert fast.decisions.scoring == {"on": "cpu", "processes": 1}
    assert usd(fast) < usd(plain) - 0.1
    assert slow.decisions is not None
    assert slow.decisions.scoring is None
    assert usd(slow) == pytest.approx(usd(plain), abs=0.005)


def test_more_processes_where_a_step_waits_for_them() -> None:
    sizes = []
    for seconds in (0.002, 8.0):
        plan = solved(scored(seconds, choices={"scoring": ["cpu"]}))
        assert plan.decisions is not None
        assert plan.decisions.scoring is not None
        sizes.append(plan.decisions.scoring["processes"])
    assert sizes == [1, 8]


def test_by_hand() -> None:
    """64 prompts x K 4 = 256 samples, 8 processes of 4 vCPUs, 8 vCPU-seconds a sample: 32 x 2 s = 64 s a step."""
    plan = solved(scored(8.0, SMALL, choices={"scoring": ["cpu"]}))
    assert plan.time is not None
    (stage,) = [one for one in plan.time.stages if one.pool == SCORERS]
    assert stage.seconds == 32 * 2.0
    assert plan.time.step_seconds > stage.seconds
    pool = machines(plan)
    catalog = problem_of(scored(8.0)).catalog
    (offer,) = [row for row in catalog.cpu_offers if row.id == pool.offer]
    fits = min(offer.vcpus // 4, offer.memory_gib // GIB)
    assert pool.nodes == -(-8 // fits)
    assert pool.usd_per_hour == pytest.approx(pool.nodes * offer.price_per_hour)
    assert all(
        -(-8 // min(row.vcpus // 4, row.memory_gib // GIB)) * row.price_per_hour >= pool.usd_per_hour - 1e-9
        for row in catalog.cpu_offers
        if row.provider == "aws" and row.region == "us-east-1" and row.vcpus >= 4 and row.memory_gib >= GIB
        if row.pricing == "on_demand" and row.grade == "list" and row.confidence in ("high", "medium")
    )
    assert plan.cost is not None
    (line,) = [one for one in plan.cost.lines if one.item == "pool scorers"]
    assert line.usd == pytest.approx(pool.usd_per_hour * plan.time.failure_free_hours)
    disks = 30 * 1024**3 / 1e9 * pool.nodes
    assert pool.disk_gb == pytest.approx(disks)


def test_without_a_stated_memory_a_process_holds_the_weights_in_bf16() -> None:
    cpu = {"vcpu_seconds_per_sample": 1, "vcpus": 4, "processes": [2]}
    request = asked("grpo", {"reward": {"model": SMALL, "cpu": cpu}}, choices={"scoring": ["cpu"]})
    (variant,) = problem_of(request).variants
    assert variant.cpu is not None
    assert variant.cpu.memory_bytes == pytest.approx(2 * 494e6, rel=0.01)


def test_the_gpus_of_training_hold_no_reward_model() -> None:
    on, off = (problem_of(scored(0.002, choices={"scoring": [where]})) for where in ("shared", "cpu"))
    assert any(role.name == "reward" for role in on.variants[0].training.roles)
    assert not any(role.name == "reward" for role in off.variants[0].training.roles)
    assert any(role.name == "reward" for role in off.variants[0].workload.roles), "its weights are still loaded"


def test_size_and_place_are_chosen_together() -> None:
    cpu = {"vcpu_seconds_per_sample": 0.002, "vcpus": 4, "memory": "4 GiB", "processes": [1]}
    middle = "Qwen/Qwen2.5-3B-Instruct"
    models = [
        {"model": middle, "accuracy": 0.93, "convergence": {4: 101}},
        {"model": LARGE, "accuracy": 0.9, "cpu": cpu},
    ]
    plan = solved(asked("grpo", {"reward": models}))
    assert chosen(plan) == {"reward": LARGE}
    assert plan.decisions is not None
    assert plan.decisions.scoring == {"on": "cpu", "processes": 1}
    gpus = solved(asked("grpo", {"reward": models}, choices={"scoring": ["shared"]}))
    assert chosen(gpus) == {"reward": middle}
    kept = solved(asked("grpo", {"reward": models}, floors={"reward_quality": 0.92}))
    assert chosen(kept) == {"reward": middle}
    assert usd(kept) == pytest.approx(usd(gpus), abs=0.005)


@pytest.mark.parametrize("placement", ["disaggregated", "async"])
def test_scoring_without_gpus_beside_separate_pools(placement: str) -> None:
    choices = {"placements": [placement], "gpus": ["A100-80GB"]}
    plan = solved(scored(0.002, choices=choices, limits={"max_gpus": 16}))
    assert plan.decisions is not None
    assert plan.decisions.scoring == {"on": "cpu", "processes": 1}
    assert all(pool.name != "score" for pool in plan.pools)


def test_the_bill_is_the_same_when_it_is_read_again() -> None:
    request = scored(0.002)
    plan = solved(request)
    assert plan.cost is not None
    again = Plan.model_validate(plan.document())
    assert [line.usd for line in bill(again, problem_of(request))] == [line.usd for line in plan.cost.lines]


def test_the_check_says_what_scoring_without_gpus_takes() -> None:
    text = "\n".join(derived(scored(8.0), FACTS))
    assert "without GPUs 2 s a sample in a process of 4 vCPUs, 1 or 8 of them" in text


def test_models_that_were_not_measured_are_left_out_where_cpus_alone_may_score() -> None:
    cpu = {"vcpu_seconds_per_sample": 0.01, "vcpus": 4, "processes": [2]}
    models = [SMALL, {"model": LARGE, "cpu": cpu}]
    plan = solved(asked("grpo", {"reward": models}, choices={"scoring": ["cpu"]}))
    assert chosen(plan) == {"reward": LARGE}


def test_what_was_not_measured_is_not_assumed() -> None:
    with pytest.raises(NotSupportedError, match="cpu needs a reward model whose cpu is stated"):
        problem_of(asked("grpo", {"reward": LARGE}, choices={"scoring": ["cpu"]}))
    with pytest.raises(InputError, match="belongs to reward models"):
        asked("opd", {"teacher": {"model": LARGE, "cpu": {"vcpu_seconds_per_sample": 1, "vcpus": 4}}})
    with pytest.raises(InputError, match="vcpu_seconds_per_sample"):
        asked("grpo", {"reward": {"model": LARGE, "cpu": {"vcpus": 4}}})
