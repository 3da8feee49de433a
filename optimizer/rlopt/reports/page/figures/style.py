"""What all charts share: type, axes, room, and one palette that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final

from rlopt.reports.page.figures import Figure

SERIES: Final = tuple(f"var(--c{number})" for number in range(8))
"""Okabe and Ito (2008), one lightness for light pages and one for dark ones; the last is grey."""
INK, MUTED, LINE, CARD, ACCENT = (f"var(--{name})" for name in ("ink", "muted", "line", "card", "accent"))
ROW: Final = 46
"""Pixels of a bar with its label above it."""
LEGEND: Final = 30
"""Pixels of a legend in one line; the library makes room for more."""


def axis(**changes: Any) -> dict[str, Any]:
    """A quiet axis that touch does not drag."""
    quiet = {
        "fixedrange": True,
        "zeroline": False,
        "gridcolor": LINE,
        "linecolor": LINE,
        "tickfont": {"color": MUTED, "size": 12},
        "title": {"font": {"color": MUTED, "size": 12}, "standoff": 8},
        "automargin": True,
    }
    title = changes.pop("title", None)
    if title is not None:
        quiet["title"] = {"font": {"color": MUTED, "size": 12}, "standoff": 8, "text": plain(title)}
    return quiet | changes


def layout(height: int, **changes: Any) -> dict[str, Any]:
    """A chart without a frame, as wide as its column."""
    return {
        "height": height,
        "margin": {"l": 4, "r": 12, "t": 6, "b": 36},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK, "size": 13},
        "dragmode": False,
        "showlegend": False,
        "hoverlabel": {"bgcolor": CARD, "bordercolor": LINE, "font": {"color": INK, "size": 13}, "align": "left"},
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom",
            "font": {"color": INK, "size": 12}, "itemclick": False, "itemdoubleclick": False, "traceorder": "normal",
            "maxheight": 400,
        },
    } | changes  # fmt: skip


def label(text: str, x: float, y: float, **changes: Any) -> dict[str, Any]:
    """A text at a point of the chart, beginning there."""
    at = {"text": plain(text), "x": x, "y": y, "showarrow": False, "xanchor": "left", "yanchor": "middle"}
    return at | {"font": {"color": INK, "size": 13}, "align": "left"} | changes


def plain(text: str) -> str:
    """A text as a chart shows it word for word: the library reads tags in texts."""
    return escape(text, quote=False).replace("\n", "<br>")


def figure(data: Sequence[Mapping[str, Any]], drawn: Mapping[str, Any]) -> Figure:
    """Put a chart together."""
    return {"data": [dict(trace) for trace in data], "layout": dict(drawn)}
