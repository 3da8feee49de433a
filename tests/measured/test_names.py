"""Printed names of models and machines, and what is taken where a name says less."""

from __future__ import annotations

import csv

import pytest

from rlopt.data_dir import catalogs_dir
from rlopt.facts.files.folder import load_catalog
from rlopt.measured.names import MeasuredMachine, find_machine, find_model
from rlopt.measured.rows import MeasuredRow

CATALOG = load_catalog()


def row(**cells: object) -> MeasuredRow:
    return MeasuredRow(2, {name: str(value) for name, value in cells.items()})


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("meta-llama/Meta-Llama-3-8B", "Llama-3-8B"),
        ("LLAMA3.1_405B", "Meta-Llama-3.1-405B"),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B"),
        ("qwen2.5-7b-instruct-AWQ", "Qwen2.5-7B"),
        ("GPT-J 6B", "GPT-J-6B"),
        ("Nemotron_3_Nano", "NVIDIA-Nemotron-3-Nano-30B-A3B"),
    ],
)
def test_spellings_lead_to_one_model(printed: str, expected: str) -> None:
    found = find_model(row(model=printed), CATALOG)
    assert not isinstance(found, str)
    assert found.name == expected


def test_a_size_alone_is_the_nearest_model_and_says_so() -> None:
    found = find_model(row(model="a-new-lab 14B"), CATALOG)
    assert not isinstance(found, str)
    assert found.params == pytest.approx(14e9, rel=0.2)
    assert found.params_basis == "nominal"
    assert find_model(row(model="a-new-lab 3000B"), CATALOG) == "no shape of the model 'a-new-lab 3000B'"


def test_a_stated_shape_wins_over_the_name() -> None:
    """BLOOM's chronicle names one model and runs many shapes."""
    found = find_model(row(model="GPT 18B", layers=40, hidden=6144, heads=48, vocab=50257, params_b=18.5), CATALOG)
    assert not isinstance(found, str)
    assert (found.layers, found.hidden, found.heads, found.gated) == (40, 6144, 48, False)
    assert found.params == pytest.approx(12 * 40 * 6144**2, rel=0.05)


def test_a_machine_has_its_usual_node_unless_the_row_says_otherwise() -> None:
    found = find_machine(row(gpu="H100-SXM-80GB"), CATALOG)
    assert isinstance(found, MeasuredMachine)
    assert (found.device.name, found.gpus_per_node, found.intra) == ("H100-SXM", 8, "nvswitch")
    rack = find_machine(row(gpu="GB200", gpus_per_node=4), CATALOG)
    assert isinstance(rack, MeasuredMachine)
    assert (rack.device.name, rack.gpus_per_node, rack.intra) == ("GB200", 4, "nvl72")


def test_an_unknown_machine_is_named() -> None:
    assert find_machine(row(gpu="Abacus 9000"), CATALOG) == "no facts about the GPU 'Abacus 9000'"
    assert find_machine(row(gpu=""), CATALOG) == "the GPU is not stated"


def test_every_printed_name_leads_somewhere() -> None:
    folder = catalogs_dir() / "measured"
    with (folder / "names.csv").open(encoding="utf-8", newline="") as handle:
        for entry in csv.DictReader(handle):
            found = find_model(row(model=entry["printed"]), CATALOG)
            assert not isinstance(found, str), entry
            assert found.name == entry["model"]
    known = {device.name for device in CATALOG.devices.values()}
    with (folder / "devices.csv").open(encoding="utf-8", newline="") as handle:
        known |= {entry["name"] for entry in csv.DictReader(handle)}
    with (folder / "machines.csv").open(encoding="utf-8", newline="") as handle:
        assert {entry["device"] for entry in csv.DictReader(handle)} <= known
