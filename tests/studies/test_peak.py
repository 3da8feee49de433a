"""Plans at a heavier load than was asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rlopt import api
from rlopt.plan import Peak, Plan
from rlopt.request import Request
from rlopt.studies.peak import heavier
from tests.studies.small import asked, usd

APART = {"placements": ["disaggregated"], "gpus": ["H100"]}
OWN = {"placements": ["async"], "gpus": ["H100"], "scoring": ["own"]}
EPOCHS = {"epochs": 2, "dataset_samples": 6400, "steps": None}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("grpo", {}),
    ("grpo", {"choices": APART}),
    ("opd", {"choices": OWN}),
    ("sft", {"job": EPOCHS}),
]


def solved(request: Request, times: float) -> tuple[Plan, dict[str, Peak]]:
    plan = api.solve(request, short_frontier=False, stress_load=[times])
    assert plan.status == "optimal"
    return plan, {peak.what: peak for peak in plan.peaks}


@pytest.mark.parametrize(("algorithm", "more"), CASES)
def test_the_load_that_was_asked_for_is_the_plan_itself(algorithm: str, more: dict[str, Any]) -> None:
    """Held to its own layouts and estimated anew, a plan is what it was."""
    plan, found = solved(asked(algorithm, **{"limits": {"max_gpus": 4, "deadline": "30h"}, **more}), 1.0)
    assert plan.time is not None
    assert set(found) == {"length", "samples"}
    for peak in found.values():
        assert peak.fits
        assert peak.misfit is None
        assert peak.total_usd == pytest.approx(usd(plan), rel=1e-9)
        assert peak.confident_hours == pytest.approx(plan.time.confident_hours, rel=1e-9)
        assert (peak.broken, peak.meets_deadline, peak.regret_usd) == ([], True, 0.0)
        assert peak.right is not None
        assert peak.right.same


def test_a_heavier_load_costs_more_and_never_less_than_the_right_plan() -> None:
    free = api.solve(asked("grpo"), short_frontier=False)
    assert free.time is not None
    request = asked("grpo").replaced("limits.deadline", 1.002 * free.time.confident_hours * 3600.0)
    plan, found = solved(request, 1.03)
    for what, peak in found.items():
        again = heavier(request, what, 1.03)  # type: ignore[arg-type]
        assert again is not None
        best = api.solve(again, short_frontier=False)
        assert peak.right is not None
        assert peak.right.total_usd == usd(best)
        assert peak.total_usd is not None
        assert peak.total_usd > usd(plan)
        assert peak.broken == ([] if peak.meets_deadline else ["limits.deadline"])
        assert peak.meets_deadline is False or peak.total_usd >= peak.right.total_usd * (1.0 - 1e-9)
    assert not all(peak.meets_deadline for peak in found.values())


def test_a_layout_that_no_longer_fits_is_named_with_its_memory() -> None:
    """Training keeps activations of the longest sequences: at 1.6 times the length they need a smaller micro-batch."""
    plan, found = solved(asked("grpo"), 1.6)
    peak = found["length"]
    assert not peak.fits
    assert peak.total_usd is peak.regret_usd is None
    assert peak.misfit is not None
    assert "pool main needs" in peak.misfit
    needed, capacity = (float(word) for word in re.findall(r"\d+\.\d+", peak.misfit))
    memory = plan.pools[0].memory
    assert memory is not None
    assert needed > capacity > memory.needed_gib
    assert capacity == pytest.approx(memory.capacity_gib, rel=1e-3)
    assert peak.right is not None
    assert (peak.right.same, peak.right.same_machines) == (False, True)
    assert found["samples"].fits


def test_what_grows() -> None:
    request = asked("sft", job=EPOCHS, limits={"robust": {"time": 1.5}})
    longer, more = heavier(request, "length", 1.5), heavier(request, "samples", 1.5)
    assert longer is not None
    assert more is not None
    assert (longer.job.response_tokens.mean, longer.job.response_tokens.max) == (450.0, 1350)
    assert longer.job.prompt_tokens == request.job.prompt_tokens
    assert (more.job.prompts_per_step, more.job.dataset_samples) == (96, 9600)
    assert more.job.steps_for() == request.job.steps_for()
    assert longer.limits.robust.time == more.limits.robust.time == 1.0
