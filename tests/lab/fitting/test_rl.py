"""The study of loops: errors of steps that no fit saw, and of weight synchronisation."""

from __future__ import annotations

import numpy as np
import pytest

from lab.fitting.folds import out_of_sample
from lab.fitting.published import dropped
from lab.fitting.rl import measured_rows, study
from lab.fitting.rl_sync import study as sync_study
from lab.fitting.rl_sync import transport_of
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting import fit
from rlopt.measured.rows import MeasuredRow

CATALOG, CAL = load_catalog(), load_catalog().calibration
STUDY = study(CATALOG, CAL)
STATED = np.array([lengths == "stated" for lengths in STUDY.labels["lengths"]])


@pytest.mark.parametrize("by", ["config", "model"])
def test_steps_with_a_stated_length_are_met_out_of_sample(by: str) -> None:
    error = np.abs(out_of_sample(STUDY, CAL, by) / STUDY.measured - 1.0)[STATED]
    assert len(error) >= 55
    assert np.median(error) <= 0.17
    assert np.quantile(error, 0.9) <= 0.42


def test_the_shipped_constants_are_those_of_the_fit() -> None:
    found = fit(STUDY, CAL)
    for parameter in STUDY.parameters:
        assert CAL.at(parameter.path) == pytest.approx(found.at(parameter.path), rel=0.25), parameter.path


def test_fits_begin_where_the_shipped_constants_play_no_part() -> None:
    moved = CAL.replaced({parameter.path: 1.5 * CAL.at(parameter.path) for parameter in STUDY.parameters})
    again = fit(study(CATALOG, moved), moved)
    found = fit(STUDY, CAL)
    assert [again.at(p.path) for p in STUDY.parameters] == [found.at(p.path) for p in STUDY.parameters]


def test_rows_left_out_exist_and_say_why() -> None:
    ids = {row.id for row in measured_rows()}
    assert dropped("rl") <= ids
    assert not dropped("rl") & set(STUDY.ids)


def test_lines_by_implementation_describe_synchronisation() -> None:
    """One line for all misses by 77 % (median); a line for each implementation by an eighth of that."""
    rows = sync_study(CATALOG, CAL)
    found = fit(rows, CAL)
    error = np.abs(rows.predict(found) / rows.measured - 1.0)
    assert len(rows.ids) >= 100
    assert np.median(error) < 0.15
    left_out = np.abs(out_of_sample(rows, CAL, "row", 10) / rows.measured - 1.0)
    assert np.median(left_out) < 0.35


def test_implementations_are_told_by_framework_mode_and_transport() -> None:
    def told(**cells: str) -> str:
        return transport_of(MeasuredRow(2, cells), CAL)

    assert told(framework="verl", mode="disaggregated", transport="nccl") == "verl-nccl"
    assert told(framework="NeMo-RL", mode="disaggregated", transport="NCCL broadcast") == "nemo-rl-broadcast"
    assert told(framework="miles/SGLang", mode="disaggregated", transport="RDMA P2P (Mooncake)") == "miles-p2p"
    assert told(framework="somebody's", mode="disaggregated", transport="pigeons") == ""
