"""User catalogs on disk: whole or not there, read as they were written, one writer at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from rlopt import api
from rlopt.data_dir import user_catalogs_dir
from rlopt.errors import InputError
from rlopt.facts.files.folder import load_catalog
from rlopt.pricelists import store
from tests.pricelists.lists import FIGURES, HALL, RENTED, SKYPILOT, own, read

DAY = date(2026, 11, 21)
SLOW_WRITER = """
import os, sys, time
from pathlib import Path
from rlopt.pricelists import store

def waits(*_):
    print("there", flush=True)
    time.sleep(60)

if sys.argv[1] == "fsync":
    os.fsync = waits
else:
    Path.replace = waits
with store.locked():
    store.write_whole(store.path_of("team"), b"new" * 100_000)
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "catalogs"))
    return tmp_path / "catalogs"


def save(text: str, name: str, provider: str | None = None) -> Path:
    with store.locked():
        return store.save(read(text, provider, name), load_catalog(), DAY)


def test_it_is_read_as_it_was_written() -> None:
    for text, name, provider in ((SKYPILOT, "sky", "nebius"), (own(RENTED, HALL | FIGURES), "team", None)):
        save(text, name, provider)
        assert store.load(name, load_catalog()) == replace(read(text, provider, name), read_on="2026-11-21")
    assert store.names() == ("sky", "team")
    assert store.forget("sky").name == "sky.json"
    assert store.names() == ("team",)


def test_the_folder_is_the_platforms_unless_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_catalogs_dir() == tmp_path / "catalogs"
    monkeypatch.delenv("RLOPT_CATALOGS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert user_catalogs_dir().name == "catalogs"
    assert "rlopt" in user_catalogs_dir().parts


@pytest.mark.parametrize("name", ["../team", "a/b", "", ".lock", "Team", "a\x00b", "x" * 65])
def test_no_name_leads_elsewhere(name: str) -> None:
    with pytest.raises(InputError, match="no name of a user catalog"):
        store.path_of(name)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"schema": "rlopt.prices/9"}', '{"schema": "rlopt.prices/1"}', "[" * 10_000, "\udcff"],
    ids=range(7),
)
def test_a_damaged_file_is_named_with_what_to_do(text: str) -> None:
    path = save(own(RENTED), "team")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match="the user catalog is damaged") as caught:
        api.catalog()
    assert "rlopt catalog forget team" in str(caught.value)


@pytest.mark.parametrize("price", ["0", "-1", "NaN", "Infinity", '"41.5"', "null"])
def test_a_price_that_was_changed_to_none_is_refused(price: str) -> None:
    path = save(own(RENTED), "team")
    text = path.read_text(encoding="utf-8").replace('"price_per_hour": 41.5', f'"price_per_hour": {price}')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="the user catalog is damaged"):
        api.catalog()


def test_an_unknown_name_says_which_there_are() -> None:
    save(own(RENTED), "team")
    for act in (store.forget, lambda name: store.load(name, load_catalog())):
        with pytest.raises(InputError, match="there is no user catalog other") as caught:
            act("other")
        assert "team" in str(caught.value)


def test_a_machine_that_is_not_known_any_more_is_left_out_by_name() -> None:
    save(SKYPILOT, "sky", "nebius")
    catalog = load_catalog()
    gone = "nebius/gpu-h200-sxm_8gpu-128vcpu-1600gb"
    fewer = replace(catalog, shapes={key: shape for key, shape in catalog.shapes.items() if key != gone})
    found = store.load("sky", fewer)
    assert len(found.offers) == 5
    assert {row.value for row in found.left_out if "any more" in row.reason} == {gone}


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_writer_that_is_killed_leaves_the_old_file_whole(moment: str, folder: Path) -> None:
    path = save(own(RENTED), "team")
    before = path.read_bytes()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, moment], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "there\n"
    with pytest.raises(InputError, match="another rlopt"):
        save(own(HALL | FIGURES), "team")
    child.send_signal(signal.SIGKILL)
    child.wait(10)
    child.stdout.close()
    assert path.read_bytes() == before
    assert list(folder.glob(".*.part"))  # what it had begun
    assert api.catalog().provenance[-1].name == "user catalog team"
    save(own(HALL | FIGURES), "team")  # its lock went with it
    assert list(folder.glob(".*.part")) == []
    assert path.read_bytes() != before


def test_a_folder_that_cannot_be_made_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "file"))
    with pytest.raises(InputError, match="cannot be written"):
        save(own(RENTED), "team")
