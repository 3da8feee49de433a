"""The file of predictions of rows that no fit saw."""

from __future__ import annotations

from pathlib import Path

from lab.fitting.out_of_sample import COLUMNS as KEPT_OUT_COLUMNS
from lab.fitting.out_of_sample import kept_out_csv, read_kept_out


def test_kept_out_predictions_come_back_as_they_were_written(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"kind": "rl", "id": "r", "quantity": "gen_time_s", "scheme": "device", "measured": 2.0, "predicted": 3.0},
        {"kind": "memory", "id": "m", "scheme": "fold", "measured": 1 / 3, "predicted": float("nan"), "source": "s"},
    ]
    path = tmp_path / "kept.csv"
    path.write_text(kept_out_csv(rows), encoding="utf-8")
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(KEPT_OUT_COLUMNS)
    assert kept_out_csv(reversed(rows)) == kept_out_csv(rows)
    found = read_kept_out(path)
    (memory,), (stage,) = found["fold"], found["device"]
    assert (memory.section, memory.measured, memory.predicted) == ("memory", 0.33333, None)
    assert (memory.labels["source"], memory.labels["model"]) == ("s", "not stated")
    assert (stage.section, stage.ratio, stage.unit) == ("rl stages", 1.5, "s")
