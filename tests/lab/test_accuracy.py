"""The accuracy page says what its files say, and its files speak of rows that exist."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lab.accuracy import page as accuracy
from lab.fitting.out_of_sample import SCHEMES, read_kept_out
from lab.pages import read
from rlopt.measured.points import SECTIONS
from rlopt.measured.rows import read_table


@pytest.fixture(scope="module")
def ids() -> set[str]:
    """Ids of all shipped measurements."""
    files = [accuracy.MEASUREMENTS / f"{name}.csv" for name in accuracy.FILES]
    return {row.id for path in files for row in read_table(path).rows}


def test_the_page_is_what_its_files_say() -> None:
    assert accuracy.PAGE.read_text(encoding="utf-8") == accuracy.page(), "run: python -m lab accuracy"


def test_the_counts_of_what_is_predicted_are_current() -> None:
    assert accuracy.COVERAGE.read_text(encoding="utf-8") == accuracy.coverage_csv(), "run: python -m lab accuracy"


def test_every_scheme_kept_rows_out_that_exist(ids: set[str]) -> None:
    found = read_kept_out(accuracy.KEPT_OUT)
    assert list(found) == list(SCHEMES)
    for scheme, points in found.items():
        assert points, scheme
        assert {point.id for point in points} <= ids


def test_every_explanation_is_of_a_row(ids: set[str]) -> None:
    for entry in read(accuracy.EXPLANATIONS):
        assert entry["section"] in SECTIONS
        assert entry["explanation"]
        assert any(fnmatchcase(name, entry["id"]) for name in ids), entry["id"]


def test_every_row_furthest_off_is_explained() -> None:
    lines = [line for line in accuracy.page().splitlines() if line.endswith("| not understood |")]
    assert not lines, f"say in measurements/{accuracy.EXPLANATIONS.name} what is known about these rows"


@pytest.mark.parametrize("name", ["out_of_sample.csv", "coverage.csv", "worst_rows.csv", "training.csv", "rl.csv"])
def test_the_folders_readme_names_its_files(root: Path, name: str) -> None:
    assert f"`{name}`" in (root / "measurements" / "README.md").read_text(encoding="utf-8")
