"""Memory of each stage by part, one bar a stage, against what the pool's GPUs may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rlopt.answers.plan import Memory, Pool
from rlopt.language import tr
from rlopt.reports import words
from rlopt.reports.page.figures import Figure
from rlopt.reports.page.figures.style import CARD, INK, LEGEND, ROW, SERIES, axis, figure, label, layout, plain

PARTS: Final = ("weights", "gradients", "optimizer", "activations", "logits", "kv_cache", "buffers", "runtime")
COLOURS: Final[Mapping[str, str]] = dict(zip(PARTS, SERIES, strict=True))
LEAST_GIB: Final = 0.05
"""What is less has no width to show."""


def memory_figure(pools: Sequence[Pool]) -> Figure | None:
    """Every stage of every pool that has GPUs; none where no pool says how its memory is used."""
    rows = [(pool, pool.memory, *row) for pool in pools if pool.memory is not None for row in _stages(pool.memory)]
    if not rows:
        return None
    places = list(range(len(rows)))
    parts = dict.fromkeys([*PARTS, *(name for *_, held in rows for name in held)])
    traces = []
    for number, name in enumerate(parts):
        gib = [held.get(name, 0.0) for *_, held in rows]
        if max(gib) < LEAST_GIB:
            continue
        said = tr(words.spelled(name))
        traces.append({
            "type": "bar", "orientation": "h", "name": plain(said), "y": places, "x": gib, "width": 0.42,
            "marker": {"color": COLOURS.get(name, SERIES[number % len(SERIES)]), "line": {"color": CARD, "width": 1}},
            "hovertemplate": [f"{plain(said)} {one:.1f} GiB<extra></extra>" for one in gib],
        })  # fmt: skip
    capacity = [memory.capacity_gib for _, memory, *_ in rows]
    traces.append({
        "type": "scatter", "mode": "markers", "name": plain(tr("capacity")), "y": places, "x": capacity,
        "marker": {"symbol": "line-ns", "size": 26, "line": {"color": INK, "width": 2.5}, "color": INK},
        "hovertemplate": [f"{plain(tr('capacity'))} {one:.1f} GiB<extra></extra>" for one in capacity],
    })  # fmt: skip
    texts = [
        label(f"{pool.name} · {_doing(stage, pool)}   {sum(held.values()):.1f} / {memory.capacity_gib:.1f} GiB", 0, row,
              yshift=20)
        for row, (pool, memory, stage, held) in zip(places, rows, strict=True)
    ]  # fmt: skip
    most = max([*capacity, *(sum(held.values()) for *_, held in rows)])
    drawn = layout(
        ROW * len(rows) + LEGEND + 40,
        barmode="stack",
        xaxis=axis(range=[0, most * 1.03], ticksuffix=" GiB", nticks=6),
        yaxis=axis(visible=False, range=[len(rows) - 0.5, -0.9]),
        annotations=texts,
        showlegend=True,
        margin={"l": 4, "r": 12, "t": LEGEND, "b": 28},
    )
    return figure(traces, drawn)


def _stages(memory: Memory) -> list[tuple[str, Mapping[str, float]]]:
    """Stages with their parts, the fullest first; a plan that keeps none has its peak."""
    known = memory.stages or {memory.stage: memory.parts}
    return sorted(known.items(), key=lambda entry: -sum(entry[1].values()))


def _doing(stage: str, pool: Pool) -> str:
    name, _, model = stage.partition(" ")
    return tr(words.doing(name, model, pool.serves))
