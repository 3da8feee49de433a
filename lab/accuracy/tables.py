"""Tables of docs/accuracy.md: statistics of points as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from lab.pages import NOT_UNDERSTOOD, cell_text, markdown, percent
from rlopt.measured.points import SECTIONS, Point
from rlopt.measured.summary import Statistics, breakdown, statistics, worst

SPLITS = ("source", "device", "engine", "method", "architecture")
NUMBERS = ("rows", "median", "9 in 10", "bias", "in band")
FEW = 5
"""Groups smaller than this say nothing about a group."""
DOUBTFUL = (0.25, 0.60)
"""Median error and 90th percentile above which a group is named among what not to trust."""


def of(section: str, points: Sequence[Point]) -> list[Point]:
    """The points of one section."""
    return [point for point in points if point.section == section]


def _numbers(found: Statistics) -> tuple[str, ...]:
    errors = (percent(found.median_error), percent(found.p90_error))
    return (f"{found.predicted:,}", *errors, percent(found.bias, signed=True), percent(found.in_band))


def by_scheme(section: str, schemes: Mapping[str, Sequence[Point]], names: Mapping[str, str]) -> str:
    """One line for each way of keeping rows out."""
    rows = [
        (names[scheme], *_numbers(statistics(members)))
        for scheme, points in schemes.items()
        if (members := of(section, points))
    ]
    return f"### {SECTIONS[section]}\n\n{markdown(('kept out', *NUMBERS), rows, len(NUMBERS))}" if rows else ""


def by_group(section: str, points: Sequence[Point]) -> str:
    """A table for each split that has more than one group worth showing."""
    text = ""
    for by in ("quantity", *SPLITS) if section == "rl stages" else SPLITS:
        groups = {name: found for name, found in breakdown(of(section, points), by).items() if found.predicted >= FEW}
        if len(groups) > 1:
            rows = [(name, *_numbers(found)) for name, found in groups.items()]
            text += "\n" + markdown((by, *NUMBERS), rows, len(NUMBERS))
    return f"### {SECTIONS[section]}, by group\n{text}" if text else ""


def furthest_off(section: str, points: Sequence[Point], explanations: Sequence[Mapping[str, str]]) -> str:
    """The worst rows; the section's first explanation whose id pattern fits is taken."""
    rows = []
    own = [row for row in explanations if row["section"] == section]
    for point in worst(of(section, points)):
        names = " · ".join(point.labels[name] for name in ("model", "device", "engine"))
        fitting = (row["explanation"] for row in own if fnmatchcase(point.id, row["id"]))
        rows.append((f"`{point.id}`", names, f"{point.ratio or 0.0:.2f}", next(fitting, NOT_UNDERSTOOD)))
    columns = ("row", "what", "predicted / measured", "why")
    return f"### {SECTIONS[section]}, furthest off\n\n{markdown(columns, rows, 0)}" if rows else ""


def doubtful(section: str, points: Sequence[Point]) -> list[str]:
    """One sentence for each split with groups whose own errors say that they cannot be trusted."""
    found = []
    for by in SPLITS:
        groups = breakdown(of(section, points), by)
        poor = [
            f"{cell_text(name)} ({percent(group.median_error)} / {percent(group.p90_error)})"
            for name, group in groups.items()
            if group.predicted >= FEW and _is_doubtful(group)
        ]
        if poor and len(groups) > 1:
            found.append(f"**{SECTIONS[section]}, by {by}** (median / 9 in 10, five folds): {', '.join(poor)}.")
    return found


def _is_doubtful(found: Statistics) -> bool:
    return (found.median_error or 0.0) > DOUBTFUL[0] or (found.p90_error or 0.0) > DOUBTFUL[1]
