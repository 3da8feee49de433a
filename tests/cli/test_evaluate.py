"""``rlopt evaluate`` on the quickstart: a saved plan, machines of one's own, what does not fit, what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Run = Callable[..., Result]


@pytest.fixture
def quickstart(root: Path) -> Path:
    return root / "examples/quickstart.yaml"


def written(tmp_path: Path, text: str) -> Path:
    """A configuration in a file."""
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_saved_plan_is_the_optimum_itself(rlopt_run: Run, quickstart: Path, tmp_path: Path) -> None:
    plan, saved = tmp_path / "plan.json", tmp_path / "evaluation.json"
    assert rlopt_run("solve", quickstart, "-o", plan).code == 0
    result = rlopt_run("evaluate", quickstart, "--config", plan, "--json", "-o", saved)
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document == json.loads(saved.read_text(encoding="utf-8"))
    assert document["schema"] == "rlopt.evaluation/1"
    total = json.loads(plan.read_text(encoding="utf-8"))["cost"]["total_usd"]
    assert document["plan"]["cost"]["total_usd"] == pytest.approx(total)
    assert document["difference"]["lines"] == []
    assert (document["breaks"], document["outside"], document["taken"]) == ([], [], [])


def test_machines_of_ones_own_are_priced_as_stated(rlopt_run: Run, quickstart: Path, tmp_path: Path) -> None:
    mine = written(tmp_path, "gpu: A100-80GB\ngpus: 8\nusd_per_gpu_hour: 0\n")
    result = rlopt_run("evaluate", quickstart, "--config", mine)
    assert result.code == 0
    assert "mine.yaml fits and costs $" in result.out
    assert "What the optimum changes" in result.out
    assert "costs nothing an hour, as stated" in " ".join(result.out.split())


def test_what_breaks_a_limit_ends_with_3(rlopt_run: Run, quickstart: Path, tmp_path: Path) -> None:
    mine = written(tmp_path, "gpu: H100\ngpus: 8\n")
    result = rlopt_run("evaluate", quickstart, "--config", mine, "--set", "limits.budget=1 USD")
    assert result.code == 3
    assert "it breaks limits.budget" in " ".join(result.out.split())


def test_what_does_not_fit_ends_with_3_and_says_what_would(rlopt_run: Run, quickstart: Path, tmp_path: Path) -> None:
    mine = written(tmp_path, "gpu: T4\ngpus: 1\noffload: none\nusd_per_gpu_hour: 0.1\n")
    result = rlopt_run("evaluate", quickstart, "--config", mine)
    text = " ".join(result.out.split())
    assert result.code == 3
    assert "does not fit" in text
    assert "GiB are missing" in text
    assert "What would make it fit" in text


def test_a_wrong_configuration_ends_with_2_and_its_line(rlopt_run: Run, quickstart: Path, tmp_path: Path) -> None:
    mine = written(tmp_path, "gpu: H100\ngpus: 8\ntp: 3\n")
    result = rlopt_run("evaluate", quickstart, "--config", mine)
    assert (result.code, result.out) == (2, "")
    assert f"{mine}:3: tp: " in result.err
    assert "allowed:" in result.err
    assert "fix:" in result.err
