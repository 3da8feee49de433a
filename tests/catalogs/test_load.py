"""The loader: complete, joined, quick, and plain about files that are wrong."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from rlopt.errors import InputError
from rlopt.facts.files import folder as catalogs
from rlopt.facts.files.folder import load_catalog
from tests.catalogs.rows import FOLDER, read

BUDGET_SECONDS = 0.25


def test_nothing_is_lost_on_the_way() -> None:
    catalog = load_catalog()
    assert len(catalog.offers) == len(read("offers.csv"))
    assert len(catalog.zone_offers) == len(read("zone_offers.csv"))
    assert len(catalog.cpu_offers) == len(read("cpu_offers.csv"))
    assert len(catalog.devices) == len(read("devices.csv"))
    assert len(catalog.models) == len(read("models.csv"))
    assert len(catalog.aliases) == len(read("model_aliases.csv"))
    assert len(catalog.storage) == len(read("storage.csv"))
    assert len(catalog.speeds) == len(read("storage_speed.csv"))
    assert len(catalog.traffic) == len(read("traffic.csv"))
    assert len(catalog.logs) == len(read("logging.csv"))
    assert len(catalog.caches) == len(read("caches.csv"))
    assert len(catalog.commitments) == len(read("commitments.csv"))
    assert len(catalog.reliability) == len(read("reliability.csv"))
    assert sum(catalog.left_out.values()) == sum(int(row["rows"]) for row in read("left_out.csv"))
    assert {entry.name for entry in catalog.provenance} == {row["name"] for row in read("provenance.csv")}


def test_rows_are_joined() -> None:
    catalog = load_catalog()
    offer = next(offer for offer in catalog.offers if offer.id == "aws/us-east-1/any/p5.48xlarge/on_demand")
    assert offer.shape is catalog.shapes["aws/p5.48xlarge"]
    assert (offer.provider, offer.country, offer.device, offer.gpus) == ("aws", "US", "H100-SXM", 8)
    assert offer.price_per_gpu_hour == offer.price_per_hour / 8
    assert offer.source.startswith("https://")
    undated = [offer for offer in catalog.offers if offer.as_of == ""]
    assert undated
    assert not [offer for offer in catalog.offers if offer.as_of == "undated"]


def test_is_read_once_per_folder() -> None:
    assert load_catalog() is load_catalog(FOLDER)


def test_is_quick() -> None:
    best = float("inf")
    for _ in range(3):
        catalogs._load.cache_clear()
        start = time.process_time()
        load_catalog()
        best = min(best, time.process_time() - start)
    assert best < BUDGET_SECONDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in FOLDER.glob("*.csv"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "storage.csv").unlink()
    with pytest.raises(InputError) as caught:
        load_catalog(folder)
    assert caught.value.complaints[0].file == str(folder / "storage.csv")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [("15000", "cheap", "could not convert"), (",high,", ",high,,", "cells, the header has")],
)
def test_a_bad_row_is_named(folder: Path, old: str, new: str, says: str) -> None:
    path = folder / "offers.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = lines[9].split(",")
    price = cells[6]
    lines[9] = lines[9].replace(f",{price},", f",{new},", 1) if old == "15000" else lines[9] + ",more"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=says) as caught:
        load_catalog(folder)
    assert caught.value.complaints[0].line == 10


def test_a_price_of_an_unknown_machine_is_an_error(folder: Path) -> None:
    path = folder / "offers.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",aws/p5.48xlarge,", ",aws/p5.x,", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"aws/p5\.x"):
        load_catalog(folder)
