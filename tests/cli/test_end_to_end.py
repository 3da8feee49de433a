"""The commands with nothing replaced: from a file on disk to the exit code, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from rlopt.workloads import ALGORITHMS
from tests.cli.conftest import Result

Run = Callable[..., Result]
NAMES = [module.NAME for module in ALGORITHMS]


@pytest.fixture
def quickstart(root: Path) -> Path:
    """Return the request of the README."""
    return root / "examples" / "quickstart.yaml"


def test_quickstart_solves_to_a_proof(
    rlopt_run: Run, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")  # no name is folded
    saved = tmp_path / "plan.json"
    result = rlopt_run("solve", quickstart, "-o", saved)
    assert (result.code, result.err) == (0, "")
    plan = json.loads(saved.read_text(encoding="utf-8"))
    assert plan["status"] == "optimal"
    lines = sum(line["usd"] for line in plan["cost"]["lines"])
    assert lines == pytest.approx(plan["cost"]["total_usd"], abs=0.005)
    assert f"${plan['cost']['total_usd']:,.2f}" in result.out
    for pool in plan["pools"]:
        assert pool["instance_type"] in result.out


def test_an_impossible_deadline_is_proven_and_says_what_would_help(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("solve", quickstart, "--set", "limits.deadline=1min", "--json")
    plan = json.loads(result.out)
    assert (result.code, plan["status"], plan["pools"], plan["cost"]) == (3, "infeasible", [], None)
    assert "limits.deadline" in json.dumps(plan["relaxations"])


def test_frontier_falls(rlopt_run: Run, quickstart: Path) -> None:
    result = rlopt_run("frontier", quickstart, "--points", 4, "--json")
    assert result.code == 0
    points = json.loads(result.out)["points"]
    hours = [point["time"]["confident_hours"] for point in points]
    totals = [point["cost"]["total_usd"] for point in points]
    assert 1 <= len(points) <= 4
    assert hours == sorted(hours)
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("algorithm", NAMES)
def test_what_init_writes_passes_check(rlopt_run: Run, tmp_path: Path, algorithm: str) -> None:
    request = tmp_path / "constraints.yaml"
    assert rlopt_run("init", "--algorithm", algorithm, "-o", request).code == 0
    assert "#" in request.read_text(encoding="utf-8")
    result = rlopt_run("check", request)
    assert (result.code, result.err) == (0, "")
    assert result.out


def test_the_schema_accepts_what_the_reader_accepts(rlopt_run: Run, quickstart: Path) -> None:
    schema = json.loads(rlopt_run("schema").out)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    document = YAML(typ="safe", pure=True).load(quickstart.read_text(encoding="utf-8"))
    validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        validator(schema).validate({**document, "jbo": {}})


def test_a_wrong_file_is_refused_with_its_place(rlopt_run: Run, tmp_path: Path) -> None:
    request = tmp_path / "constraints.yaml"
    request.write_text("version: 1\njob:\n  algoritm: grpo\n", encoding="utf-8")
    result = rlopt_run("solve", request, "--json")
    assert (result.code, result.out) == (2, "")
    assert f"{request.name}:3" in result.err
    assert "algorithm" in result.err


def test_the_shipped_catalog_can_be_listed_and_shown(rlopt_run: Run) -> None:
    counts = json.loads(rlopt_run("catalog", "list", "--json").out)
    assert sum(row["offers"] for row in counts["offers"]) > 500
    offers = json.loads(rlopt_run("catalog", "list", "offers", "--gpu", "H100", "--json").out)
    assert {offer["device"].split("-")[0] for offer in offers} == {"H100"}
    shown = json.loads(rlopt_run("catalog", "show", offers[0]["id"], "--json").out)
    assert shown[0]["price_per_hour"] == offers[0]["price_per_hour"]
    assert rlopt_run("catalog", "list").out


def test_a_report_holds_the_frontier_that_it_proves(rlopt_run: Run, root: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    result = rlopt_run("solve", root / "examples" / "sft-lora.yaml", "--json", "--report", page, "--lang", "zh")
    assert (result.code, result.err) == (0, "")
    plan = json.loads(result.out)
    text = page.read_text(encoding="utf-8")
    parts = text.split('<script type="application/json" class="document" data-plan="')[1:]
    plans = [json.loads(part.partition(">")[2].partition("</script>")[0]) for part in parts]
    assert plan in plans
    assert len(plans) > 1
    assert all(one["status"] == "optimal" for one in plans)
    assert all(one["cost"]["total_usd"] >= plan["cost"]["total_usd"] for one in plans)
    assert "的成本为" in text
    assert "extends: [sft]" in text
