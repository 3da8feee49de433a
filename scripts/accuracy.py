"""Write docs/accuracy.md from the measurements and from predictions of rows that were kept out of the fits.

``python scripts/accuracy.py`` predicts the shipped measurement files, writes what was predicted and refused to
measurements/coverage.csv, and then the page. ``--check`` only compares the page with what the files say.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from rlopt.measured.kept_out import read_kept_out
from rlopt.measured.points import SECTIONS, Point
from rlopt.measured.rows import read_table
from rlopt.measured.summary import Statistics, breakdown, statistics, worst
from scripts import accuracy_words as prose

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS = ROOT / "measurements"
PAGE = ROOT / "docs" / "accuracy.md"
KEPT_OUT = MEASUREMENTS / "out_of_sample.csv"
COVERAGE = MEASUREMENTS / "coverage.csv"
EXPLANATIONS = MEASUREMENTS / "worst_rows.csv"
FILES = ("training", "memory_small", "memory_fit", "generation", "generation_latency_derived", "rl")
COVERAGE_COLUMNS = ("file", "section", "measured", "outcome", "rows")
SPLITS = ("source", "device", "engine", "method", "architecture")
FEW = 5
"""Groups smaller than this say nothing about a group."""
DOUBTFUL = (0.25, 0.60)
"""Median error and 90th percentile above which a group is named among what not to trust."""
MOST_REASONS = 8

Table = Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Aim:
    """A subset of rows, and the median and 90th-percentile error that was aimed at for it."""

    title: str
    section: str
    median: float
    p90: float
    takes: Callable[[Point], bool] = lambda point: True


@cache
def _ids_with(file: str, column: str) -> frozenset[str]:
    return frozenset(row.id for row in read_table(MEASUREMENTS / f"{file}.csv").rows if row.has(column))


AIMS = (
    Aim("training time", "training", 0.10, 0.38),
    Aim("training time, dense models", "training", 0.08, 0.28, lambda p: p.labels["architecture"] == "dense"),
    Aim("generation, fixed lengths offline", "generation", 0.075, 0.25, lambda p: p.id.startswith("trt")),
    Aim("generation", "generation", 0.12, 0.50),
    Aim("RL step, mean length stated", "rl", 0.15, 0.40, lambda p: p.id in _ids_with("rl", "response_len_mean")),
    Aim("peak memory", "memory", 0.06, 0.25),
    Aim("peak memory, without small CI cases", "memory", 0.10, 0.40, lambda p: not p.id.startswith("ci-")),
)


def page() -> str:
    """Build the page from the checked-in files."""
    schemes = read_kept_out(KEPT_OUT)
    folds = schemes["fold"]
    found = _coverage_rows()
    parts = [prose.HEAD, "## In short\n", _aims(folds, found), "## By what was kept out\n", prose.SCHEMES_INTRO]
    parts += [_schemes(section, schemes) for section in SECTIONS]
    parts += ["## By group, five folds\n"]
    parts += [_splits(section, folds) for section in SECTIONS]
    parts += ["## What is predicted and what is refused\n", prose.COVERAGE, _coverage(found), _reasons(found)]
    parts += ["## Fits or runs out of memory\n", prose.FITS, _verdicts(found)]
    parts += ["## Furthest off\n", prose.WORST, *(_worst(section, folds) for section in SECTIONS)]
    parts += [prose.TRUST + _distrust(schemes)]
    return "\n".join(part for part in parts if part)


def _markdown(columns: Sequence[str], rows: Table, numbers: int) -> str:
    """A table; all but the first ``numbers`` columns from the right are text."""
    texts = len(columns) - numbers
    ruler = ["---"] * texts + ["---:"] * numbers
    lines = [columns, ruler, *rows]
    return "".join(f"| {' | '.join(_safe(cell) for cell in line)} |\n" for line in lines)


def _safe(text: str) -> str:
    return " ".join(text.replace("|", "/").replace("<", "‹").replace(">", "›").split())


def _percent(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    digits = 0 if abs(value) >= 0.1 else 1
    return f"{100.0 * value:{'+' if signed else ''}.{digits}f} %".replace("-", "−")


def _numbers(found: Statistics) -> tuple[str, ...]:
    return (
        f"{found.predicted:,}",
        _percent(found.median_error),
        _percent(found.p90_error),
        _percent(found.bias, signed=True),
        _percent(found.in_band),
    )


_NUMBERS = ("rows", "median", "9 in 10", "bias", "in band")


def _of(section: str, points: Sequence[Point]) -> list[Point]:
    return [point for point in points if point.section == section]


def _aims(folds: Sequence[Point], found: Sequence[Mapping[str, str]]) -> str:
    lines = []
    for aim in AIMS:
        got = statistics([point for point in _of(aim.section, folds) if aim.takes(point)])
        if got.predicted:
            goal = f"≤ {_percent(aim.median)} / {_percent(aim.p90)}"
            lines.append((aim.title, f"{got.predicted:,}", _percent(got.median_error), _percent(got.p90_error), goal))
    text = _markdown(("five folds", "rows", "median", "9 in 10", "aim"), lines, 4)
    over = statistics(_of("memory", folds)).over_limit
    if over is not None:
        text += f"\nMeasured peaks above the plan's need with its margin: {_percent(over)} of rows (aim: ≤ 5 %).\n"
    ratio = [(section, *_covered(found, section)) for section in SECTIONS]
    said = ", ".join(f"{SECTIONS[s].lower()} {_percent(part / whole)}" for s, part, whole in ratio if whole)
    return text + (f"\nShare of measured rows that is predicted: {said}.\n" if said else "")


def _schemes(section: str, schemes: Mapping[str, Sequence[Point]]) -> str:
    rows = [
        (prose.SCHEMES[scheme], *_numbers(statistics(members)))
        for scheme, points in schemes.items()
        if (members := _of(section, points))
    ]
    return f"### {SECTIONS[section]}\n\n{_markdown(('kept out', *_NUMBERS), rows, len(_NUMBERS))}" if rows else ""


def _splits(section: str, folds: Sequence[Point]) -> str:
    members = _of(section, folds)
    text = ""
    for by in ("quantity", *SPLITS) if section == "rl stages" else SPLITS:
        groups = {name: found for name, found in breakdown(members, by).items() if found.predicted >= FEW}
        if groups and (len(groups) > 1 or by == "quantity"):
            rows = [(name, *_numbers(found)) for name, found in groups.items()]
            text += "\n" + _markdown((by, *_NUMBERS), rows, len(_NUMBERS))
    return f"### {SECTIONS[section]}, by group\n{text}" if text else ""


def _covered(found: Sequence[Mapping[str, str]], section: str) -> tuple[int, int]:
    """Rows of a section that are predicted, and those with a measured value."""
    rows = [(row["outcome"], int(row["rows"])) for row in found if row["section"] == section and row["measured"]]
    return sum(number for outcome, number in rows if _is_answer(outcome)), sum(number for _, number in rows)


def _is_answer(outcome: str) -> bool:
    return outcome in ("predicted", "fits", "oom")


def _coverage(found: Sequence[Mapping[str, str]]) -> str:
    rows = []
    for section, title in SECTIONS.items():
        for file in FILES:
            part, whole = _covered([row for row in found if row["file"] == f"{file}.csv"], section)
            if whole:
                rows.append((title, f"{file}.csv", f"{whole:,}", f"{part:,}", _percent(part / whole)))
    return _markdown(("", "file", "measured", "predicted", "share"), rows, 3)


def _reasons(found: Sequence[Mapping[str, str]]) -> str:
    text = ""
    for section, title in SECTIONS.items():
        reasons: Counter[str] = Counter()
        for row in found:
            if row["section"] == section and row["measured"] and not _is_answer(row["outcome"]):
                reasons[row["outcome"]] += int(row["rows"])
        if reasons:
            ordered = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
            rows = [(reason, f"{number:,}") for reason, number in ordered[:MOST_REASONS]]
            rest = sum(number for _, number in ordered[MOST_REASONS:])
            rows += [("other reasons", f"{rest:,}")] if rest else []
            text += f"\n{title}:\n\n{_markdown(('why not', 'rows'), rows, 1)}"
    return text


def _verdicts(found: Sequence[Mapping[str, str]]) -> str:
    count: Counter[tuple[str, str]] = Counter()
    for row in found:
        if row["section"] == "fits" and row["measured"]:
            said = row["outcome"] if row["outcome"] in ("fits", "oom") else "refused"
            count[row["measured"], said] += int(row["rows"])
    columns = ("measured", "said to fit", "said not to fit", "not predicted")
    names = {"fits": "ran", "oom": "ran out of memory"}
    rows = [(title, *(f"{count[key, said]:,}" for said in ("fits", "oom", "refused"))) for key, title in names.items()]
    return _markdown(columns, rows, 3)


def _worst(section: str, folds: Sequence[Point]) -> str:
    explanations = _rows_of(EXPLANATIONS)
    rows = []
    for point in worst(_of(section, folds)):
        names = " · ".join(point.labels[name] for name in ("model", "device", "engine"))
        why = next((row["explanation"] for row in explanations if fnmatchcase(point.id, row["id"])), "not understood")
        rows.append((f"`{point.id}`", names, f"{point.ratio or 0:.2f}", why))
    columns = ("row", "what", "predicted / measured", "why")
    return f"### {SECTIONS[section]}, furthest off\n\n{_markdown(columns, rows, 0)}" if rows else ""


def _distrust(schemes: Mapping[str, Sequence[Point]]) -> str:
    """Sentences by hand, and the groups whose own numbers say so."""
    lines = [f"- {text}" for text in prose.TRUST_BY_HAND]
    for section, title in SECTIONS.items():
        for by in SPLITS:
            groups = breakdown(_of(section, schemes["fold"]), by)
            poor = [
                f"{_safe(name)} ({_percent(found.median_error)} / {_percent(found.p90_error)})"
                for name, found in groups.items()
                if found.predicted >= FEW and _is_doubtful(found)
            ]
            if poor and len(groups) > 1:
                lines.append(f"- **{title}, by {by}** (median / 9 in 10, rows kept out): {', '.join(poor)}.")
    return "\n".join(lines) + "\n"


def _is_doubtful(found: Statistics) -> bool:
    return (found.median_error or 0.0) > DOUBTFUL[0] or (found.p90_error or 0.0) > DOUBTFUL[1]


def _rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _coverage_rows() -> list[dict[str, str]]:
    return _rows_of(COVERAGE)


def coverage_csv() -> str:
    """Predict the shipped files and count what was predicted and refused, as CSV."""
    from rlopt import api
    from rlopt.estimates.calibration import load_calibration
    from rlopt.measured.points import points_of
    from rlopt.measured.predictions import predict_table

    counts: Counter[tuple[str, str, str, str]] = Counter()
    for file in FILES:
        table = read_table(MEASUREMENTS / f"{file}.csv")
        for point in points_of(predict_table(table, api.catalog(), load_calibration())):
            counts[f"{file}.csv", point.section, _measured(point), _outcome(point)] += 1
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COVERAGE_COLUMNS)
    writer.writerows((*key, number) for key, number in sorted(counts.items()))
    return stream.getvalue()


def _measured(point: Point) -> str:
    return point.measured if isinstance(point.measured, str) else "" if point.measured is None else "number"


def _outcome(point: Point) -> str:
    if isinstance(point.predicted, str):
        return point.predicted
    return point.reason if point.predicted is None else "predicted"


def main() -> int:
    """Write both, or compare the page."""
    if "--check" in sys.argv[1:]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
        sys.stdout.write("" if current else f"{PAGE.name} is not current: run python scripts/accuracy.py\n")
        return int(not current)
    COVERAGE.write_text(coverage_csv(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
