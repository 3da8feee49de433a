"""``rlopt validate`` from the command line: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rlopt.measured.outcome import RowOutcome
from rlopt.measured.predictions import FAULT
from rlopt.measured.records import COLUMNS
from tests.cli.conftest import Result
from tests.measured.fakes import replace_models, twice

Run = Callable[..., Result]
TEXT = "id,gpu,tokens_per_s_per_gpu,peak_mem_gib,result\na,H100-SXM,100,40,fits\nb,A100-80GB,50,,oom\n=c,A100-80GB,,,\n"


@pytest.fixture
def measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    replace_models(monkeypatch, twice)
    path = tmp_path / "m.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_report(rlopt_run: Run, measurements: Path) -> None:
    result = rlopt_run("validate", measurements)
    assert (result.code, result.err) == (0, "")
    assert "3 rows, 5 measured values, 5 predicted" in result.out
    assert "no measured value" in result.out


def test_json_is_all_there_is(rlopt_run: Run, measurements: Path) -> None:
    result = rlopt_run("validate", measurements, "--json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)
    assert [one["id"] for one in found["predictions"]] == ["a", "a", "a", "b", "b", "=c"]
    assert found["summary"]["training"]["all"]["median_error"] == 1.0
    assert found["calibration"]["name"]


def test_files(rlopt_run: Run, measurements: Path, tmp_path: Path) -> None:
    out, png, svg = tmp_path / "p.csv", tmp_path / "p.PNG", tmp_path / "p.svg"
    assert rlopt_run("validate", measurements, "--out", out, "--plot", png).code == 0
    assert rlopt_run("validate", measurements, "--plot", svg).code == 0
    with out.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == list(COLUMNS)
    assert [(row["id"], row["status"]) for row in rows][-2:] == [("b", "predicted"), ("'=c", "unsupported")]
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"</svg>" in svg.read_bytes()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "m.csv:1: is empty"),
        ("id,gpu\na,b\n", "m.csv:1: no column tells what was measured"),
        ("id,step_time_s\na\nb,1\nc\n", "m.csv:4: has 1 cells"),
        ("id;step_time_s\na;1\n", "save the file with commas"),
    ],
)
def test_bad_files_are_refused_and_nothing_is_written(
    rlopt_run: Run, measurements: Path, tmp_path: Path, text: str, words: str
) -> None:
    measurements.write_text(text, encoding="utf-8")
    result = rlopt_run("validate", measurements, "--out", tmp_path / "p.csv", "--plot", tmp_path / "p.png")
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert "Traceback" not in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_no_file_a_folder_another_encoding(rlopt_run: Run, tmp_path: Path) -> None:
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "absent.csv", "there is no such file")):
        result = rlopt_run("validate", path)
        assert (result.code, result.out) == (2, "")
        assert words in result.err
    foreign = tmp_path / "utf16.csv"
    foreign.write_text(TEXT, encoding="utf-16")
    assert "UTF-16" in rlopt_run("validate", foreign).err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--out", "m.csv"), "must be different files"),
        (("--plot", "p.pdf"), "end it in .png or .svg"),
        (("--plot", "absent/p.png"), "does not exist"),
        (("--out", "p.svg", "--plot", "p.svg"), "must be different files"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_any_work(
    rlopt_run: Run, measurements: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    places = [word if word.startswith("--") else tmp_path / word for word in options]
    result = rlopt_run("validate", measurements, *places)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert measurements.read_text(encoding="utf-8") == TEXT


def test_a_defect_is_said_aloud(rlopt_run: Run, measurements: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, lambda row: RowOutcome.unsupported(f"{FAULT}: KeyError"))
    result = rlopt_run("validate", measurements)
    assert result.code == 0
    assert result.err.startswith("warning: 5 rows met a defect")


def test_the_models_themselves_answer(rlopt_run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(
        "id,engine,model,gpu,gpus,tp,weight_precision,input_len,output_len,batch_or_concurrency,output_tokens_per_s_total\n"
        "a,vLLM,Qwen/Qwen2.5-7B-Instruct,H100-SXM,1,1,bf16,1000,1000,64,4000\n"
        "b,vLLM,no such model,H100-SXM,1,1,bf16,1000,1000,64,4000\n",
        encoding="utf-8",
    )
    first, second = json.loads(rlopt_run("validate", path, "--json").out)["predictions"]
    assert first["status"] == "predicted"
    assert 0.2 < first["ratio"] < 5.0
    assert second["status"] == "unsupported"
    assert "no such model" in second["reason"]
