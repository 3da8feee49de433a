"""From a run's log to the plan of what is left of it: the truth behind the log is found again and planned with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rlopt import api
from rlopt.answers.configuration import Configuration
from rlopt.answers.plan import Plan
from rlopt.answers.recalibration import Recalibration
from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.reading.calibration_file import read_calibration
from rlopt.reading.configuration.saved_plan import of_plan
from rlopt.request import Request, UserConstants
from rlopt.studies.configuration.price import price
from rlopt.studies.running.user_log import user_run, with_constants
from tests.launchers.logs import writers
from tests.launchers.logs.writers import GENERATE, HAND_OVER, SCORE, UPDATE, Truth

DAY = "2026-11-30"
CHOICES = ("choices.placements=[colocated]", "choices.gpus=[H100]", "choices.pricing=[on_demand]", "limits.max_gpus=8")
SLOW = Truth(seconds={GENERATE: 170.0, SCORE: 80.0, UPDATE: 150.0, HAND_OVER: 9.0}, other=20.0)


@pytest.fixture(scope="module")
def request_(root: Path) -> Request:
    return api.load(root / "examples" / "quickstart.yaml", CHOICES)


@pytest.fixture(scope="module")
def ran(request_: Request) -> Plan:
    return api.solve(request_, short_frontier=False)


@pytest.fixture(scope="module")
def config(ran: Plan) -> Configuration:
    return of_plan(ran)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "run.log"
    path.write_text(writers.text(writers.verl(SLOW, 40)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(log: Path, request_: Request, config: Configuration) -> Recalibration:
    return api.calibrate([log], request_, config, as_of=DAY)


def test_predictions_follow_the_log_and_the_plan_follows_them(found: Recalibration, ran: Plan) -> None:
    stages = {one.stage: one for one in found.stages}
    assert set(stages) == {*SLOW.seconds, "step"}
    for one in found.stages:
        assert one.after == pytest.approx(one.logged, rel=0.03), one.stage
        assert abs(one.after / one.logged - 1.0) < abs(one.before / one.logged - 1.0), one.stage
    assert stages["step"].before == pytest.approx(ran.time.step_seconds)
    assert found.framework == "verl-megatron"
    assert all("run.log:" in one.because for one in found.moved)
    assert found.difference.more_usd > 0.0
    assert (found.steps_done, found.steps_left) == (40, 60)
    assert found.plan.time.steps == 60


def test_the_file_plans_the_same_as_the_answer_says(found: Recalibration, request_: Request, tmp_path: Path) -> None:
    path = tmp_path / "calibration.yaml"
    path.write_text(found.calibration, encoding="utf-8")
    read = read_calibration(path)
    assert read.constants.as_of == DAY
    plan = api.solve(request_, short_frontier=False, calibration=path)
    assert plan.cost.total_usd == pytest.approx(found.plan.cost.total_usd)
    assert plan.time.deadline_hours == pytest.approx(48.0 - found.hours_spent, abs=1e-3)
    assert "run.log" in found.calibration
    for one in found.moved:
        assert f'"{one.constant}": [{one.before}, {one.after}, "{one.because}"]' in found.calibration


@pytest.mark.parametrize("placement", ["colocated", "async", "disaggregated"])
def test_stages_by_factors_are_those_of_the_whole_model(root: Path, placement: str) -> None:
    job = api.load(root / "examples" / "quickstart.yaml", (f"choices.placements=[{placement}]", *CHOICES[1:]))
    config = of_plan(api.solve(job, short_frontier=False))
    moved = {
        "framework": "nemo-rl",
        "frameworks": {"nemo-rl": {"train": 1.7, "sample": 0.8, "step_s": 9.0, "switch_s": 3.0}},
        "generation_train": {"Hopper": 1.2},
        "generation_sample": {"Hopper": 1.3},
        "score_train": 0.7,
        "exposed_share": 0.3,
        "transports": {"nemo-rl-ipc": {"fixed_s": 3.0}, "nemo-rl-packed": {"fixed_s": 2.0}},
    }
    constants = UserConstants(name="x", as_of=DAY, document=json.dumps({"rl": moved}))
    problem = api.problem_of(job)
    plain, other = (price(problem, config, with_constants(job, one)) for one in (None, constants))
    before, after = (user_run(one.plan, one.problem) for one in (plain, other))
    told = before.predicted(load_catalog().calibration.with_own(constants.document))
    meant = after.predicted(after.base)
    for stage in ("update", "score", "generate", "step"):
        assert told[stage] == pytest.approx(meant[stage], rel=1e-6), stage


def test_going_on_pays_no_start_and_runs_at_the_logged_pace(found: Recalibration, ran: Plan) -> None:
    going, step = found.going_on, next(one for one in found.stages if one.stage == "step")
    assert going.hours == pytest.approx(60 * step.logged / 3600.0, rel=0.03)
    assert going.usd_per_hour == pytest.approx(sum(pool.usd_per_hour for pool in ran.pools))
    assert found.switching.start_hours == pytest.approx(1.0 / 3.0)
    assert found.switching.moved_gb > 50.0
    switching = found.switching
    assert switching.saves_usd == pytest.approx(going.usd - switching.usd - switching.transfer_usd)
    assert switching.later_hours == pytest.approx(switching.hours - going.hours)
    assert switching.worth is (switching.saves_usd > 0.05 * going.usd)


def test_bands_narrow_for_what_ran_and_not_for_what_did_not(found: Recalibration) -> None:
    same = next(one for one in found.bands if one.what == "the configuration that runs")
    assert same.after < 0.06 < same.before
    assert all(one.after <= one.before for one in found.bands)


@pytest.mark.parametrize("write", [writers.nemo_rl, writers.openrlhf, writers.trl])
def test_every_launcher_moves_the_step_towards_its_log(
    write: Callable[..., list[str]], request_: Request, config: Configuration, tmp_path: Path
) -> None:
    path = tmp_path / "other.log"
    path.write_text(writers.text(write(SLOW, 12)), encoding="utf-8")
    answer = api.calibrate([path], request_.replaced("job.steps", 12), config, as_of=DAY)
    assert answer.moved
    assert answer.plan is None
    assert any("nothing is left" in note for note in answer.notes)
    for one in answer.stages:
        if one.stage != "step" or write is not writers.openrlhf:  # its total is no whole step
            assert abs(one.after / one.logged - 1.0) < 0.05, one.stage


def test_a_log_at_other_lengths_is_held_against_its_own(
    request_: Request, config: Configuration, tmp_path: Path
) -> None:
    path = tmp_path / "long.log"
    path.write_text(writers.text(writers.trl(Truth(response=1600.0), 9)), encoding="utf-8")
    done = request_.replaced("job.steps", 9)
    longer = done.replaced("job.response_tokens", done.job.response_tokens.model_copy(update={"mean": 1600.0}))
    told, plain = (api.calibrate([path], one, config, as_of=DAY) for one in (done, longer))
    assert any("1,600 tokens in the log and 800 in the request" in note for note in told.notes)
    assert not any("tokens in the log" in note for note in plain.notes)
    assert [one.before for one in told.stages] == [one.before for one in plain.stages]


def test_a_log_of_the_first_steps_is_held_against_their_lengths(
    request_: Request, config: Configuration, tmp_path: Path
) -> None:
    path = tmp_path / "growing.log"
    path.write_text(writers.text(writers.verl(replace(SLOW, response=960.0), 40)), encoding="utf-8")
    text = request_.job.response_tokens
    late = request_.replaced("job.response_tokens", text.model_copy(update={"mean_end": 2.0 * text.mean}))
    whole, told = api.evaluate(late, config).plan, api.calibrate([path], late, config, as_of=DAY)
    before = next(one.before for one in told.stages if one.stage == "step")
    assert not any("tokens in the log" in note for note in told.notes), "the first 40 of 100 steps have about 960"
    assert whole is not None
    assert whole.time is not None
    assert whole.time.first_step_seconds is not None
    assert whole.time.first_step_seconds * 1.05 < before < whole.time.step_seconds * 0.95


def test_a_log_of_another_job_is_refused(request_: Request, config: Configuration, tmp_path: Path) -> None:
    path = tmp_path / "other.log"
    path.write_text(writers.text(writers.verl(Truth(sequences=512), 9)), encoding="utf-8")
    with pytest.raises(InputError, match="a step of the log has 512 samples"):
        api.calibrate([path], request_, config, as_of=DAY)
    with pytest.raises(InputError, match="does not say what job"):
        api.calibrate([path], None, config, as_of=DAY)
    mixed = tmp_path / "mixed.log"
    mixed.write_text(writers.text(writers.nemo_rl(Truth(), 9)), encoding="utf-8")
    path.write_text(writers.text(writers.verl(Truth(), 9)), encoding="utf-8")
    with pytest.raises(InputError, match=r"is of nemo-rl, other\.log of verl"):
        api.calibrate([path, mixed], request_, config, as_of=DAY)
    beside = [line + " - timing_s/param_sync:2.0" for line in writers.verl(Truth(), 9)]
    path.write_text(writers.text(beside), encoding="utf-8")
    with pytest.raises(InputError, match="is not asynchronous"):
        api.calibrate([path], request_, config, as_of=DAY)


def test_a_job_that_only_trains_is_held_by_its_step(root: Path, tmp_path: Path) -> None:
    job = api.load(root / "examples" / "sft-lora.yaml")
    ran = of_plan(plan := api.solve(job, short_frontier=False))
    step = plan.time.step_seconds
    slow = Truth(seconds={GENERATE: 0.0, SCORE: 0.0, UPDATE: 1.4 * step, HAND_OVER: 0.0}, other=0.1 * step, save=0.0)
    path = tmp_path / "sft.log"
    path.write_text(writers.text(writers.nemo_rl(slow, 30)), encoding="utf-8")
    answer = api.calibrate([path], job, ran, as_of=DAY)
    assert [one.stage for one in answer.stages] == ["step"]
    assert answer.stages[0].after == pytest.approx(1.5 * step, rel=0.03)
    assert [one.constant for one in answer.moved] == [f"training.device_factor.{plan.pools[0].gpu}"]


def test_more_steps_than_the_job_has_are_another_job(request_: Request, config: Configuration, log: Path) -> None:
    with pytest.raises(InputError, match="40 steps are done of a job of 30"):
        api.calibrate([log], request_.replaced("job.steps", 30), config, as_of=DAY)
    with pytest.raises(InputError, match="150 steps are done of a job of 100"):
        api.calibrate([log], request_, config, as_of=DAY, steps_done=150)


def test_rows_of_a_file_move_constants_without_a_job(root: Path, tmp_path: Path) -> None:
    lines = (root / "measurements" / "training.csv").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines[1:] if line.startswith("torchtitan")][:12] or lines[1:13]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
    answer = api.calibrate([path], as_of=DAY)
    assert answer.moved
    assert answer.steps_done is None
    assert answer.errors[0].rows == len([one for one in rows if one]) - sum(answer.logs[0].left_out.values())
    kept = tmp_path / "calibration.yaml"
    kept.write_text(answer.calibration, encoding="utf-8")
    assert read_calibration(kept).run is None
    with pytest.raises(InputError, match="cannot be mixed"):
        api.calibrate([path, tmp_path / "run.log"])
