from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import FakeApi, Result
from tests.reports import plans

Run = Callable[..., Result]


def test_text_on_stdout_and_nothing_on_stderr(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("solve", request_file)
    assert result.code == 0
    assert result.out.startswith("math-7b costs $612.40")
    assert result.err == ""
    assert "\x1b" not in result.out


def test_json_is_the_plan_and_nothing_else(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("solve", request_file, "--json")
    document = json.loads(result.out)
    assert document == plans.optimal().document()
    assert document["schema"] == "rlopt.plan/1"
    assert result.err == ""


@pytest.mark.parametrize(
    ("plan", "code"),
    [(plans.optimal(), 0), (plans.infeasible(), 3), (plans.feasible(), 4), (plans.nothing_found(), 4)],
)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_exit_code_tells_the_status_and_the_plan_is_printed(
    api: FakeApi, rlopt_run: Run, request_file: Path, plan: object, code: int, form: tuple[str, ...]
) -> None:
    api.plan = plan  # type: ignore[assignment]
    result = rlopt_run("solve", request_file, *form)
    assert result.code == code
    assert result.out


def test_relaxations_are_written_under_their_public_names(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    api.plan = plans.infeasible()
    document = json.loads(rlopt_run("solve", request_file, "--json").out)
    assert document["relaxations"][0]["from"] == 2.5
    assert document["pools"] == []
    assert document["cost"] is None


def test_output_file_is_the_same_json_and_text_stays_on_stdout(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    target = tmp_path / "plan.json"
    result = rlopt_run("solve", request_file, "-o", target)
    assert json.loads(target.read_text(encoding="utf-8")) == plans.optimal().document()
    assert result.out.startswith("math-7b")


def test_options_reach_the_api(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    rlopt_run(
        "solve", request_file, "--set", "limits.deadline=24h", "--set", "job.steps=3", "--backend", "ortools",
        "--time-limit", "2min",
    )  # fmt: skip
    assert api.calls == [
        ("load", {"path": request_file, "overrides": ("limits.deadline=24h", "job.steps=3")}),
        ("solve", {"request": "request", "backend": "ortools", "time_limit": 120.0}),
    ]


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("1.5", 1.5), ("90s", 90.0), ("0.5h", 1800.0)])
def test_time_limit_has_a_unit_or_is_seconds(
    api: FakeApi, rlopt_run: Run, request_file: Path, text: str, seconds: float
) -> None:
    rlopt_run("solve", request_file, "--time-limit", text)
    assert api.calls[-1][1]["time_limit"] == seconds


@pytest.mark.parametrize(
    ("arguments", "say"),
    [
        (("--time-limit", "0"), "no time to work in"),
        (("--time-limit", "inf"), "inf"),
        (("--time-limit", ""), "time-limit"),
        (("--time-limit", "5parsec"), "parsec"),
        (("--set", "limits.deadline"), "KEY=VALUE"),
        (("--set", "=3"), "KEY=VALUE"),
        (("--backend", "cplex"), "pulp"),
        (("-o", "no/such/folder/plan.json"), "does not exist"),
        (("--report", "no/such/folder/plan.html"), "does not exist"),
        (("--report", "plan.json", "-o", "plan.json"), "-o and --report name the same file"),
    ],
)
def test_bad_options_end_before_any_work(
    api: FakeApi, rlopt_run: Run, request_file: Path, arguments: tuple[str, ...], say: str
) -> None:
    result = rlopt_run("solve", request_file, *arguments)
    assert result.code == 2
    assert result.out == ""
    assert say in result.err
    assert api.calls == []


def test_missing_file_is_bad_input(api: FakeApi, rlopt_run: Run, tmp_path: Path) -> None:
    result = rlopt_run("solve", tmp_path / "nowhere.yaml", "--json")
    assert result.code == 2
    assert result.out == ""
    assert "nowhere.yaml" in result.err


@pytest.mark.parametrize("share", ["five", "-1%", "nan", "inf", ""])
def test_a_share_that_is_none_is_refused(api: FakeApi, rlopt_run: Run, request_file: Path, share: str) -> None:
    result = rlopt_run("solve", request_file, "--alternatives", "2", "--within", share)
    assert result.code == 2
    assert "is no share" in result.err
    assert api.calls == []


def test_stress_is_a_pace_given_as_often_as_wanted(rlopt_run: Run, api: FakeApi, request_file: Path) -> None:
    rlopt_run("solve", request_file, "--stress", "1.5", "--stress", "2")
    assert api.calls[-1][1]["stress"] == (1.5, 2.0)
    rlopt_run("solve", request_file, "--stress-load", "1.2")
    assert api.calls[-1][1]["stress_load"] == (1.2,)
    for wrong in ("0", "nan", "-1", "1000"):
        result = rlopt_run("solve", request_file, "--stress", wrong)
        assert result.code == 2
        assert "is no factor between 0.1 and 100" in result.err
