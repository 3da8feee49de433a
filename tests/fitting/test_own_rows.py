"""Rows of one's own move constants as far as they agree, and predict rows that they never saw better."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rlopt.facts.files.folder import load_catalog
from rlopt.fitting.user_rows import fit_rows, fit_study
from rlopt.measured.rows import parse_table

BASE = load_catalog().calibration
ENGINE, DEVICE = "llm-foundry", "A100-80GB"


@pytest.fixture(scope="module")
def bench(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_calibration", root / "benchmarks" / "calibration.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["rl", "training"])
def test_half_of_a_setup_predicts_its_other_half_better(bench: ModuleType, kind: str) -> None:
    found = bench.held_out(kind, None, bench.setups(bench.rows_of(kind)))
    assert np.median(found.after) < np.median(found.before)
    assert np.quantile(found.after, 0.9) < 1.05 * np.quantile(found.before, 0.9)


def test_rows_that_agree_move_their_stack_and_narrow_its_band(bench: ModuleType) -> None:
    rows = [row for row in bench.rows_of("training") if row["engine"] == ENGINE and row["device"] == DEVICE]
    slower = [{**row, "measured": str(float(row["predicted"]) / 1.3), "quantity": ""} for row in rows]
    few, many = (fit_study(bench.study_of("training", part, BASE), load_catalog(), BASE) for part in
                 (slower[:2], slower))  # fmt: skip
    for found in (few, many):
        assert found.band[DEVICE][1] < found.band[DEVICE][0]
    paths = (("training", "engine_factor", ENGINE), ("training", "device_factor", DEVICE))
    times = [float(np.prod([found.moved[path][1] / found.moved[path][0] for path in paths if path in found.moved]))
             for found in (few, many)]  # fmt: skip
    assert 1.0 < times[0] < times[1]
    assert times[1] == pytest.approx(1.3, rel=0.05)
    assert many.band[DEVICE][1] < few.band[DEVICE][1]


def test_rows_that_tell_no_time_are_counted(root: Path) -> None:
    lines = (root / "measurements" / "training.csv").read_text(encoding="utf-8").splitlines()
    table = parse_table("\n".join([*lines[:40], "x" + "," * lines[0].count(",")]) + "\n", "mine.csv")
    fits, left_out = fit_rows(table, load_catalog(), BASE)
    used = sum(len(one.ids) for one in fits)
    assert left_out["no time or rate of a step"] >= 1
    assert used + sum(left_out.values()) == len(table.rows)
