"""When the job is done: the band of most runs, the middle of it, and the deadline."""

from __future__ import annotations

from rlopt.answers.plan import Plan
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.style import ACCENT, CARD, SERIES, axis, figure, layout, plain


def when_figure(plan: Plan) -> Figure | None:
    """One line of hours; none where nothing is known of how sure they are."""
    found, time = plan.certainty, plan.time
    if found is None or time is None or found.high_hours is None:
        return None
    marks = [(time.expected_hours, "expected", "circle"), (time.confident_hours, "confident", "diamond")]
    traces = [
        {
            "type": "scatter", "mode": "lines", "x": [found.low_hours, found.high_hours], "y": [0, 0],
            "name": plain(tr(f"{words.chances(found.confidence)} lie here")), "hoverinfo": "skip",
            "line": {"color": ACCENT, "width": 16}, "opacity": 0.3,
        }
    ]  # fmt: skip
    for hours, name, symbol in marks:
        said = plain(f"{tr(name)} {tr(words.hours(hours))}")
        traces.append({
            "type": "scatter", "mode": "markers", "x": [hours], "y": [0], "name": said,
            "marker": {"size": 14, "symbol": symbol, "color": ACCENT, "line": {"color": CARD, "width": 2}},
            "hovertemplate": f"{said}<extra></extra>",
        })  # fmt: skip
    deadline = time.deadline_hours
    if deadline is not None:
        said = plain(f"{tr('deadline')} {tr(words.hours(deadline))}")
        traces.append({
            "type": "scatter", "mode": "lines", "x": [deadline, deadline], "y": [-0.8, 0.8], "name": said,
            "line": {"color": SERIES[5], "width": 2.5}, "hovertemplate": f"{said}<extra></extra>",
        })  # fmt: skip
    most = max(found.high_hours, time.confident_hours, deadline or 0.0) * 1.03
    drawn = layout(
        104,
        xaxis=axis(range=[0, most], ticksuffix=" h", nticks=8),
        yaxis=axis(visible=False, range=[-1, 1]),
        showlegend=True,
        margin={"l": 4, "r": 12, "t": 34, "b": 28},
    )
    return figure(traces, drawn)
