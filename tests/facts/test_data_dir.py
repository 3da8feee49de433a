"""Where the data stand: in a wheel, or in a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlopt import data_dir


def test_checkout_is_read_in_place(root: Path) -> None:
    assert data_dir.catalogs_dir() == root / "catalogs"
    assert data_dir.constraints_dir() == root / "constraints"
    assert data_dir.examples_dir() == root / "examples"


def test_wheel_data_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rlopt" / "_data" / "catalogs").mkdir(parents=True)
    monkeypatch.setattr(data_dir, "_PACKAGE", tmp_path / "rlopt")
    assert data_dir.catalogs_dir() == tmp_path / "rlopt" / "_data" / "catalogs"
