"""A calibration is read whole or refused with its lines; the rest of a run is a smaller request."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import api
from rlopt.errors import InputError
from rlopt.estimates.uncertainty import planned_sigma
from rlopt.facts.files.folder import load_catalog
from rlopt.reading.calibration_file import read_calibration
from rlopt.request import Request

HEAD = 'schema: rlopt.calibration/1\nname: logs of math\nas_of: "2026-11-30"\n'
RUN = "run: {job: quickstart, algorithm: grpo, total_steps: 100, steps_done: 30, hours_spent: 2.0, usd_spent: 10.5}\n"
CONSTANTS = "rl:\n  framework: verl-megatron\n  frameworks: {verl-megatron: {sample: 1.4}}\n"


def _request(root: Path, *overrides: str) -> Request:
    return api.load(root / "examples" / "quickstart.yaml", overrides)


def _wrong(tmp_path: Path, text: str) -> list[tuple[int | None, str]]:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_calibration(path)
    assert all(one.fix for one in caught.value.complaints)
    return [(one.line, one.key) for one in caught.value.complaints]


def _own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_a_constant_that_another_row_gives_can_become_its_own(tmp_path: Path) -> None:
    found = load_catalog().calibration.with_own(read_calibration(_own(tmp_path, CONSTANTS)).constants.document)
    shipped = load_catalog().calibration
    assert found.at(("rl", "frameworks", "verl-megatron", "sample")) == 1.4
    assert "sample" not in shipped.rl["frameworks"]["verl-megatron"]
    assert found.training == shipped.training
    assert found.rl["framework"] == "verl-megatron"


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("rl: {frameworks: {verl-fsdp: {trian: 1.2}}}\n", 4, "rl.frameworks.verl-fsdp.trian"),
        ("rl: {frameworks: {mine: {train: 1.2}}}\n", 4, "rl.frameworks.mine"),
        ("rl:\n  frameworks: {verl-fsdp: {train: .nan}}\n", 5, "rl.frameworks.verl-fsdp.train"),
        ("rl:\n  frameworks: {verl-fsdp: {train: 1e300}}\n", 5, "rl.frameworks.verl-fsdp.train"),
        ("rl:\n  frameworks: {verl-fsdp: {train: yes}}\n", 5, "rl.frameworks.verl-fsdp.train"),
        ("rl: {framework: verl}\n", 4, "rl.framework"),
        ("rl: 3\n", 4, "rl"),
        ("training: {gemm_ceiling: {Hopper: 1.2}}\n", 4, "training.gemm_ceiling.Hopper"),
        ("training: {gemm_ceiling: 0.7}\n", 4, "training.gemm_ceiling"),
        ("memory: {fragmentation: 0.01}\n", 4, "memory.fragmentation"),
        ("bands: {rl: {dense: {known: 0.01}}}\n", 4, "bands.rl.dense.known"),
        ("bands: {own: {training: {H100-SXM: -1}}}\n", 4, "bands.own.training.H100-SXM"),
        ("steps: 3\n", 4, "steps"),
        (RUN.replace("30", "300"), 4, "run.steps_done"),
        (RUN.replace("2.0", ".inf"), 4, "run.hours_spent"),
        (RUN.replace("30", "2.5"), 4, "run.steps_done"),
    ],
)
def test_what_is_no_constant_is_refused_with_its_line(tmp_path: Path, text: str, line: int, key: str) -> None:
    assert (line, key) in _wrong(tmp_path, HEAD + text)


def test_all_complaints_come_at_once(tmp_path: Path) -> None:
    text = HEAD + "rl: {framework: x}\ntraining: {nothing: 1}\nlinks: {nvlink_share: 2}\n"
    assert len(_wrong(tmp_path, text)) == 3
    assert _wrong(tmp_path, "a: 1\n") == [(1, "schema")]
    assert _wrong(tmp_path, "- 1\n") == [(1, "schema")]


def test_the_rest_of_a_run_has_what_is_left(root: Path, tmp_path: Path) -> None:
    whole = _request(root, "limits.budget=100 USD", "job.trials=3")
    rest = api.with_calibration(whole, _own(tmp_path, RUN))
    assert (rest.job.steps, rest.job.trials) == (70, 1)
    assert rest.limits.deadline == whole.limits.deadline - 2 * 3600
    assert rest.budget_usd == pytest.approx(89.5)
    assert (rest.spent.steps, rest.spent.usd) == (30, 10.5)
    halfway = api.with_calibration(whole, _own(tmp_path, RUN), steps_done=60)
    assert (halfway.job.steps, halfway.spent.hours, halfway.spent.usd) == (40, 4.0, 21.0)
    anew = api.with_calibration(whole, _own(tmp_path, RUN), steps_done=0)
    assert (anew.job.steps, anew.limits, anew.spent) == (100, whole.limits, None)


def test_epochs_and_tables_keep_whole_steps(root: Path, tmp_path: Path) -> None:
    epochs = _request(root, "job.steps=null", "job.epochs=3", "job.dataset_samples=4266")
    total = epochs.job.steps_for()
    text = RUN.replace("total_steps: 100", f"total_steps: {total}")
    assert api.with_calibration(epochs, _own(tmp_path, text)).job.steps_for() == total - 30
    sizes = _request(root, "job.steps=null", "job.convergence={8: 100, 16: 80}", "choices.group_size=[8, 16]")
    text = RUN.replace("total_steps", "group_size: 8, total_steps")
    rest = api.with_calibration(sizes, _own(tmp_path, text)).job
    assert rest.convergence == {8: 70, 16: 56}


def test_a_calibration_of_another_job_gives_constants_alone(root: Path, tmp_path: Path) -> None:
    whole = _request(root)
    other = _own(tmp_path, RUN.replace("quickstart", "another"))
    found = api.with_calibration(whole, other)
    assert (found.job, found.limits, found.spent) == (whole.job, whole.limits, None)
    assert found.constants is not None
    with pytest.raises(InputError, match="no run of job quickstart"):
        api.with_calibration(whole, other, steps_done=10)


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (("limits.deadline=90min",), "run.hours_spent"),
        (("limits.budget=10 USD",), "run.usd_spent"),
        (("job.steps=30",), "run.steps_done"),
    ],
)
def test_a_run_with_nothing_left_is_said_so(root: Path, tmp_path: Path, overrides: tuple[str, ...], key: str) -> None:
    with pytest.raises(InputError) as caught:
        api.with_calibration(_request(root, *overrides), _own(tmp_path, RUN))
    assert [(one.key, one.line) for one in caught.value.complaints] == [(key, 4)]


def test_own_bands_hold_on_their_gpu_types_and_never_widen_others(tmp_path: Path) -> None:
    text = "bands: {own: {training: {H100-SXM: 0.05, others: 0.1}}}\nrl: {framework: openrlhf}\n"
    shipped = load_catalog().calibration
    own = shipped.with_own(read_calibration(_own(tmp_path, text)).constants.document)
    assert planned_sigma("training", "H100-SXM", False, own, True, "openrlhf") == 0.05
    known = planned_sigma("training", "A100-80GB", False, shipped, True, "nemo-aligner")
    assert planned_sigma("training", "A100-80GB", False, shipped, True, "openrlhf") > 0.5
    assert known < planned_sigma("training", "A100-80GB", False, own, True, "openrlhf") < 0.3
    assert planned_sigma("generation", "A100-80GB", False, own, True, "openrlhf") > 0.5


def test_a_plan_rests_on_its_calibration_and_says_so(root: Path, tmp_path: Path) -> None:
    slower = _own(tmp_path, "rl: {frameworks: {nemo-rl: {train: 3.0, sample: 3.0}}}\n" + RUN)
    overrides = ("choices.gpus=[H100]", "choices.pricing=[on_demand]", "limits.max_gpus=8")
    shipped = api.solve(_request(root, *overrides, "job.steps=70"), short_frontier=False)
    plan = api.solve(_request(root, *overrides), short_frontier=False, calibration=slower)
    assert plan.time.steps == shipped.time.steps == 70
    assert plan.cost.total_usd > 1.5 * shipped.cost.total_usd
    assert plan.provenance.calibration == "catalogs/calibration with logs of math of 2026-11-30"
    assert shipped.provenance.calibration == "catalogs/calibration"
    assert any("your own timings" in text for text in plan.warnings)
    assert any("30 of 100 steps" in text for text in plan.warnings)
