"""``rlopt diff`` on requests and saved plans, and on files that are neither."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result
from tests.reports import plans

Run = Callable[..., Result]


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(plans.optimal().model_dump_json(by_alias=True), encoding="utf-8")
    second.write_text(
        plans.faster().model_copy(update={"status": "optimal"}).model_dump_json(by_alias=True), encoding="utf-8"
    )
    return first, second


def test_two_saved_plans(rlopt_run: Run, saved: tuple[Path, Path], tmp_path: Path) -> None:
    result = rlopt_run("diff", *saved, "--json", "-o", tmp_path / "d.json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document == json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert document["schema"] == "rlopt.diff/1"
    assert document["a"]["name"] == "a.json"
    assert "### Money" in rlopt_run("diff", *saved, "--markdown").out
    assert rlopt_run("diff", *saved, "--markdown", "--json").code == 2


def test_a_request_is_solved_first(rlopt_run: Run, root: Path, tmp_path: Path) -> None:
    plan, quickstart = tmp_path / "plan.json", root / "examples/quickstart.yaml"
    assert rlopt_run("solve", quickstart, "-o", plan).code == 0
    result = rlopt_run("diff", quickstart, plan)
    assert (result.code, result.err) == (0, "")
    assert "the same plan" in result.out


def test_a_plan_that_does_not_exist_ends_with_3(rlopt_run: Run, saved: tuple[Path, Path], tmp_path: Path) -> None:
    none = tmp_path / "none.json"
    none.write_text(plans.infeasible().model_dump_json(by_alias=True), encoding="utf-8")
    result = rlopt_run("diff", saved[0], none)
    assert result.code == 3
    assert "has no plan" in result.out


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"schema": "rlopt.plan/1"', "is no JSON"),
        ('{"schema": "rlopt.frontier/1", "points": []}', "not the schema of a plan"),
        ('{"schema": "rlopt.plan/1", "status": "optimal"}', "Field required"),
        ('{"schema": "rlopt.plan/1", "x": NaN}', "NaN is no number"),
        ('{"a":' * 20000, "nested too deeply"),
        ("{" + "\x00", "control"),
    ],
)
def test_files_that_are_no_plan(rlopt_run: Run, saved: tuple[Path, Path], text: str, word: str) -> None:
    saved[1].write_text(text, encoding="utf-8")
    result = rlopt_run("diff", *saved)
    assert (result.code, result.out) == (2, "")
    assert word in result.err
    assert "b.json" in result.err
