"""Preference pairs made before the job: sampled and judged once, on the cheapest machines that may be had."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.api import problem_of
from rlopt.errors import InputError, NotSupportedError
from rlopt.facts.files.folder import load_catalog
from rlopt.reports.check.sentences import derived
from rlopt.request import Pairs, Request
from rlopt.studies.pairs import pairs_request, priced
from tests.studies.small import LARGE, SMALL, asked, solved, usd

FACTS = load_catalog()


def paired(algorithm: str = "dpo", made: dict[str, Any] | None = None, **sections: Any) -> Request:
    """A job of 6,400 pairs, each the best and the worst of 4 responses of the policy."""
    how = {"candidates": 4, "judge": LARGE, **(made or {})}
    job = {"pairs": how, **sections.pop("job", {})}
    return asked(algorithm, {"policy": "Qwen/Qwen2.5-1.5B"}, job=job, **sections)


def stated(request: Request) -> Pairs:
    """What a request says of its pairs."""
    assert request.job.pairs is not None
    return request.job.pairs


def line(plan: Plan) -> float:
    """What the bill says of the phase."""
    assert plan.cost is not None
    return sum(one.usd for one in plan.cost.lines if one.item == "preference pairs")


def listed(request: Request, deadline: float = float("inf")) -> float:
    """The phase's least bill, pool by pool, in plain arithmetic."""
    problem = problem_of(pairs_request(request, stated(request)))
    operations, best = problem.operations, float("inf")
    bills: list[list[tuple[float, float]]] = []
    for pools in (problem.rollout, problem.scoring):
        found = []
        for row in range(len(pools)):
            tariff = problem.tariffs[int(pools.zone[row])]
            assert tariff.disk is not None
            assert tariff.control is not None
            stops = float(pools.failures_per_hour[row]) * operations.restart_minutes / 60
            start = (operations.startup_minutes + operations.shutdown_minutes) / 60
            hours, late = (start + float(seconds[row]) / 3600 / (1 - stops) for seconds in pools.times.in_step.both)
            rate = float(pools.usd_per_hour[row]) + tariff.control.usd_per_hour
            disk = (float(pools.disk_gb[row]) + tariff.control.boot_gb) * tariff.disk.usd_gb_hour
            found.append((rate * (hours + operations.idle_minutes / 60) + disk * hours, late))
        bills.append(found)
    for (sampling, first), (judging, second) in product(*bills):
        if first + second <= deadline:
            best = min(best, sampling + judging)
    return best


@pytest.mark.parametrize("algorithm", ["dpo", "rm"])
def test_the_bill_is_that_of_the_job_and_that_of_the_cheapest_pools(algorithm: str) -> None:
    plan, plain = solved(paired(algorithm)), solved(asked(algorithm, {"policy": "Qwen/Qwen2.5-1.5B"}))
    assert line(plan) > 1.0
    assert line(plan) == pytest.approx(listed(paired(algorithm)), rel=1e-9)
    assert usd(plan) == pytest.approx(usd(plain) + line(plan), abs=0.005)
    assert plan.time == plain.time
    assert any("6,400 prompts x 4 candidates" in text for text in plan.warnings)


def test_by_hand() -> None:
    """Two p5.4xlarge, one after the other, at 6.88 USD/h beside a head node at 0.35904 USD/h, and their disks."""
    plan = solved(paired(choices={"gpus": ["H100"]}, limits={"max_gpus": 1}))
    (used,) = plan.phases
    assert used.machines.count("1 x p5.4xlarge (aws us-east-1, on_demand)") == 2
    machines = (6.88 + 0.35904) * (used.expected_hours + 2 * 10 / 60)
    assert used.usd == pytest.approx(machines, abs=0.02)
    assert used.usd > machines, "disks to boot from"
    assert used.expected_hours > 2 * 20 / 60, "start-up and shutdown of both"


def phase_usd(**made: Any) -> float:
    """What the phase alone costs."""
    (phase,) = problem_of(paired(made=made)).phases
    return phase.carried_usd


def test_fewer_candidates_and_a_smaller_judge_cost_less() -> None:
    most = phase_usd()
    assert phase_usd(candidates=2) < most
    assert phase_usd(judge=SMALL) < most
    assert phase_usd(pairs_per_prompt=2) < most
    assert phase_usd(generator="Qwen/Qwen2.5-14B-Instruct") > most


def test_a_program_that_judges_needs_no_machine() -> None:
    plan = solved(paired(made={"judge": "rule"}))
    (used,) = plan.phases
    assert "judge" not in used.machines
    assert 0 < line(plan) < phase_usd()


def test_a_deadline_of_the_phase_buys_faster_machines_until_there_are_none() -> None:
    job = {"dataset_samples": 200_000}
    free = solved(paired(job=job))
    (slow,) = free.phases
    tight = f"{slow.confident_hours * 0.8}h"
    plan = solved(paired(made={"deadline": tight}, job=job))
    (fast,) = plan.phases
    assert fast.confident_hours <= slow.confident_hours * 0.8
    assert fast.usd > slow.usd
    assert fast.usd == pytest.approx(listed(paired(made={"deadline": tight}, job=job), slow.confident_hours * 0.8))
    with pytest.raises(NotSupportedError, match="no machines make the preference pairs"):
        problem_of(paired(made={"deadline": "1min"}))


def test_limits_on_machines_hold_for_the_phase() -> None:
    request = paired(limits={"quotas": [{"gpu": "H100", "max_gpus": 0}]})
    (used,) = solved(request).phases
    assert "p5" not in used.machines
    problem = problem_of(pairs_request(request, stated(request)))
    rows = priced(problem, problem.rollout, None).rows
    names = {problem.market.offers[int(offer)].shape.device for offer in problem.rollout.offer[rows]}
    assert names == {"A100-80GB"} or all("H100" not in name for name in names)
    reclaimed = priced(problem, problem.rollout, 0.5)
    assert not np.any(problem.rollout.spot[reclaimed.rows])


def test_a_budget_counts_the_phase() -> None:
    total = usd(solved(paired()))
    assert solved(paired(limits={"budget": f"{total - 1} USD"})).status == "infeasible"
    assert usd(solved(paired(limits={"budget": f"{total + 0.01} USD"}))) == pytest.approx(total)


def test_the_plan_reads_back_and_the_check_tells_of_the_phase() -> None:
    plan = api.solve(paired())
    assert Plan.model_validate(plan.document()) == plan
    text = "\n".join(derived(paired(made={"pairs_per_prompt": 2}), FACTS))
    assert f"4 candidates of the policy to each prompt, judged by {LARGE}, 2 pairs kept of each prompt" in text


@pytest.mark.parametrize(
    ("algorithm", "made", "text"),
    [
        ("grpo", {}, "not trained on pairs"),
        ("dpo", {"judge": "policy"}, "scores responses"),
        ("dpo", {"generator": "rule"}, "samples responses"),
        ("dpo", {"candidates": 1}, "out of range"),
        ("dpo", {"judges": LARGE}, "unknown key"),
    ],
)
def test_what_cannot_be_made_is_refused(algorithm: str, made: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        paired(algorithm, made)
