from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.padding import Padding

from rlopt.cli import output
from rlopt.reports.layout import table


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "plan.json"
    target.write_text("old", encoding="utf-8")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        output.write_file(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.write_text("", encoding="utf-8")
    new = tmp_path / "new"
    output.write_file(new, "text")
    assert new.stat().st_mode == usual.stat().st_mode
    new.chmod(0o640)
    output.write_file(new, "other")
    assert new.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_text("old", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to(real)
    output.write_file(link, "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"


def test_a_device_is_written_directly() -> None:
    output.write_file(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_json_refuses_what_is_no_number(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        output.to_json({"usd": number})


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_the_json(text: str) -> None:
    import json

    assert json.loads(output.to_json({"text": text})) == {"text": text}


def test_lines_in_a_pipe_end_where_their_text_does(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_report(Padding("short", (0, 10, 0, 2)), table(("a", "b"), [("long enough", "x"), ("y", "z")]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "  short"
    assert lines == [line.rstrip() for line in lines]
