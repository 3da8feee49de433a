"""``rlopt solve --tags-out``."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from rlopt.cli import solve as solve_module
from tests.cli.conftest import FakeApi, Result
from tests.reports import plans

Run = Callable[..., Result]


def test_tags_are_saved_beside_the_plan(
    rlopt_run: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlopt.cli.solve.today", lambda: date(2026, 3, 9))
    target = tmp_path / "tags.json"
    limits = ("--set", "limits.budget.total=900 USD", "--set", "limits.budget.storage=50 USD")
    result = rlopt_run("solve", root / "examples" / "quickstart.yaml", *limits, "--tags-out", target, "--json")
    assert (result.code, result.err) == (0, "")
    document, plan = json.loads(target.read_text(encoding="utf-8")), json.loads(result.out)
    assert document["tags"] == {"job": "quickstart", "algorithm": "grpo", **plan["tags"]}
    assert [(alert["scope"], alert["usd"]) for alert in document["alerts"]] == [("total", 900.0), ("storage", 50.0)]
    assert document["storage"]["bytes"] == pytest.approx(plan["storage_gib"] * 2**30, abs=1)
    assert document["azure"]["budgets"][0]["body"]["properties"]["timePeriod"]["startDate"] == "2026-03-01T00:00:00Z"
    assert len(document["aws"]["create_budget"]) == len(document["gcp"]["budgets"]) == 2


def test_without_a_plan_nothing_is_written(api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path) -> None:
    api.plan = plans.infeasible()
    result = rlopt_run("solve", request_file, "--tags-out", tmp_path / "tags.json")
    assert result.code == 3
    assert not (tmp_path / "tags.json").exists()


@pytest.mark.parametrize("where", ["no/such/folder/tags.json", "."])
def test_a_file_that_cannot_be_written_is_said_before_any_work(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path, where: str
) -> None:
    result = rlopt_run("solve", request_file, "--tags-out", tmp_path / where)
    assert (result.code, result.out, api.calls) == (2, "", [])
    assert "--tags-out" in result.err


def test_plan_and_tags_cannot_share_a_file(api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    result = rlopt_run("solve", request_file, "-o", target, "--tags-out", target)
    assert (result.code, result.out, api.calls) == (2, "", [])
    assert "same file" in result.err


def test_budgets_start_today() -> None:
    assert isinstance(solve_module.today(), date)
