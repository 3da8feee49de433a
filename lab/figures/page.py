"""Write docs/figures.md: figures that texts on the cost of training quote, recomputed with these models and prices.

``python -m lab figures`` solves and prices what is needed and writes the page; ``--check`` compares it with what
the file says and writes nothing.
"""

from __future__ import annotations

from textwrap import fill

from lab import ROOT
from lab.figures.contract import Figure
from lab.figures.plans import cards, performance, rounds
from lab.figures.spot import spot
from lab.figures.storage import cold, zstandard
from lab.pages import markdown

WIDTH = 120
PAGE = ROOT / "docs" / "figures.md"
HEAD = """# Figures that are often quoted, recomputed

Written by `python -m lab figures`; do not edit by hand. The suite fails when this page is not what the catalogs, the
examples and the models say today.

The [texts](seeds.md) that this project answers quote figures without saying how they came about. Here each is computed
again with the catalogs' prices and the models of memory and time, on a request of `examples/requests/`. A figure is
*reproduced* where ours is within five points of it or inside its range, for at least one case that is named; the
sentence under each table says what it depends on.

"""


def figures() -> list[Figure]:
    """Every figure, computed anew."""
    return [part() for part in (rounds, cards, cold, zstandard, spot, performance)]


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The page as it should stand."""
    found = figures()
    columns = ("figure", "quoted", "ours", "")
    rows = [(figure.claim, figure.quoted, figure.ours, figure.verdict) for figure in found]
    parts = [HEAD, markdown(columns, rows, 0)]
    for figure in found:
        parts += [f"\n## {figure.title}\n\n{_wrapped(figure.case)}\n\n", figure.table, f"\n{_wrapped(figure.why)}\n"]
    return "".join(parts)


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    text = page()
    if "--check" in arguments:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0
