"""Cost against time: a step from each proven plan to the next, other plans beside it, the deadline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rlopt.answers.plan import Plan
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.choice import Choice
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.style import ACCENT, CARD, INK, SERIES, axis, figure, label, layout, plain

HEIGHT: Final = 360
ROOM: Final = 1.08
"""Of the largest value: where an axis ends."""
FAR: Final = 3.0
"""A deadline this many times later than the slowest plan lies off the chart: an arrow points there."""


def frontier_figure(choices: Sequence[Choice]) -> Figure:
    """Points carry the number of their plan as ``customdata``; the last trace marks the chosen one."""
    on = [one for one in choices if one.on_frontier]
    beside = [one for one in choices if not one.on_frontier]
    slowest, dearest = max(one.hours for one in choices), max(one.usd for one in choices)
    deadline = next((time.deadline_hours for one in choices if (time := one.plan.time) is not None), None)
    end = slowest * ROOM
    shapes, texts = [], []
    if deadline is not None:
        near = deadline <= FAR * slowest
        text = f"{tr('deadline')} {tr(words.hours(deadline))}"
        if near:
            end = max(end, deadline * 1.03)
            shapes.append({
                "type": "line", "yref": "paper", "x0": deadline, "x1": deadline, "y0": 0, "y1": 1,
                "line": {"color": SERIES[5], "width": 2, "dash": "dash"},
            })  # fmt: skip
        at = deadline if near else end
        texts.append(label(text if near else f"{text} →", at, 1, yref="paper", xanchor="right", yanchor="bottom"))
    line = {
        "type": "scatter", "mode": "lines", "x": [*(one.hours for one in on), end],
        "y": [*(one.usd for one in on), on[-1].usd], "hoverinfo": "skip",
        "line": {"shape": "hv", "color": ACCENT, "width": 2},
    }  # fmt: skip
    chosen = next(one for one in choices if one.number == 0)
    ring = {
        "type": "scatter", "mode": "markers", "x": [chosen.hours], "y": [chosen.usd], "hoverinfo": "skip",
        "marker": {"size": 24, "symbol": "circle-open", "color": INK, "line": {"color": INK, "width": 2.5}},
    }  # fmt: skip
    drawn = layout(
        HEIGHT,
        xaxis=axis(title=tr("confident hours"), range=[0, end], ticksuffix=" h", nticks=8),
        yaxis=axis(
            title=tr("total of the bill"), range=[0, dearest * ROOM], tickprefix="$", tickformat=",~r", nticks=6
        ),
        shapes=shapes,
        annotations=texts,
        hovermode="closest",
        margin={"l": 4, "r": 16, "t": 28, "b": 44},
    )
    return figure([line, _points(on, "circle"), _points(beside, "diamond-open"), ring], drawn)


def _points(choices: Sequence[Choice], symbol: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers",
        "x": [one.hours for one in choices], "y": [one.usd for one in choices],
        "customdata": [one.number for one in choices],
        "marker": {"size": 13, "symbol": symbol, "color": ACCENT, "line": {"color": CARD, "width": 2}},
        "hovertemplate": [f"{_said(one.plan)}<extra></extra>" for one in choices],
    }  # fmt: skip


def _said(plan: Plan) -> str:
    if plan.cost is None or plan.time is None:
        return ""
    head = f"<b>{words.usd(plan.cost.total_usd)}</b> · {plain(tr(words.hours(plan.time.confident_hours)))}"
    gpus = [f"{pool.gpus} × {pool.gpu} {pool.provider}" for pool in plan.pools if pool.gpu]
    return "<br>".join([head, *map(plain, gpus)])
