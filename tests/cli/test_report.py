"""``--report``: which plans stand on the page, and that stdout and the page keep out of each other's way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt.answers.plan import Frontier
from rlopt.reports.page import render
from tests.cli.conftest import FakeApi, Result
from tests.reports import plans

Run = Callable[..., Result]


def documents(page: Path) -> list[str]:
    """JSON of the plans on a page, by the number of the plan."""
    parts = page.read_text(encoding="utf-8").split('<script type="application/json" class="document" data-plan="')[1:]
    found = {int(part.partition('"')[0]): part.partition(">")[2].partition("</script>")[0] for part in parts}
    return [found[number] for number in sorted(found)]


def test_solve_proves_other_speeds_for_it(api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    result = rlopt_run("solve", request_file, "--json", "--report", page, "--set", "limits.deadline=24h")
    assert result.code == 0
    assert json.loads(result.out) == plans.optimal().document()
    assert api.calls[-1] == ("frontier", {"request": "request", "points": 12, "backend": "pulp"})
    first, other = map(json.loads, documents(page))
    assert first == plans.optimal().document()
    assert other == plans.faster().document()
    text = page.read_text(encoding="utf-8")
    assert "constraints.yaml" in text
    assert "limits.deadline=24h" in text
    assert "version: 1" in text


@pytest.mark.parametrize("plan", [plans.feasible, plans.infeasible, plans.nothing_found])
def test_what_is_no_proven_plan_stands_alone(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path, plan: Callable[[], plans.Plan]
) -> None:
    api.plan = plan()
    rlopt_run("solve", request_file, "--report", tmp_path / "plan.html")
    assert [name for name, _ in api.calls] == ["load", "solve"]
    assert len(documents(tmp_path / "plan.html")) == 1


def test_no_more_is_searched_under_a_time_limit(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    rlopt_run("solve", request_file, "--time-limit", "60s", "--report", tmp_path / "plan.html")
    assert [name for name, _ in api.calls] == ["load", "solve"]


def test_frontier_shows_its_cheapest_plan_first(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    rlopt_run("frontier", request_file, "--report", tmp_path / "plan.html")
    assert [json.loads(text) for text in documents(tmp_path / "plan.html")] == [
        plans.optimal().document(),
        plans.faster().document(),
    ]


def test_a_frontier_without_a_plan_tells_what_would_help(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    api.plan, api.curve = plans.infeasible(), Frontier(points=[])
    assert rlopt_run("frontier", request_file, "--json", "--report", tmp_path / "plan.html").code == 3
    assert "What would help" in (tmp_path / "plan.html").read_text(encoding="utf-8")


def test_no_page_stays_behind_when_it_cannot_be_made(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError

    monkeypatch.setattr(render, "_policy", fail)
    result = rlopt_run("solve", request_file, "--json", "--report", tmp_path / "plan.html")
    assert result.code == 1
    assert json.loads(result.out) == plans.optimal().document()  # the answer itself is not lost
    assert not list(tmp_path.glob("*.html*"))
