"""The report and the picture of predictions against measurements."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from rlopt.measured.records import document
from rlopt.measured.rows import parse_table
from rlopt.reports.accuracy_plot import calibration_plot
from rlopt.reports.layout import to_text
from rlopt.reports.text.accuracy import accuracy_report, percent, plain
from tests.measured.fakes import CALIBRATION, predict, replace_models, twice

TEXT = (
    "id,gpu,model,tokens_per_s_per_gpu,peak_mem_gib,result\n"
    "a,H100,m-7B,100,40,fits\nb,A100,m-7B,50,,oom\nc,A100,m-7B,,,\n"
)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    replace_models(monkeypatch, twice)
    return document(parse_table(TEXT, "m.csv"), predict(TEXT), CALIBRATION)


def test_report_says_what_was_measured_predicted_and_refused(found: dict[str, Any]) -> None:
    text = to_text(*accuracy_report(found))
    assert text.startswith("m.csv: 3 rows, 5 measured values, 5 predicted\n")
    assert "Training time (2 of 2 predicted, 100 %)" in text
    assert "By device" in text
    all_rows = text.split("  all ")[1].split("\n")[0]
    assert all_rows.replace(" %", "%").split() == ["2", "2", "100%", "100%", "+100%", "100%"]
    assert "said to fit but ran out: 100 % of the predicted rows that ran out" in text
    assert "no measured value" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_report_keeps_to_its_width(found: dict[str, Any], width: int) -> None:
    assert max(map(len, to_text(*accuracy_report(found), width=width).splitlines())) <= width


def test_a_file_without_rows_has_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_models(monkeypatch, twice)
    text = "id,step_time_s\n"
    empty = document(parse_table(text, "m.csv"), predict(text), CALIBRATION)
    assert to_text(*accuracy_report(empty)) == "m.csv: 0 rows, 0 measured values, 0 predicted\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0123, "1.2 %"), (0.5, "50 %"), (12.0, "> 999 %")],
)
def test_percent(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_texts_of_others_cannot_steer_a_terminal() -> None:
    assert plain("a\x9b31m\nb\u202ec") == "a 31m b c"
    assert len(plain("x" * 500)) == 60


def test_svg_names_axes_with_units_and_is_the_same_twice(found: dict[str, Any]) -> None:
    picture = calibration_plot(found["predictions"], "svg")
    assert picture == calibration_plot(found["predictions"], "svg")
    root = ET.fromstring(picture)
    assert root.tag.endswith("svg")
    for words in ("measured (tokens/s per GPU)", "predicted (GiB)", "Peak memory: 1 row"):
        assert words.encode() in picture


def test_png_is_one(found: dict[str, Any]) -> None:
    assert calibration_plot(found["predictions"], "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["$x^", "_hidden", "\\frac{", "", "汉字"])
def test_any_source_can_be_drawn(found: dict[str, Any], name: str) -> None:
    rows = [one | {"source": name} for one in found["predictions"]]
    assert calibration_plot(rows, "svg")


def test_nothing_to_draw_says_so() -> None:
    assert calibration_plot([], "svg")
