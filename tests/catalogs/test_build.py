"""The shipped catalogs are what the build makes of the raw tables, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import build_catalogs
from tools.catalog_build import storage, storage_speed, tables
from tools.catalog_build.models import spellings
from tools.catalog_build.offers import REGULAR_ZONE
from tools.catalog_build.sources import source_keys


def test_rebuilds_byte_for_byte(tmp_path: Path, root: Path) -> None:
    assert build_catalogs.main(["--out", str(tmp_path)]) == 0
    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shipped = {path.name: path.read_bytes() for path in (root / "catalogs").glob("*.csv")}
    assert built.keys() == shipped.keys()
    assert [name for name in built if built[name] != shipped[name]] == []


def test_check_fails_on_an_edited_catalog(tmp_path: Path, root: Path) -> None:
    for path in (root / "catalogs").glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert build_catalogs.main(["--out", str(tmp_path), "--check"]) == 0
    edited = tmp_path / "offers.csv"
    edited.write_text(edited.read_text(encoding="utf-8").replace("on_demand", "spot", 1), encoding="utf-8")
    before = edited.read_bytes()
    assert build_catalogs.main(["--out", str(tmp_path), "--check"]) == 1
    assert edited.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-09-20", "2026-09-20"),
        ("2026-09", "2026-09"),
        ("2024-08-17..2026", "2024-08-17"),
        ("old (2015-2016)", "2015"),
        ("2024-07 (golden), 2026-05 confirmed", "2024-07"),
        ("undated(>=2025-11)", "undated"),
        ("2024-10-16(repo head)", "undated"),
        ("see repo", "undated"),
        ("", "undated"),
    ],
)
def test_dates(text: str, date: str) -> None:
    assert tables.iso_date(text) == date


@pytest.mark.parametrize(
    ("text", "hours"),
    [("3-5 h", 5.0), ("48 h", 48.0), ("1-5 min", 5 / 60), ("ms", 0.0), ("", 0.0), ("15 h", 15.0)],
)
def test_restore_time_is_the_slow_end(text: str, hours: float) -> None:
    assert storage.restore_hours(text) == pytest.approx(hours)


def test_local_zones_are_told_apart() -> None:
    assert REGULAR_ZONE.match("use1-az1")
    assert not REGULAR_ZONE.match("use1-atl2-az1")
    assert not REGULAR_ZONE.match("us-west-2-lax-1a")


def test_source_keys_do_not_depend_on_order() -> None:
    texts = ["github:a/b@1234567890:x.csv", "github:a/b@1234567890:y.csv", "https://www.example.org/p"]
    assert source_keys(texts) == source_keys(reversed(texts))
    assert list(source_keys(texts).values()) == ["a/b@1234567", "a/b@1234567#2", "example.org"]
    with pytest.raises(ValueError, match="without a source"):
        source_keys([""])


def test_spellings() -> None:
    made = spellings("meta-llama/Meta-Llama-3.1-8B")
    assert {
        "meta-llama/llama-3.1-8b",
        "llama-3.1-8b-instruct",
        "meta-llama/meta-llama-3.1-8b-instruct",
    } <= made


def test_a_price_per_mib_s_becomes_a_price_per_mb_s(tmp_path: Path) -> None:
    head = (
        "provider,service,tier,region,unit,included,per_tib,most,most_per_node,least_gib,step_gib,most_gib,"
        "price_per_mb_s_month,included_iops,iops_per_gib,price_per_iops_month,io_kib,currency,source,as_of,note"
    )
    rows = [
        f"aws,s,{unit},us-east-1,{unit},125,,1000,,,,,0.04,3000,,0.005,256,USD,here,2024,\n" for unit in ("MB", "MiB")
    ]
    (tmp_path / "storage_speed.csv").write_text(f"{head}\n{''.join(rows)}", encoding="utf-8")
    whole, binary = storage_speed.build(tmp_path).rows
    for row in (whole, binary):  # what is bought beyond what comes with it costs the same, in either unit
        more = float(str(row["most_mb_s"])) - float(str(row["included_mb_s"]))
        assert more * float(str(row["price_mb_s_month"])) == pytest.approx(875 * 0.04)
        assert float(str(row["price_iops_month"])) == 0.005
    assert float(str(binary["price_mb_s_month"])) == pytest.approx(0.0381469727)
