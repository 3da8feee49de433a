"""The commands that bring prices in, list them, renew them and forget them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rlopt.cli.entry import run
from rlopt.pricelists import refresh as refreshing
from rlopt.pricelists import sources, store
from tests.pricelists.lists import GPUHUNT, RENTED, SKYPILOT, own
from tests.pricelists.server import body, site
from tests.pricelists.test_refresh import QUICK


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("RLOPT_CATALOGS", str(tmp_path / "catalogs"))
    monkeypatch.chdir(tmp_path)
    Path("vms.csv").write_text(SKYPILOT, encoding="utf-8")
    Path("My prices.csv").write_text(own(RENTED), encoding="utf-8")
    return tmp_path / "catalogs"


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["catalog", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_import_list_and_forget(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    os.utime("vms.csv", (1_795_000_000, 1_795_000_000))
    code, out, _ = command(capsys, "import", "vms.csv", "--provider", "Nebius", "--dry-run")
    assert (code, folder.exists()) == (0, False)
    assert out.startswith("9 offers of 4 machines from 6 rows (skypilot)")
    assert "nothing: this was a dry run" in out
    assert "1  a machine without GPUs, or one whose GPUs are priced apart" in out
    assert "vms.csv:2, AcceleratorName ''" in out
    assert command(capsys, "import", "vms.csv", "--provider", "nebius", "--as-of", "2027-01-05")[0] == 0
    assert command(capsys, "import", "My prices.csv")[0] == 0
    assert store.names() == ("my-prices", "vms")
    code, out, _ = command(capsys, "list", "--json")
    found = {one["name"]: one for one in json.loads(out)["user_catalogs"]}
    assert (found["vms"]["offers"], found["vms"]["in_use"], found["vms"]["as_of"]) == (9, 9, "2027-01-05")
    assert found["my-prices"]["source"] == "My prices.csv"
    assert "User catalogs, which stand before the shipped prices" in command(capsys, "list")[1]
    assert json.loads(command(capsys, "show", "aws/us-east-1/any/p5.48xlarge/on_demand", "--json")[1])[0]["net"] is True
    assert command(capsys, "forget", "vms")[:2] == (0, "vms is forgotten\n")
    assert command(capsys, "forget", "vms")[0] == 2
    assert [one["name"] for one in json.loads(command(capsys, "list", "--json")[1])["user_catalogs"]] == ["my-prices"]


def test_a_file_without_its_day_is_as_old_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    os.utime("vms.csv", (1_795_000_000, 1_795_000_000))  # 2026-11-18
    out = json.loads(command(capsys, "import", "vms.csv", "--provider", "nebius", "--dry-run", "--json")[1])
    assert out["as_of"] in ("2026-11-18", "2026-11-17")
    assert (len(out["offers"]), out["rows"], out["kept_in"]) == (9, 6, None)
    assert [(row["line"], row["column"]) for row in out["left_out"]] == [(2, "AcceleratorName")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("vms.csv",), "add --provider NAME"),
        (("vms.csv", "--provider", "nebius", "--name", "../x"), "is no name of a user catalog"),
        (("vms.csv", "--provider", "nebius", "--as-of", "today"), "write --as-of 2026-11-30"),
        (("vms.csv", "--provider", "nowhere"), "no row gives an offer (6 rows)"),
        (("none.csv",), "does not exist"),
    ],
)
def test_what_cannot_be_imported_leaves_nothing(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    code, out, err = command(capsys, "import", *arguments)
    assert (code, out, folder.exists()) == (2, "", False)
    assert said in err


def test_refresh(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(refreshing, "FetchLimits", lambda: QUICK)
    monkeypatch.setattr("rlopt.pricelists.fetch.FetchLimits", lambda: QUICK)
    good, wrong = SKYPILOT.encode(), SKYPILOT.replace("28.00", "0").encode()
    with site() as web:
        monkeypatch.setattr(sources, "SOURCES", (sources.PriceSource("nebius", "skypilot", web.url),))

        def refresh(*more: str) -> tuple[int, str, str]:
            return command(capsys, "refresh", *more)

        web.will(body(good))
        code, out, _ = refresh()
        assert (code, out.splitlines()[0].startswith("skypilot-nebius: renewed, 9 offers of ")) == (0, True)
        web.will(body(wrong))
        before = (folder / "skypilot-nebius.json").read_bytes()
        code, out, _ = refresh()
        assert code == 5
        assert "skypilot-nebius: not taken; the prices of" in out
        assert "read 0 days ago" in out
        assert "Price '0': no price: it must be above 0" in " ".join(out.split())
        assert "--accept skypilot-nebius" in out
        document = json.loads(refresh("--json")[1])["lists"][0]
        assert (document["state"], document["findings"][0]["what"]) == ("refused", "prices that are no prices")
        assert (folder / "skypilot-nebius.json").read_bytes() == before
        web.will(body(good.replace(b"28.00", b"28.50")))
        code, out, _ = refresh("--provider", "nebius")
        assert (code, "changed prices 2" in " ".join(out.split())) == (0, True)
        web.will(body(wrong))
        assert refresh("--accept", "skypilot-nebius")[0] == 0
        web.will(body(GPUHUNT.encode()))
        assert refresh("--provider", "aws", "--from", web.url)[0] == 0
        assert store.names() == ("own-aws", "skypilot-nebius")
    code, out, _ = refresh()
    assert code == 5
    assert "not reached; the prices of" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--provider", "nowhere"), "no public price list of 'nowhere' is known"),
        (("--from", "https://example.org/a.csv"), "--from needs --provider"),
        (("--accept", "lambda"), "it is one of gpuhunt-azure"),
    ],
)
def test_what_cannot_be_refreshed(arguments: tuple[str, ...], said: str, capsys: Any) -> None:
    code, _, err = command(capsys, "refresh", *arguments)
    assert code == 2
    assert said in err
