"""Kinds told by columns, one record per measured value, and no row left out."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from rlopt.errors import InputError
from rlopt.measured import predictions
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.predictions import FAULT
from rlopt.measured.quantities import KINDS
from rlopt.measured.rows import MeasuredRow, read_table
from tests.measured.fakes import CALIBRATION, CATALOG, predict, replace_models, twice

MEASUREMENTS = Path(__file__).resolve().parents[2] / "measurements"


@pytest.fixture(autouse=True)
def _models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RLOPT_DEBUG", raising=False)
    replace_models(monkeypatch, twice)


def told(text: str) -> list[tuple[str, str, str]]:
    """Id, kind and quantity of each record."""
    return [(one.row.id, one.kind, one.row.quantity) for one in predict(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,tokens_per_s_per_gpu,step_time_s\na,10,2\n", [("a", "training", "tokens_per_s_per_gpu")]),
        ("id,tokens_per_s_per_gpu,step_time_s\na,,2\n", [("a", "training", "step_time_s")]),
        ("id,step_time_s,K\na,2,8\n", [("a", "rl", "step_time_s")]),
        ("id,step_time_s,K\na,2,\n", [("a", "rl", "step_time_s")]),
        ("id,output_tokens_per_s_total\na,2\n", [("a", "generation", "output_tokens_per_s_total")]),
        (
            "id,tokens_per_s_per_gpu,peak_mem_gib\na,10,2\nb,,3\n",
            [("a", "training", "tokens_per_s_per_gpu"), *((name, "memory", "peak_mem_gib") for name in "ab")],
        ),
        ("id,K,peak_mem_gib,result\na,8,2,oom\n", [("a", "memory", "peak_mem_gib"), ("a", "memory", "fits")]),
        (
            "id,K,step_time_s,gen_time_s,train_time_s\na,8,9,5,4\nb,8,,,4\n",
            [("a", "rl", "step_time_s"), ("a", "rl", "gen_time_s"), *((name, "rl", "train_time_s") for name in "ab")],
        ),
        ("id,K,step_time_s,samples_per_s\na,8,,5\n", [("a", "rl", "samples_per_s")]),
    ],
)  # fmt: skip
def test_kind_by_columns(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert told(text) == expected


def test_one_record_holds_what_was_measured_and_what_was_said() -> None:
    speed, memory = predict("id,gpu,tokens_per_s_per_gpu,result\na,H100,10,OOM\n")
    assert (speed.measured, speed.outcome.predicted, speed.ratio, speed.status) == (10.0, 20.0, 2.0, "predicted")
    assert (speed.unit, speed.label("device"), speed.label("nothing")) == ("tokens/s per GPU", "H100", "")
    assert (memory.measured, memory.outcome.predicted, memory.ratio) == ("oom", "fits", None)


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("step_time_s", "training"),
        ("step_time_s,K", "rl"),
        ("output_tokens_per_s_total", "generation"),
        ("result,K", "memory"),
    ],
)
def test_a_row_without_a_measured_value_is_there(header: str, kind: str) -> None:
    (one,) = predict(f"id,{header}\na{',' * len(header.split(','))}\n")
    assert (one.kind, one.status, one.outcome.reason) == (kind, "unsupported", "no measured value")
    assert (one.measured, one.ratio) == (None, None)


@pytest.mark.parametrize("cell", ["-3", "0", "inf", "-inf", "1e999", "fast", "3,5"])
def test_a_measured_value_that_cannot_be(cell: str) -> None:
    (one,) = predict(f'id,step_time_s\na,"{cell}"\n')
    assert (one.status, one.measured) == ("unsupported", None)
    assert repr(cell) in one.outcome.reason


def test_a_result_that_is_neither() -> None:
    (one,) = predict("id,result\na,maybe\n")
    assert one.outcome.reason == "the result 'maybe' is neither fits nor oom"


@pytest.mark.parametrize("cell", ["-2", "inf", "1e400", "0", "0.5", "1e12"])
def test_a_setting_that_cannot_be_is_named(cell: str) -> None:
    (one,) = predict(f"id,step_time_s,tp\na,2,{cell}\n")
    assert (one.status, one.outcome.reason, one.measured) == ("unsupported", f"tp cannot be {cell}", 2.0)


@pytest.mark.parametrize(
    ("column", "cell"), [("ep", "0"), ("tp", ""), ("tp", "y"), ("gpus", "nan"), ("gpus", ">2"), ("lora_rank", "y")]
)
def test_a_setting_that_may_mean_something_is_left_to_the_model(column: str, cell: str) -> None:
    (one,) = predict(f"id,step_time_s,{column}\na,2,{cell}\n")
    assert one.status == "predicted"


def test_a_file_without_measurements_is_refused() -> None:
    with pytest.raises(InputError, match="no column tells what was measured"):
        predict("id,gpu\na,H100\n")


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0, "fits", 1e308])
def test_what_is_no_prediction_is_not_passed_on(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    replace_models(monkeypatch, lambda row: RowOutcome(value))
    (one,) = predict("id,step_time_s\na,1e-300\n")
    assert (one.status, one.outcome.reason) == ("unsupported", "the model gives no finite value above zero")


def test_every_number_has_a_band_with_two_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, lambda row: RowOutcome(1.0, low=math.nan, high=math.inf, limit=2))
    (one,) = predict("id,step_time_s\na,2\n")
    assert one.outcome.low is not None
    assert one.outcome.high is not None
    assert 0.0 < one.outcome.low < 1.0 < one.outcome.high < math.inf
    assert one.outcome.limit == 2.0


def test_a_row_that_a_model_trips_over_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def trip(row: MeasuredRow) -> RowOutcome:
        if row.id == "b":
            message = "no such key"
            raise KeyError(message)
        return RowOutcome(1.0)

    replace_models(monkeypatch, trip)
    text = "id,step_time_s\na,1\nb,1\nc,1\n"
    assert [one.status for one in predict(text)] == ["predicted", "unsupported", "predicted"]
    assert predict(text)[1].outcome.reason == f"{FAULT}: KeyError: 'no such key'"
    monkeypatch.setenv("RLOPT_DEBUG", "1")
    with pytest.raises(KeyError):
        predict(text)


@pytest.mark.parametrize(
    "name", ["training", "memory_small", "memory_fit", "generation", "generation_latency_derived", "rl"]
)
def test_every_row_of_the_shipped_files_comes_back(name: str) -> None:
    from rlopt.measured.predictions import predict_table

    table = read_table(MEASUREMENTS / f"{name}.csv")
    found = predict_table(table, CATALOG, CALIBRATION)
    assert list(dict.fromkeys(one.row.id for one in found)) == [row.id for row in table.rows]
    assert all(one.status == "predicted" or one.outcome.reason for one in found)


@pytest.mark.parametrize("name", ["weight_sync", "rl_upper_bounds"])
def test_files_of_other_things_are_refused(name: str) -> None:
    from rlopt.measured.predictions import predict_table

    with pytest.raises(InputError, match="no column tells"):
        predict_table(read_table(MEASUREMENTS / f"{name}.csv"), CATALOG, CALIBRATION)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_model(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert predictions.models()[kind].__module__.startswith("rlopt.measured.")


def test_a_broken_import_is_an_error_and_no_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "rlopt.measured.loop.rows", None)
    with pytest.raises(ImportError, match=r"rlopt\.measured\.loop\.rows"):
        predict("id,step_time_s,K\na,2,8\n")
