"""Statistics against arithmetic by hand."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.measured.meanings import KEYS, STATISTICS
from rlopt.measured.outcome import RowOutcome
from rlopt.measured.points import LABELS, Point, points_of, short_source, size_class
from rlopt.measured.records import COLUMNS, document, records, to_csv
from rlopt.measured.rows import parse_table
from rlopt.measured.summary import breakdown, statistics, summary, verdicts, worst
from tests.measured.fakes import CALIBRATION, predict, replace_models, twice


def point(
    measured: float | str | None,
    predicted: float | str | None,
    *,
    band: tuple[float, float] | None = None,
    limit: float | None = None,
    source: str = "s",
    name: str = "a",
) -> Point:
    low, high = band or (None, None)
    labels = dict.fromkeys(LABELS, "x") | {"source": source}
    reason = "" if predicted is not None else "why"
    return Point("training", name, "step_time_s", "s", measured, predicted, reason, low, high, limit, labels)


def test_by_hand() -> None:
    points = [
        point(10.0, 11.0, band=(9.0, 12.0)),
        point(10.0, 8.0, band=(7.0, 9.0)),
        point(10.0, 40.0),
        point(10.0, None),
        point(None, None),
    ]
    found = statistics(points)
    assert (found.measured, found.predicted, found.unsupported, found.coverage) == (4, 3, 1, 0.75)
    assert found.median_error == pytest.approx(0.2)
    assert found.p90_error == pytest.approx(0.2 + 0.8 * 2.8)
    assert found.bias == pytest.approx(0.1)
    assert found.in_band == 0.5
    assert found.over_limit is None


def test_nothing_predicted() -> None:
    found = statistics([point(10.0, None)])
    assert (found.coverage, found.median_error, found.p90_error, found.bias) == (0.0, None, None, None)
    assert statistics([]).coverage is None


def test_peaks_above_the_limit() -> None:
    points = [point(10.0, 9.0, limit=limit) for limit in (9.0, 10.0, 11.0, None)]
    assert statistics(points).over_limit == pytest.approx(1 / 3)


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=30))
def test_errors_do_not_mind_the_unit(ratios: list[float]) -> None:
    small = statistics([point(1.0, ratio) for ratio in ratios])
    large = statistics([point(1000.0, 1000.0 * ratio) for ratio in ratios])
    assert small.median_error == pytest.approx(large.median_error)
    assert small.bias == pytest.approx(large.bias)
    assert 0.0 <= (small.median_error or 0.0) <= (small.p90_error or 0.0)


def test_groups_largest_first() -> None:
    points = [point(1.0, 1.0, source="b"), point(1.0, 3.0, source="a"), point(1.0, 1.0, source="a")]
    found = breakdown(points, "source")
    assert list(found) == ["a", "b"]
    assert found["a"].median_error == pytest.approx(1.0)
    assert list(breakdown(points, "quantity")) == ["step_time_s"]


def test_the_four_fields() -> None:
    pairs = [("fits", "fits"), ("fits", "fits"), ("fits", "oom"), ("oom", "fits"), ("oom", "oom"), ("oom", None)]
    found = verdicts([point(*pair) for pair in pairs])
    assert (found["fits_said_fits"], found["fits_said_oom"]) == (2, 1)
    assert (found["oom_said_fits"], found["oom_said_oom"]) == (1, 1)
    assert (found["fits_unsupported"], found["oom_unsupported"]) == (0, 1)
    assert found["said_to_fit_but_ran_out"] == 0.5
    assert found["said_not_to_fit_but_ran"] == pytest.approx(1 / 3)


def test_too_high_and_too_low_are_equally_far_off() -> None:
    points = [point(1.0, ratio, name=str(ratio)) for ratio in (1.0, 3.0, 0.25, 1.5)]
    assert [one.id for one in worst(points, 2)] == ["0.25", "3.0"]


def test_sections_keep_what_cannot_be_averaged_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, twice)
    found = summary(points_of(predict("id,K,step_time_s,gen_time_s,peak_mem_gib,result\na,8,9,5,40,fits\n")))
    assert list(found) == ["rl", "rl stages", "memory", "fits"]
    assert "verdicts" in found["fits"]
    assert list(found["rl stages"]["by"]["quantity"]) == ["gen_time_s"]


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("https://github.com/a/b/c.md", "a/b"),
        ("github:NVIDIA/TensorRT-LLM docs/x.md @1", "NVIDIA/TensorRT-LLM"),
        ("mosaicml/llm-foundry:scripts/x@1", "mosaicml/llm-foundry"),
        ("anl", "anl"),
        ("", "not stated"),
    ],
)
def test_source_in_short(cell: str, name: str) -> None:
    assert short_source(cell) == name


@pytest.mark.parametrize(
    ("params", "name"),
    [(0.5, "under 1 B"), (1.0, "1 to 4 B"), (7.0, "4 to 16 B"), (671.0, "over 150 B"), (None, "not stated")],
)
def test_size_classes(params: float | None, name: str) -> None:
    assert size_class(params) == name


def test_csv_begins_with_the_columns_of_the_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, twice)
    text = to_csv(records(predict("id,gpu,step_time_s\na,H100,1.5\n")))
    assert text.startswith("id,kind,measured,predicted,ratio,status,reason,")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["id"], row["kind"], row["measured"], row["predicted"]) == ("a", "training", "1.5", "3")
    assert (row["ratio"], row["status"], row["reason"], row["line"]) == ("2", "predicted", "", "2")


@pytest.mark.parametrize("name", ["=1+1", "+1", "@SUM(A1)", "-2+3", "=cmd|' /C calc'!A0"])
def test_no_cell_is_a_formula(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    replace_models(monkeypatch, lambda row: RowOutcome(1.0, note=name))
    text = to_csv(records(predict(f'id,model,step_time_s\n"{name}","{name}",2\n')))
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["id"], row["model"], row["note"]) == (f"'{name}", f"'{name}", f"'{name}")


def test_document_is_json_and_names_repeated_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, twice)
    text = "id,step_time_s\na,1\na,2\nb,\n"
    found = document(parse_table(text, "m.csv"), predict(text), CALIBRATION)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["schema"], found["rows"], found["repeated_ids"]) == ("rlopt.validation/1", 3, ["a"])
    assert [list(one) for one in found["predictions"]] == [list(COLUMNS)] * 3
    assert list(found) == list(KEYS)
    assert list(found["summary"]["training"]["all"]) == list(STATISTICS)
    assert found["unsupported"] == [{"section": "training", "reason": "no measured value", "rows": 1}]
