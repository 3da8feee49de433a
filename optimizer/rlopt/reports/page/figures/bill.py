"""The bill as bars: one a line, dearest first, coloured by dimension; the smallest together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from rlopt.answers.plan import BillLine, Cost, Dimension
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.style import ROW, SERIES, axis, figure, label, layout

COLOURS: Final[Mapping[str, str]] = dict(zip(get_args(Dimension), SERIES, strict=False))
MOST: Final = 8
"""Bars at most; what is left is one more."""
LEAST_SHARE: Final = 0.002
"""Of the bill: what is less joins the rest."""


def bill_figure(cost: Cost) -> Figure:
    """Bars of what is paid for, the amount and its share of the bill above each."""
    paid = sorted((line for line in cost.lines if line.usd > 0.0), key=lambda line: -line.usd)
    shown = [line for line in paid[:MOST] if line.usd >= LEAST_SHARE * cost.total_usd]
    rest = paid[len(shown) :]
    names = [_name(line) for line in shown]
    amounts = [line.usd for line in shown]
    colours = [COLOURS[line.dimension] for line in shown]
    if rest:
        names.append(tr(f"{words.count(len(rest), 'smaller line')} together"))
        amounts.append(sum(line.usd for line in rest))
        colours.append(SERIES[-1])
    rows = list(range(len(names)))
    told = [f"{words.usd(usd)} · {words.percent(usd / cost.total_usd)}" for usd in amounts]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": rows,
        "x": amounts,
        "width": 0.42,
        "marker": {"color": colours},
        "hoverinfo": "skip",
    }
    texts = [label(f"{name}   {text}", 0, row, yshift=19) for row, name, text in zip(rows, names, told, strict=True)]
    drawn = layout(
        ROW * max(len(rows), 1) + 16,
        xaxis=axis(visible=False, range=[0, max(amounts, default=1.0) * 1.02]),
        yaxis=axis(visible=False, range=[len(rows) - 0.55, -0.85]),
        annotations=texts,
        margin={"l": 4, "r": 12, "t": 4, "b": 4},
        bargap=0,
    )
    return figure([bars], drawn)


def _name(line: BillLine) -> str:
    return tr(line.item)
