"""The frontier as a picture: the same bytes each time, machines and deadline in it, hostile names as they are."""

from __future__ import annotations

import io
import re

import pytest

from rlopt.answers.plan import Frontier, Plan
from rlopt.language import use
from rlopt.reports import frontier_plot as drawing
from rlopt.reports.frontier_plot import frontier_plot
from tests.reports import plans


def texts(frontier: Frontier, monkeypatch: pytest.MonkeyPatch) -> str:
    """Draw with letters kept as letters and return them."""
    monkeypatch.setattr(drawing, "LETTERS", "none")
    svg = frontier_plot(frontier, "svg").decode("utf-8")
    return "\n".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


def test_machines_and_deadline_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    said = texts(plans.frontier(), monkeypatch)
    for part in ("What a faster run of math-7b costs", "16 × H100-SXM", "8 × H100-SXM", "deadline 24 h"):
        assert part in said


def test_it_speaks_chinese_where_there_are_letters_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with use("zh"):
        monkeypatch.setattr(drawing, "_chinese", lambda: ["DejaVu Sans"])
        said = texts(plans.frontier(), monkeypatch)
        monkeypatch.setattr(drawing, "_chinese", list)
        english = texts(plans.frontier(), monkeypatch)
    assert "math-7b：更快完成要多花多少" in said
    assert "截止时间" in said
    assert "deadline 24 h" in english


def test_the_same_frontier_gives_the_same_picture() -> None:
    assert frontier_plot(plans.frontier(), "svg") == frontier_plot(plans.frontier(), "svg")


def test_png_is_a_picture_as_wide_as_a_page() -> None:
    from matplotlib.image import imread

    height, width, _ = imread(io.BytesIO(frontier_plot(plans.frontier(), "png"))).shape
    assert (width, height) == (1280, 768)


def test_names_are_no_formulas() -> None:
    plan = Plan.model_validate({**plans.optimal().document(), "job": r"$\frac{1}{$ <b> 任务"})
    assert frontier_plot(Frontier(points=[plan]), "svg").startswith(b"<?xml")


def test_no_point_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no plan keeps every limit and floor" in texts(Frontier(points=[]), monkeypatch)
