"""Predictions against measurements for a reader: how far off, how often, where, and what was not predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from rlopt.reports import words
from rlopt.reports.layout import bullets, facts, heading, indented, paragraph, table

MOST_GROUPS: Final = 15
"""Groups of one split that are listed; the JSON has all."""
MOST_REASONS: Final = 25
MOST_PERCENT: Final = 999
"""Beyond this only that it is beyond matters."""

COLUMNS: Final = ("rows", "predicted", "median", "9 in 10", "bias", "in band")
BY: Final[Mapping[str, str]] = {
    "quantity": "By stage",
    "source": "By source",
    "device": "By device",
    "size": "By model size",
    "architecture": "Dense or mixture of experts",
    "method": "By method",
    "engine": "By engine",
}
_WORDS: Final = (
    ("median", "half of the predictions are off by at most this: median of |predicted / measured - 1|"),
    ("9 in 10", "nine of ten are off by at most this: its 90th percentile"),
    ("bias", "what the typical prediction is above (+) or below (-) the measured value"),
    ("in band", "measured values inside the 80 % band of their prediction; an honest band holds 75 to 85 %"),
)


def accuracy_report(document: Mapping[str, Any]) -> list[RenderableType]:
    """Lay out the document that ``rlopt validate --json`` prints."""
    parts: list[RenderableType] = [paragraph(_headline(document), style="bold")]
    if document["repeated_ids"]:
        shown = ", ".join(plain(name) for name in document["repeated_ids"][:5])
        parts.append(paragraph(f"{words.count(len(document['repeated_ids']), 'id')} more than once: {shown}"))
    for key, part in document["summary"].items():
        parts += heading(f"{part['title']} ({_coverage(part['all'])})")
        parts += _verdicts(part) if key == "fits" else _errors(part)
    if document["unsupported"]:
        parts += [*heading("Not predicted"), _reasons(document["unsupported"])]
    if any(key != "fits" for key in document["summary"]):
        parts += [*heading("Words"), facts(_WORDS)]
    return parts


def plain(value: Any, most: int = 60) -> str:
    """A text of somebody else's on one line, without anything that a terminal would obey."""
    text = "".join(mark if mark.isprintable() else " " for mark in str(value))
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def percent(value: float | None, *, signed: bool = False) -> str:
    """A share or an error in percent; a dash where there is none."""
    if value is None:
        return "-"
    number = 100.0 * value
    if number > MOST_PERCENT:
        return f"> {MOST_PERCENT} %"
    digits = 0 if abs(number) >= 10 else 1
    return f"{number:+.{digits}f} %" if signed else f"{number:.{digits}f} %"


def _headline(document: Mapping[str, Any]) -> str:
    predictions = document["predictions"]
    done = sum(one["status"] == "predicted" for one in predictions)
    asked = sum(one["measured"] is not None for one in predictions)
    rows, measured = words.count(document["rows"], "row"), words.count(asked, "measured value")
    return f"{plain(document['file'], 200)}: {rows}, {measured}, {done:,} predicted"


def _coverage(found: Mapping[str, Any]) -> str:
    return f"{found['predicted']:,} of {found['measured']:,} predicted, {percent(found['coverage'])}"


def _errors(part: Mapping[str, Any]) -> list[RenderableType]:
    parts: list[RenderableType] = [_groups("", {"all": part["all"]})]
    over = part["all"]["over_limit"]
    if over is not None:
        parts.append(indented(paragraph(f"measured above the plan's need with its margin: {percent(over)} of rows")))
    for by, groups in part["by"].items():
        if len(groups) > 1:
            parts += [Text(), _groups(BY.get(by, by), groups)]
    if part["worst"]:
        units = ", ".join(dict.fromkeys(row["unit"] for row in part["worst"]))
        parts += [Text(), indented(paragraph(f"Furthest off ({units})")), _worst(part["worst"])]
    return parts


def _groups(title: str, groups: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    rows = [(plain(name, 26), *_cells(found)) for name, found in list(groups.items())[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS:
        rest = list(groups.values())[MOST_GROUPS:]
        number = sum(found["measured"] for found in rest)
        rows.append((f"{len(rest)} more (--json)", f"{number:,}", *[""] * (len(COLUMNS) - 1)))
    return table((title, *COLUMNS), rows, right=COLUMNS)


def _cells(found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"{found['measured']:,}",
        f"{found['predicted']:,}",
        percent(found["median_error"]),
        percent(found["p90_error"]),
        percent(found["bias"], signed=True),
        percent(found["in_band"]),
    )


def _worst(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    columns = ("row", "measured", "predicted", "ratio", "model", "device")
    cells = [
        (
            plain(row["id"], 24), _amount(row["measured"]), _amount(row["predicted"]), f"{row['ratio']:.2f}",
            plain(row["model"], 26), plain(row["device"], 20),
        )
        for row in rows
    ]  # fmt: skip
    return table(columns, cells, right=("measured", "predicted", "ratio"))


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _verdicts(part: Mapping[str, Any]) -> list[RenderableType]:
    found = part["verdicts"]
    rows = [
        (name, *(f"{found[f'{key}_{said}']:,}" for said in ("said_fits", "said_oom", "unsupported")))
        for key, name in (("fits", "ran"), ("oom", "ran out of memory"))
    ]
    columns = ("measured", "said to fit", "said not to fit", "not predicted")
    shares = [
        f"said to fit but ran out: {percent(found['said_to_fit_but_ran_out'])} of the predicted rows that ran out",
        f"said not to fit but ran: {percent(found['said_not_to_fit_but_ran'])} of the predicted rows that ran",
    ]
    return [table(columns, rows, right=columns[1:]), bullets(shares)]


def _reasons(found: Sequence[Mapping[str, Any]]) -> RenderableType:
    rows = [(f"{entry['rows']:,}", entry["section"], plain(entry["reason"], 120)) for entry in found[:MOST_REASONS]]
    if len(found) > MOST_REASONS:
        rest = sum(entry["rows"] for entry in found[MOST_REASONS:])
        rows.append((f"{rest:,}", "", f"{len(found) - MOST_REASONS} more reasons (--json)"))
    return table(("rows", "", "reason"), rows, right=("rows",))
