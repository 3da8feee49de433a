"""What the commands promise of their output: exit codes, clean JSON, files, colours, both backends."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt.answers.plan import Frontier, Plan
from rlopt.program import Program
from rlopt.solvers import via_ortools
from rlopt.solvers.contract import Outcome
from rlopt.workloads import ALGORITHMS
from tests.cli.conftest import Result

Run = Callable[..., Result]
NAMES = [module.NAME for module in ALGORITHMS]


@pytest.fixture
def quickstart(root: Path) -> Path:
    """Return the request of the README."""
    return root / "examples" / "quickstart.yaml"


@pytest.mark.parametrize("backend", ["pulp", "ortools"])
def test_json_is_all_there_is_and_reads_back_as_the_plan(
    rlopt_run: Run, quickstart: Path, tmp_path: Path, backend: str
) -> None:
    saved = tmp_path / "plan.json"
    result = rlopt_run("solve", quickstart, "--json", "--backend", backend, "-o", saved)
    assert (result.code, result.err) == (0, "")
    assert result.out == saved.read_text(encoding="utf-8")
    plan = Plan.model_validate_json(result.out)
    assert (plan.status, plan.solver.backend) == ("optimal", backend)
    assert plan.document() == json.loads(result.out)
    assert plan.require() is plan


def test_set_changes_one_key_for_one_run(rlopt_run: Run, quickstart: Path) -> None:
    limit = ("--set", "limits.max_gpus=1", "--set", "limits.deadline=96h")
    plan = json.loads(rlopt_run("solve", quickstart, *limit, "--json").out)
    assert sum(pool["gpus"] for pool in plan["pools"]) == 1
    assert plan["time"]["deadline_hours"] == 96
    assert "max_gpus: 32" in quickstart.read_text(encoding="utf-8")


def test_a_value_that_does_not_fit_is_refused(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("solve", quickstart, "--set", "limits.deadline=24", "--json")
    assert (result.code, result.out) == (2, "")
    assert "limits.deadline" in result.err
    assert "24h" in result.err


def test_infeasible_as_text_says_what_would_help(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("solve", quickstart, "--set", "limits.deadline=30min")
    assert (result.code, result.err) == (3, "")
    assert "no plan keeps every limit and floor" in result.out
    assert "What would help" in result.out
    assert "limits.deadline" in result.out


def test_a_time_limit_without_a_proof_is_code_4_and_still_a_plan(
    rlopt_run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []

    def stopped(program: Program, time_limit: float | None) -> Outcome:
        asked.append(time_limit)
        return Outcome("time_limit", None, None, -math.inf, 1.0, "a slow engine")

    monkeypatch.setattr(via_ortools, "solve_once", stopped)
    request = root / "examples" / "requests" / "10-grpo-retool-7b-tool-calls.yaml"
    limit = ("--time-limit", "1s", "--backend", "ortools")
    result = rlopt_run("solve", request, *limit, "--json")
    assert asked
    assert all(seconds is not None and seconds <= 1.0 for seconds in asked)
    plan = Plan.model_validate_json(result.out)
    assert (result.code, result.err, plan.status) == (4, "", "feasible")
    assert plan.pools
    assert plan.cost is not None
    assert plan.cost.total_usd == pytest.approx(plan.solver.objective_usd)
    assert "Not proven" in rlopt_run("solve", request, *limit).out


def test_frontier_reads_back_and_every_form_has_the_same_points(
    rlopt_run: Run, quickstart: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "frontier.json"
    result = rlopt_run("frontier", quickstart, "--points", 3, "--csv")
    rows = result.out.splitlines()[1:]
    assert rlopt_run("frontier", quickstart, "--points", 3, "-o", saved).code == 0
    curve = Frontier.model_validate_json(saved.read_text(encoding="utf-8"))
    assert (result.code, result.err, len(rows)) == (0, "", len(curve.points))
    assert all(point.status == "optimal" for point in curve.points)
    for row, point in zip(rows, curve.points, strict=True):
        assert point.time is not None
        assert float(row.split(",")[0]) == pytest.approx(point.time.confident_hours)


def test_frontier_of_the_impossible_is_code_3(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("frontier", quickstart, "--set", "limits.deadline=1min", "--json")
    assert result.code == 3
    assert json.loads(result.out)["points"] == []


@pytest.mark.parametrize("algorithm", NAMES)
def test_what_init_writes_solves_as_it_is(rlopt_run: Run, tmp_path: Path, algorithm: str) -> None:
    request = tmp_path / "constraints.yaml"
    assert rlopt_run("init", "--algorithm", algorithm, "-o", request).code == 0
    result = rlopt_run("solve", request, "--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out)["status"] == "optimal"


def test_check_says_what_was_derived(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("check", quickstart)
    assert (result.code, result.err) == (0, "")
    assert "steps: 100" in result.out
    assert "1024 samples a step" in result.out


def test_no_escape_code_reaches_a_pipe_or_no_color(quickstart: Path) -> None:
    command = [sys.executable, "-m", "rlopt", "solve", str(quickstart)]
    for variables in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {}):
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=120, env={"PYTHONPATH": _path(), **variables}
        )
        assert "\x1b[3" not in done.stdout
        assert "Proven" in done.stdout
        assert done.stderr == ""


def _path() -> str:
    return ":".join(sys.path)


def test_explain_says_why_in_text_and_json(rlopt_run: Run, quickstart: Path) -> None:
    import rlopt

    few = "choices.providers=[gcp, lambda]"
    result = rlopt_run("explain", quickstart, "--set", few)
    assert (result.code, result.err) == (0, "")
    assert "What holds it" in result.out
    assert "Why nothing else" in result.out
    document = json.loads(rlopt_run("explain", quickstart, "--set", few, "--json").out)
    why = rlopt.explain(rlopt.load(quickstart, [few]))
    assert document["schema"] == "rlopt.explanation/1"
    assert document["rivals"] == json.loads(why.model_dump_json(by_alias=True))["rivals"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("choices.gpus=[H1000]", "GPU 'H1000'"),
        ("choices.providers=[awz]", "provider 'awz'"),
        ("recovery.launcher=vrl", "launcher vrl"),
        ("job.models.policy=Qwen/Qwen9-7B", "model 'Qwen/Qwen9-7B'"),
    ],
)
def test_a_check_knows_the_names_that_the_catalogs_know(
    rlopt_run: Run, quickstart: Path, change: str, what: str
) -> None:
    result = rlopt_run("check", quickstart, "--set", change)
    assert (result.code, result.out) == (2, "")
    assert what in result.err
    assert "fix:" in result.err
