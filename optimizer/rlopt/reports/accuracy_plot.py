"""The calibration plot: predicted against measured, one panel for each kind, one colour for each source."""

from __future__ import annotations

import io
import logging
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rlopt.reports import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = ("png", "svg")
TITLES: Final[Mapping[str, str]] = {
    "training": "Training time",
    "generation": "Generation throughput",
    "rl": "RL step and its stages",
    "memory": "Peak memory",
}
MOST_COLOURS: Final = 9
"""Sources with a colour of their own, the largest; the rest share grey."""
BAND: Final = 1.25
"""Dotted guides: predicted = measured × and ÷ this."""
_INCHES: Final = 5.2
_LEGEND_INCHES: Final = 1.6
_PANELS_A_ROW: Final = 2


def calibration_plot(records: Sequence[Mapping[str, Any]], file_format: str) -> bytes:
    """Draw all records that have a ratio.

    Parameters
    ----------
    records
        As in the document of ``rlopt validate --json`` under ``predictions``.
    file_format
        One of `FORMATS`.

    Returns
    -------
    bytes
        The picture; the same records give the same bytes.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # font caches are nobody's business
    panels = _panels(records)
    across = min(_PANELS_A_ROW, max(len(panels), 1))
    down = -(-max(len(panels), 1) // across)
    style: dict[Any, Any] = {"svg.hashsalt": "rlopt", "font.size": 9, "svg.fonttype": "path"}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a source in a script the font lacks
        figure = Figure(figsize=(_INCHES * across, (_INCHES + _LEGEND_INCHES) * down), layout="constrained")
        FigureCanvasAgg(figure)
        for place, ((kind, unit), members) in enumerate(panels.items()):
            _draw(figure.add_subplot(down, across, place + 1), TITLES.get(kind, kind), unit, members)
        if not panels:
            figure.text(0.5, 0.5, "no row was predicted", ha="center", va="center")
        stream = io.BytesIO()
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        figure.savefig(stream, format=file_format, dpi=150, metadata=metadata, bbox_inches="tight")
    return stream.getvalue()


def _panels(records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Records with a ratio by kind and unit, so that no axis mixes units."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    order = list(TITLES)
    for record in records:
        if record["ratio"] is not None:
            found.setdefault((record["kind"], record["unit"]), []).append(record)
    return dict(sorted(found.items(), key=lambda entry: (order.index(entry[0][0]), -len(entry[1]))))


def _draw(axes: Axes, title: str, unit: str, records: Sequence[Mapping[str, Any]]) -> None:
    values = [float(record[key]) for record in records for key in ("measured", "predicted")]
    low, high = min(values) / 1.5, max(values) * 1.5
    axes.plot([low, high], [low, high], color="black", linewidth=1.0, zorder=1)
    axes.fill_between(
        [low, high], [low / BAND, high / BAND], [low * BAND, high * BAND],
        color="black", alpha=0.08, linewidth=0, zorder=0, label=f"within ÷ and × {BAND:g}",
    )  # fmt: skip
    for name, colour, members in _by_source(records):
        measured = [record["measured"] for record in members]
        predicted = [record["predicted"] for record in members]
        axes.scatter(measured, predicted, s=12, color=colour, alpha=0.65, linewidths=0, label=name, zorder=2)
    inside = sum(1 / BAND <= record["ratio"] <= BAND for record in records) / len(records)
    axes.set_title(f"{title}: {words.count(len(records), 'row')}, {inside:.0%} inside the band")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit})")
    axes.grid(visible=True, which="major", alpha=0.25, linewidth=0.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    legend = axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.11), ncols=2, fontsize=7, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name is a name, dollar signs and all


def _by_source(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any, list[Mapping[str, Any]]]]:
    """Legend text, colour and records of each source; small sources together come first, so that they lie below."""
    import matplotlib as mpl

    colours = mpl.colormaps["tab10"].colors  # type: ignore[attr-defined]
    counted = Counter(record["source"] for record in records).most_common()
    named = [name for name, _ in counted[:MOST_COLOURS]]
    colours = [colour for place, colour in enumerate(colours) if place != 7]  # 7 is the grey of the rest
    groups = [
        (f"{_plain(name)} ({number:,})", colour, [record for record in records if record["source"] == name])
        for (name, number), colour in zip(counted[:MOST_COLOURS], colours, strict=False)
    ]
    rest = [record for record in records if record["source"] not in named]
    others = [(f"{len(counted) - len(named)} more sources ({len(rest):,})", "#999999", rest)] if rest else []
    return [*others, *groups]


def _plain(name: str) -> str:
    """A source's name as a legend shows it; names with a leading underscore would be hidden."""
    return name.lstrip("_")[:32] or "-"
