"""Tables of docs/evaluation.md: rows of measurements/evaluated_runs.csv as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab.pages import NOT_UNDERSTOOD, markdown
from lab.savings import words as savings_words
from lab.savings.page import FAR, hours, name, number, same_job, usd

Line = Mapping[str, str]
UNKNOWN = "is not known"
HEAD = """# Published configurations, evaluated

Written by `python -m lab evaluation` from `measurements/evaluated_runs.csv`; do not edit by hand. The suite fails when
this page is not what that file says.

Each configuration that somebody published for the job of an example in `examples/requests/` goes through what
`rlopt evaluate` does: GPUs, placement, layout and precisions are held as they were stated, on machines at the price of
the row (as machines of one's own; those of the catalogs where the row states no price), and all else takes its cheapest
value. The configurations were run, or are documented to run: each of them *does* fit.

- *fits* is the memory model's word, *fullest* the stage that takes most of a GPU: what it needs of what can be used.
  Sampling fills its cache up to that, so a rollout engine that is full is no warning.
- *ratio* is predicted over published hours, shown where the published job is the example's. Group sizes that the
  example does not allow are the example's own.
- *breaks* are limits and floors of the example that the run does not keep: `rlopt evaluate` then ends with code 3.

How good times and memory are over all published measurements: [accuracy.md](accuracy.md). What plans save against the
same runs: [savings.md](savings.md).
"""
OFF = """## Hours that are far from the published ones

Off by more than half, for jobs that match. Lengths in the examples are often assumptions (each file says which), and a
step's time is nearly proportional to them.
"""
HELD = """## What could not be held as stated
"""
LEFT_OUT = """## Not evaluated, and why
"""
NONE = "None.\n"


def ratio(line: Line) -> float | None:
    """Predicted over published hours, for jobs that match."""
    predicted, published = number(line, "hours"), number(line, "published_hours")
    return predicted / published if predicted and published and same_job(line) else None


def far(line: Line) -> bool:
    """Whether the hours have to be explained."""
    value = ratio(line)
    return value is not None and not 1.0 - FAR <= value <= 1.0 / (1.0 - FAR)


def fits(line: Line) -> str:
    """Yes, no, not known, or nothing where a row states too little."""
    return "not known" if line["fits"] == "no" and UNKNOWN in line["reason"] else line["fits"]


def page(lines: Sequence[Line]) -> str:
    """The whole page."""
    answered = [line for line in lines if line["fits"]]
    compared = [value for value in map(ratio, lines) if value is not None]
    near = sum(not far(line) for line in lines if ratio(line) is not None)
    yes, no, unknown = (_count(answered, word) for word in ("yes", "no", "not known"))
    short = (
        f"{len(lines)} published runs; {len(answered)} state enough to be evaluated: {yes} of these fit, {no} do not, "
        f"of {unknown} it is not known. Hours of {len(compared)} can be compared, {near} of them within a factor of "
        "two.\n"
    )
    parts = [HEAD, "## In short\n", short, "## Each run\n", _runs(answered), OFF, _far(lines), HELD, _held(answered)]
    return "\n".join([*parts, LEFT_OUT, _left_out(lines)])


def _count(lines: Sequence[Line], word: str) -> int:
    return sum(fits(line) == word for line in lines)


def _runs(lines: Sequence[Line]) -> str:
    rows = []
    for line in lines:
        full = (
            f"{line['fullest_stage']}, {line['needed_gib']} of {line['capacity_gib']} GiB"
            if line["needed_gib"]
            else "–"
        )
        bound = "≤ " if line["hours_are"] == "upper bound" else ""
        value, taken = ratio(line), number(line, "published_hours")
        rows.append(
            (
                name(line),
                line["run"],
                fits(line),
                full,
                hours(number(line, "hours")),
                f"{bound}{hours(taken)}",
                ("other job" if taken and not same_job(line) else "–") if value is None else f"{value:.2f}",
                usd(number(line, "usd")),
                _keys(line["breaks"]),
            )
        )
    columns = ("", "published run", "fits", "fullest", "hours", "published", "ratio", "bill, USD", "breaks")
    return markdown(columns, rows, 0)


def _keys(cell: str) -> str:
    return ", ".join(f"`{key}`" for key in cell.split("; ")) if cell else "–"


def _far(lines: Sequence[Line]) -> str:
    rows = [
        (
            name(line),
            line["run"],
            f"{ratio(line):.2f}",
            savings_words.FAR.get((line["id"], line["row"]), NOT_UNDERSTOOD),
        )
        for line in lines
        if far(line)
    ]
    return markdown(("", "published run", "predicted / published", "what is known"), rows, 0) if rows else NONE


def _held(lines: Sequence[Line]) -> str:
    rows = [
        (name(line), line["run"], line["freed"] or "–", _keys(line["outside"]))
        for line in lines
        if line["freed"] or line["outside"]
    ]
    columns = ("", "published run", "left free", "choices of the example that do not allow it")
    return markdown(columns, rows, 0) if rows else NONE


def _left_out(lines: Sequence[Line]) -> str:
    rows = [
        (name(line), line["run"], line["reason"].removeprefix("pools[0].gpu: ")) for line in lines if line["reason"]
    ]
    return markdown(("", "published run", "why"), rows, 0) if rows else NONE
