"""``rlopt calibrate`` as it is typed: a log in, a report and a file out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlopt.cli.entry import run
from tests.launchers.logs import writers
from tests.launchers.logs.writers import Truth

SMALL = ("--set", "choices.gpus=[H100]", "--set", "limits.max_gpus=2", "--set", "choices.pricing=[on_demand]")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_text(writers.text(writers.openrlhf(Truth(), 30)) + "✨ Global step 31: {'tim", encoding="utf-8")
    return path


def test_a_log_becomes_a_report_and_a_file(
    root: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    request, out = str(root / "examples" / "quickstart.yaml"), tmp_path / "calibration.yaml"
    assert run(["calibrate", str(log), "--request", request, *SMALL, "-o", str(out)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for text in (
        "run.log (openrlhf): 27 of 30 steps, from 4 to 30",
        "1 line of no use, the first at run.log:31",
        "30 steps are done",
        "70 are left",
        "Going on:",
        "Switching:",
        "How the plan changes",
    ):
        assert text in told, text
    assert out.read_text(encoding="utf-8").startswith("# Constants of your own timings")
    assert run(["check", request, *SMALL, "--calibration", str(out), "--steps-done", "50"]) == 0
    assert "50 of 100 steps" in capsys.readouterr().out


def test_json_is_the_answer_and_nothing_else(root: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request = str(root / "examples" / "quickstart.yaml")
    assert run(["calibrate", str(log), "--request", request, *SMALL, "--steps-done", "100", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "rlopt.recalibration/1"
    assert found["steps_left"] == 0
    assert found["plan"] is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--plan", "{log}", "--config", "{log}"], "--plan and --config"),
        (["--set", "job.steps=3"], "--set changes a request"),
        ([], "does not say what job"),
        (["--hours-spent", "3"], "3"),
        (["--format", "ray"], "ray"),
    ],
)
def test_what_does_not_go_together_is_bad_input(
    log: Path, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", str(log), *(one.format(log=log) for one in arguments)]) == 2
    assert text in capsys.readouterr().err


def test_steps_done_needs_a_calibration(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["solve", str(root / "examples" / "quickstart.yaml"), "--steps-done", "5"]) == 2
    assert "--steps-done needs --calibration" in capsys.readouterr().err
