"""The frontier as a picture for documents: a step from each proven plan to the next, its machines beside it."""

from __future__ import annotations

import io
import logging
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rlopt.answers.plan import Frontier, Plan
from rlopt.language import current, tr, use
from rlopt.reports import words
from rlopt.reports.text.frontier import gpus

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, LINE, BLUE, RED = "#1c2126", "#5c6670", "#e2e5e8", "#0b62a8", "#d55e00"
INCHES: Final = (8.0, 4.8)
FONT: Final = "DejaVu Sans"
CHINESE: Final = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "SimHei", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei",
)  # fmt: skip
"""Fonts with Chinese letters; the first font that has a letter draws it."""
FILES: Final = re.compile(r"NotoSans(CJK|SC)-?Regular|SourceHanSans|PingFang|Hiragino|msyh|simhei|wqy", re.IGNORECASE)
"""What their files are called."""
LETTERS = "path"
"""In an SVG letters are drawn, so that a document need not have their font."""
ROOM: Final = 1.08
"""Of the largest value: where an axis ends."""
FAR: Final = 3.0
"""A deadline this many times later than the slowest plan is told in words alone."""
SIDES: Final = (((8, 6), "left"), ((-8, -13), "right"), ((8, -13), "left"), ((-8, 6), "right"))
"""Where a label may stand beside its point, in the order in which places are tried."""


def frontier_plot(frontier: Frontier, file_format: str) -> bytes:
    """Draw the frontier, in the language in use; in English where this machine has no font for it.

    Parameters
    ----------
    frontier
        Plans by hours.
    file_format
        svg | png.

    Returns
    -------
    bytes
        The picture; the same frontier gives the same bytes.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # font caches are nobody's business
    chinese = _chinese()
    style: dict[Any, Any] = {"svg.hashsalt": "rlopt", "svg.fonttype": LETTERS, "font.size": 10}
    style |= {"font.family": [FONT, *chinese]}
    with mpl.rc_context(style), use(current() if chinese else "en"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a name in a script that no font here has
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        points = [plan for plan in frontier.points if plan.cost is not None and plan.time is not None]
        if points:
            _draw(axes, points)
            figure.draw_without_rendering()  # labels are placed by the room that the layout leaves them
            _label(axes, [points[-1], points[0], *points[1:-1]])
        else:
            axes.set_axis_off()
            figure.text(0.5, 0.5, tr("no plan keeps every limit and floor"), ha="center", va="center")
        stream = io.BytesIO()
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        figure.savefig(stream, format=file_format, dpi=160, metadata=metadata)
    return stream.getvalue()


def _chinese() -> list[str]:
    """Which of the Chinese fonts this machine has; those installed since the library last looked are added."""
    from matplotlib import font_manager

    known = _known()
    if not known and current() == "zh":
        for path in font_manager.findSystemFonts():
            if FILES.search(path):
                font_manager.fontManager.addfont(path)
        known = _known()
    return known


def _known() -> list[str]:
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in CHINESE if name in there]


def _draw(axes: Axes, points: list[Plan]) -> None:
    hours, usd = [_hours(plan) for plan in points], [_usd(plan) for plan in points]
    deadline = points[0].time.deadline_hours if points[0].time else None
    near = deadline is not None and deadline <= FAR * max(hours)
    end = max(max(hours) * ROOM, (deadline or 0.0) * 1.02 if near else 0.0)
    axes.step([*hours, end], [*usd, usd[-1]], where="post", color=BLUE, linewidth=1.8, zorder=2)
    axes.scatter(hours, usd, s=46, color=BLUE, edgecolors="white", linewidths=1.4, zorder=3)
    axes.set_xlim(0, end)
    axes.set_ylim(0, max(usd) * ROOM)
    if deadline is not None:
        told = f"{tr('deadline')} {tr(words.hours(deadline))}"
        if near:
            axes.axvline(deadline, color=RED, linewidth=1.6, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            told, (deadline if near else 1.0, 1.0), xycoords=axes.get_xaxis_transform() if near else "axes fraction",
            xytext=(0, 4), textcoords="offset points", ha="right", va="bottom", color=RED, fontsize=9,
        )  # fmt: skip
    title = f"What a faster run of {points[0].job} costs" if points[0].job else "What a faster run costs"
    axes.set_title(tr(title), loc="left", parse_math=False, color=INK)
    axes.set_xlabel(tr("confident hours"), color=MUTED)
    axes.set_ylabel(tr("total of the bill (USD)"), color=MUTED)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if max(usd) >= 10 else f"{value:,.2f}")
    axes.grid(visible=True, color=LINE, linewidth=0.8)
    axes.tick_params(colors=MUTED, length=0)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(LINE)
    axes.set_axisbelow(True)


def _label(axes: Axes, points: Sequence[Plan]) -> None:
    """Tell each plan's machines beside its point; a label that would cover another or leave the axes is left out."""
    from matplotlib.transforms import Bbox

    around = axes.get_window_extent()
    centres = [axes.transData.transform((_hours(one), _usd(one))) for one in points]
    taken = [Bbox.from_bounds(float(x) - 6.0, float(y) - 6.0, 12.0, 12.0) for x, y in centres]
    for plan in points:
        for offset, side in SIDES:
            text = axes.annotate(
                gpus(plan), (_hours(plan), _usd(plan)), xytext=offset, textcoords="offset points", ha=side,
                fontsize=8.5, color=INK, parse_math=False, in_layout=False,
            )  # fmt: skip
            box = text.get_window_extent()
            if around.x0 <= box.x0 and box.x1 <= around.x1 and around.y0 <= box.y0 and not box.count_overlaps(taken):
                taken.append(box)
                break
            text.remove()


def _hours(plan: Plan) -> float:
    return plan.time.confident_hours if plan.time else 0.0


def _usd(plan: Plan) -> float:
    return plan.cost.total_usd if plan.cost else 0.0
