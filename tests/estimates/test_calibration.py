"""The shipped constants and files that change some of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from rlopt.data_dir import catalogs_dir
from rlopt.errors import InputError
from rlopt.estimates import GENERATIONS
from rlopt.facts.files.folder import load_catalog
from rlopt.facts.files.tables import table
from tests.estimates.parts import catalog


def test_every_constant_says_where_it_comes_from() -> None:
    for path in sorted((catalogs_dir() / "calibration").glob("*.yaml")):
        _every_line(path)


def _every_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    under = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"\w+:", line):
            under = line
        if not re.search(r":\s*[-\d{\[]", line) or line.startswith("#"):
            continue
        assert line.startswith("as_of") or "#" in line or "#" in under, f"{path.name}, line {number}: {line}"


def test_tables_name_every_generation_and_engine() -> None:
    found = load_catalog().calibration
    for room in (found.training, found.memory, found.generation):
        for key, value in room.items():
            if isinstance(value, dict) and "Hopper" in value:
                assert set(value) == set(GENERATIONS), key
            if isinstance(value, dict) and "megatron" in value:
                assert set(value) <= set(found.engines), key
    assert {device.generation for device in catalog().devices.values()} <= set(GENERATIONS)


def test_look_ups_follow_codes() -> None:
    found, hopper = load_catalog().calibration, np.array([GENERATIONS.index("Hopper")])
    assert found.value("training", "half_width") == found.training["half_width"]
    assert found.by_generation("training", "gemm_ceiling", hopper)[0] == found.training["gemm_ceiling"]["Hopper"]
    assert found.by_engine("memory", "optimizer_bytes", np.array([0, 1]))[1] == 8.0
    shares = found.training["attention_share"]
    both = found.by_both("training", "attention_share", np.array([0, 1]), hopper)
    assert list(both) == [shares["megatron"]["Hopper"], shares["fsdp"]["Hopper"]]
    assert found.size_bytes("bf16") == 2.0
    assert found.size_bytes("int4") == 0.55


def test_a_file_changes_only_what_it_names(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\ntraining:\n  gemm_ceiling: {Hopper: 0.6}\n", encoding="utf-8")
    shipped = load_catalog().calibration
    found = shipped.overlaid(table(mine), mine)
    assert (found.name, found.training["gemm_ceiling"]["Hopper"]) == ("mine", 0.6)
    assert found.training["gemm_ceiling"]["Ampere"] == shipped.training["gemm_ceiling"]["Ampere"]
    assert found.memory == shipped.memory


@pytest.mark.parametrize("text", ["trainings: {}\n", "training: {gemm: 1}\n", "training: {gemm_ceiling: 0.7}\n"])
def test_a_misspelt_constant_is_told(tmp_path: Path, text: str) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_catalog().calibration.overlaid(table(mine), mine)
