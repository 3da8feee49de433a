"""One step as a timeline: a lane for each pool, a bar for each stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rlopt.answers.plan import Plan
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.style import CARD, LEGEND, MUTED, SERIES, axis, figure, label, layout, plain
from rlopt.reports.timeline import Bar, bars
from rlopt.words import StageKind

COLOURS: Final[Mapping[str, str]] = {
    StageKind.SAMPLE: SERIES[0],
    StageKind.SCORE: SERIES[1],
    StageKind.TRAIN: SERIES[2],
    StageKind.ENVIRONMENT: SERIES[3],
    "evaluation": SERIES[4],
    "screening": SERIES[5],
    "likelihood": SERIES[5],
    StageKind.LOAD: SERIES[6],
    "transfer": SERIES[7],
}
LANE: Final = 58
WIDE: Final = 0.5
THIN: Final = 0.22
"""Width of a bar that passes beside others."""


def step_figure(plan: Plan) -> Figure | None:
    """Lanes in the order of the pools; none where the plan has no stages."""
    found = bars(plan)
    if not found or plan.time is None:
        return None
    lanes = list(dict.fromkeys(bar.pool for bar in found))
    full = {bar.pool for bar in found if not bar.beside}
    traces = [
        _trace(stage, [bar for bar in found if bar.stage.stage == stage], lanes, full) for stage in _stages(found)
    ]
    gpus = {pool.name: f"{pool.gpus} × {pool.gpu}" for pool in plan.pools if pool.gpu}
    texts = [
        label("   ".join(part for part in (lane, gpus.get(lane, "")) if part), 0, row, yshift=24)
        for row, lane in enumerate(lanes)
    ]
    drawn = layout(
        LANE * len(lanes) + LEGEND + 40,
        barmode="overlay",
        xaxis=axis(range=[0, plan.time.step_seconds * 1.005], ticksuffix=" s", nticks=7, tickcolor=MUTED),
        yaxis=axis(visible=False, range=[len(lanes) - 0.5, -0.85]),
        annotations=texts,
        showlegend=True,
        margin={"l": 4, "r": 12, "t": LEGEND, "b": 30},
    )
    return figure(traces, drawn)


def _stages(found: list[Bar]) -> list[str]:
    """Kinds of stages in the order of the palette."""
    return sorted({bar.stage.stage for bar in found}, key=lambda stage: [*COLOURS, stage].index(stage))


def _trace(stage: str, found: list[Bar], lanes: list[str], full: set[str]) -> dict[str, Any]:
    """Bars of one kind; those beside others stand below them, in the middle of a lane that is empty otherwise."""
    said = [_said(bar) for bar in found]
    return {
        "type": "bar", "orientation": "h", "name": plain(tr(words.STAGES.get(stage, words.spelled(stage)))),
        "y": [lanes.index(bar.pool) + (0.36 if bar.beside and bar.pool in full else 0.0) for bar in found],
        "base": [bar.start for bar in found], "x": [bar.seconds for bar in found],
        "width": [THIN if bar.beside else WIDE for bar in found],
        "marker": {"color": COLOURS.get(stage, SERIES[-1]), "line": {"color": CARD, "width": 1}},
        "hovertemplate": [f"{text}<extra></extra>" for text in said],
    }  # fmt: skip


def _said(bar: Bar) -> str:
    model = words.model(bar.stage.model or "")
    stage = tr(words.STAGES.get(bar.stage.stage, bar.stage.stage))
    head = " · ".join(part for part in (stage, tr(model) if model else "") if part)
    lines = [head, tr(words.seconds(bar.stage.seconds))]
    if bar.stage.limited_by:
        lines.append(tr(f"limited by {bar.stage.limited_by}"))
    return "<br>".join(plain(line) for line in lines)
