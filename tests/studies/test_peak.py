"""Plans at a heavier load than was asked for."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from rlopt import api
from rlopt.answers.plan import Peak, Plan
from rlopt.assembly.chosen import Chosen
from rlopt.errors import MissingFactError
from rlopt.problem import Problem
from rlopt.reports.text.stress import sentence
from rlopt.request import Request
from rlopt.request.job.parts import Offline
from rlopt.studies.cheapest import chosen
from rlopt.studies.peak import heavier, peaks
from tests.studies.small import asked, usd

REQUESTS = Path(__file__).resolve().parents[2] / "examples"
APART = {"placements": ["disaggregated"], "gpus": ["H100"]}
OWN = {"placements": ["async"], "gpus": ["H100"], "scoring": ["own"]}
EPOCHS = {"epochs": 2, "dataset_samples": 6400, "steps": None}
TOOLS = {
    "kind": "tools",
    "calls_per_sample": {"mean": 2, "max": 4},
    "seconds_per_call": {"mean": "20s", "max": "60s"},
}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("grpo", {}),
    ("grpo", {"choices": APART}),
    ("opd", {"choices": OWN}),
    ("sft", {"job": EPOCHS}),
    ("grpo", {"job": {"environment": TOOLS}}),
    ("dpo", {"job": {"pairs": {"candidates": 4, "judge": "rule"}}}),
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


@pytest.mark.parametrize(("prompts", "times"), [(7, 1.5), (3, 1.1), (64, 1.01), (100, 1.1), (128, 1.37)])
@pytest.mark.parametrize("samples", [7, 21, 224, 60000])
@pytest.mark.parametrize("incremental", [False, True])
def test_more_samples_in_every_step_leave_the_number_of_steps(
    prompts: int, times: float, samples: int, incremental: bool
) -> None:
    data = {"incremental": True, "new_samples": samples} if incremental else {}
    stored = {"dataset_samples": samples * 2 if incremental else samples, "dataset_size": "4 GB"}
    job = {"epochs": 2, "steps": None, "prompts_per_step": prompts, **stored, "data": data}
    own = asked("sft", job=job).job
    again = heavier(asked("sft", job=job), "samples", times)
    assert again is not None
    more = again.job
    assert more.prompts_per_step - 1 < prompts * times <= more.prompts_per_step + 1e-9
    ratio = more.prompts_per_step / prompts
    assert more.steps_for() == own.steps_for()
    assert own.dataset_samples is not None
    assert more.dataset_samples == pytest.approx(own.dataset_samples * ratio, abs=1.0)
    assert more.data.new_samples == pytest.approx(own.data.new_samples * ratio, abs=1.0)
    assert own.dataset_size is not None
    assert more.dataset_size == pytest.approx(own.dataset_size * ratio)


PLAIN = {"prompts_per_step": 64, "data": {"new_samples": 100, "accepted_share": 0.5}}


@pytest.mark.parametrize(
    ("job", "grows"),
    [
        ({**PLAIN, "epochs": 2, "steps": None, "dataset_samples": 6400}, True),
        ({**PLAIN, "dataset_size": "4 GB"}, True),  # as many samples as the steps draw
        ({**PLAIN, "dataset_samples": 6400, "dataset_size": "4 GB"}, False),  # read more often, not larger
    ],
)
def test_what_is_bought_grows_where_the_data_set_does(job: dict[str, Any], grows: bool) -> None:
    own = asked("sft", job=job).job
    more = heavier(asked("sft", job=job), "samples", 1.5)
    assert more is not None
    assert own.data.collected == 200
    assert more.job.data.collected == (300 if grows else 200)
    assert more.job.steps_for() == own.steps_for()
    assert more.job.dataset_bytes(2.0) == pytest.approx(own.dataset_bytes(2.0) * (1.5 if grows else 1.0))


@pytest.mark.parametrize(("stored", "prompts", "times"), [(1000, 64, 1.5), (7, 7, 1.37), (8, 7, 1.1), (100_000, 3, 2)])
def test_stored_trajectories_fill_as_many_batches(stored: int, prompts: int, times: float) -> None:
    request = api.load(REQUESTS / "vla-simulator.yaml").replaced("job.prompts_per_step", prompts)
    request = request.replaced("job.offline", Offline(samples=stored))
    again = heavier(request, "samples", times)
    assert again is not None
    assert again.job.offline is not None
    grown, size = again.job.offline.samples, again.job.prompts_per_step
    assert math.ceil(grown / size) == math.ceil(stored / prompts)
    assert grown == pytest.approx(stored * size / prompts, abs=1.0)


def test_a_fact_that_lacks_at_the_heavier_load_stays_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    request = asked("grpo")
    problem = api.problem_of(request)
    found = chosen(problem)
    assert isinstance(found, Chosen)

    def build(*_: object) -> Problem:
        raise MissingFactError("a logging price of aws", "costs.logs_to", "add a row")

    monkeypatch.setattr("rlopt.studies.peak.rebuilt", build)
    for peak in peaks(found, 1.5):
        assert not peak.fits
        text = sentence(peak, 0.9)
        assert "\n" not in text
        assert "cannot run: the catalogs lack a logging price of aws, needed for costs.logs_to (add a row). " in text


def test_phases_are_those_of_the_heavier_load() -> None:
    """More pairs are made for larger steps: the plan and the right one are billed alike."""
    request = asked("dpo", job={"pairs": {"candidates": 4, "judge": "rule"}})
    _, found = solved(request, 1.5)
    for what, peak in found.items():
        again = heavier(request, what, 1.5)  # type: ignore[arg-type]
        assert again is not None
        best = api.solve(again, short_frontier=False)
        assert peak.right is not None
        assert peak.right.same
        assert peak.total_usd == pytest.approx(usd(best), rel=1e-9)


def test_an_environment_keeps_its_copies() -> None:
    """12 copies are the last of their list; in that of twice the samples 16 stand in their place."""
    plan, found = solved(asked("grpo", job={"environment": TOOLS, "prompts_per_step": 3}), 2.0)
    assert plan.decisions is not None
    assert plan.decisions.environment == {"kind": "tools", "instances": 12}
    _, stated = solved(asked("grpo", job={"environment": {**TOOLS, "instances": 12}, "prompts_per_step": 3}), 2.0)
    assert found["samples"].fits
    assert found["samples"].total_usd == pytest.approx(stated["samples"].total_usd, rel=1e-9)
    assert found["samples"].confident_hours == pytest.approx(stated["samples"].confident_hours, rel=1e-9)


def test_a_phase_that_has_no_plan_at_the_heavier_load_is_told() -> None:
    """The pairs must be made in a time that suffices for those that were asked for alone."""
    pairs, limits = {"candidates": 4, "judge": "rule"}, {"max_gpus": 1}
    hours = api.solve(asked("dpo", job={"pairs": pairs}, limits=limits)).phases[0].confident_hours
    limited = {**pairs, "deadline": f"{1.02 * hours * 60.0:.3f}min"}
    _, found = solved(asked("dpo", job={"pairs": limited}, limits=limits), 1.5)
    for peak in found.values():
        assert not peak.fits
        assert peak.misfit is not None
        assert peak.misfit.startswith("job.pairs: ")
        assert peak.right is peak.total_usd is None
