"""The page of quoted figures says what the catalogs, the examples and the models say today."""

from __future__ import annotations

import pytest

from lab.figures import page as figures
from lab.figures.contract import inside, verdict


def test_the_page_is_what_is_computed() -> None:
    assert figures.PAGE.read_text(encoding="utf-8") == figures.page(), "run: python -m lab figures"


@pytest.mark.parametrize(
    ("share", "low", "high", "held"),
    [(0.40, 0.45, 0.45, True), (0.39, 0.45, 0.45, False), (0.55, 0.60, 0.90, True), (0.96, 0.60, 0.90, False)],
)
def test_five_points_are_close(share: float, low: float, high: float, held: bool) -> None:
    assert inside(share, low, high) == held


def test_verdicts() -> None:
    assert verdict(True, True) == "reproduced"
    assert verdict(True, False) == "reproduced in part"
    assert verdict(False, False) == "not reproduced"
