from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from rlopt.answers.plan import Frontier
from tests.cli.conftest import FakeApi, Result
from tests.reports import plans

Run = Callable[..., Result]


def test_json_is_the_frontier(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    api.curve = Frontier(points=[plans.optimal()])
    result = rlopt_run("frontier", request_file, "--json", "--points", 3, "--backend", "ortools")
    assert result.code == 0
    document = json.loads(result.out)
    assert document["schema"] == "rlopt.frontier/1"
    assert document["points"] == [plans.optimal().document()]
    assert api.calls[-1] == ("frontier", {"request": "request", "points": 3, "backend": "ortools"})


def test_text_csv_and_files(api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path) -> None:
    assert rlopt_run("frontier", request_file).out.startswith("math-7b: 2 plans")
    table = rlopt_run("frontier", request_file, "--csv", "-o", tmp_path / "f.csv").out
    assert len(list(csv.DictReader(io.StringIO(table)))) == 2
    assert (tmp_path / "f.csv").read_text(encoding="utf-8") == table
    rlopt_run("frontier", request_file, "-o", tmp_path / "f.json")
    assert len(json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))["points"]) == 2


def test_one_unproven_point_is_no_proof(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    assert rlopt_run("frontier", request_file).code == 4


def test_no_point_at_all_is_infeasible(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    api.curve = Frontier(points=[])
    assert rlopt_run("frontier", request_file, "--json").code == 3


def test_two_forms_at_once_are_refused(api: FakeApi, rlopt_run: Run, request_file: Path) -> None:
    result = rlopt_run("frontier", request_file, "--json", "--csv")
    assert (result.code, result.out, api.calls) == (2, "", [])


def test_a_picture_of_another_kind_is_refused_before_solving(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    result = rlopt_run("frontier", request_file, "--plot", tmp_path / "f.pdf")
    assert (result.code, result.out, api.calls) == (2, "", [])
    assert "f.pdf is neither an SVG nor a PNG file" in result.err


def test_two_results_in_one_file_are_refused_before_solving(
    api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path
) -> None:
    result = rlopt_run("frontier", request_file, "--plot", tmp_path / "f.svg", "-o", tmp_path / "f.svg")
    assert (result.code, result.out, api.calls) == (2, "", [])
    assert "-o and --plot name the same file" in result.err


def test_a_picture_beside_the_json(api: FakeApi, rlopt_run: Run, request_file: Path, tmp_path: Path) -> None:
    result = rlopt_run("frontier", request_file, "--json", "--plot", tmp_path / "f.SVG")
    assert json.loads(result.out)["schema"] == "rlopt.frontier/1"
    assert (tmp_path / "f.SVG").read_text(encoding="utf-8").startswith("<?xml")
