"""Published rows with cells spoilt: the models predict or refuse, and never trip."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from rlopt import api
from rlopt.facts.files.folder import load_catalog
from rlopt.measured.predictions import predict_table
from rlopt.measured.rows import MeasuredRow, MeasuredTable, read_table

MEASUREMENTS = Path(__file__).resolve().parents[2] / "measurements"
ROWS = 150
SPOILT = (
    "", "0", "0.5", "1", "1e8", "1e18", "1e-9", "-1", "nan", "inf", "abc", "=1+1", "y", "n", "none", "None", "fp8",
    "int4", "9" * 30, "3.7", "💥", "x" * 500, "(total)",
)  # fmt: skip


@pytest.mark.parametrize("name", ["training", "memory_small", "memory_fit", "generation", "rl"])
def test_spoilt_cells(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLOPT_DEBUG", "1")  # a defect is raised, not reported
    dice = random.Random(name)
    table = read_table(MEASUREMENTS / f"{name}.csv")
    rows = []
    for row in dice.sample(table.rows, ROWS):
        spoilt = dice.sample(sorted(set(row.cells) - {"id"}), dice.choice((1, 1, 2, 4)))
        rows.append(MeasuredRow(row.line, {**row.cells, **{column: dice.choice(SPOILT) for column in spoilt}}))
    found = predict_table(MeasuredTable(name, table.columns, tuple(rows)), api.catalog(), load_catalog().calibration)
    assert {one.row.line for one in found} == {row.line for row in rows}
    for one in found:
        predicted, low, high = one.outcome.predicted, one.outcome.low, one.outcome.high
        assert one.outcome.reason if predicted is None else not one.outcome.reason
        if isinstance(predicted, float):
            assert low is not None
            assert high is not None
            assert 0.0 < low < predicted < high < math.inf
