"""Write docs/accuracy.md from the measurements and from predictions of rows that were kept out of the fits.

``python -m lab accuracy`` predicts the shipped measurement files, writes what was predicted and refused to
measurements/coverage.csv, and then the page. ``--page`` writes the page alone, ``--check`` compares it with what the
files say and writes nothing.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lab import MEASUREMENTS, ROOT
from lab.accuracy import words as prose
from lab.accuracy.tables import by_group, by_scheme, doubtful, furthest_off, of
from lab.fitting.out_of_sample import read_kept_out
from lab.pages import NOT_UNDERSTOOD, Page, markdown, percent, read
from rlopt.measured.points import SECTIONS, Point
from rlopt.measured.rows import read_table
from rlopt.measured.summary import statistics

PAGE = ROOT / "docs" / "accuracy.md"
KEPT_OUT = MEASUREMENTS / "out_of_sample.csv"
COVERAGE = MEASUREMENTS / "coverage.csv"
EXPLANATIONS = MEASUREMENTS / "worst_rows.csv"
FILES = ("training", "memory_small", "memory_fit", "generation", "generation_latency_derived", "rl")
COVERAGE_COLUMNS = ("file", "section", "measured", "outcome", "rows", "median_error", "p90_error")
"""Errors are those of the shipped constants, to three digits: only for rows that no fit uses."""
ANSWERS = ("predicted", "fits", "oom")
TOYS = ("memory_small.csv", "training")
"""Times of tiny functional tests: counted in no share, because nobody plans such runs."""
REPORTED_PEAKS = ("memory_fit.csv", "memory")
"""Peaks in reports of users: too loosely described to fit anything on."""
MOST_REASONS = 8


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
    Aim("peak memory, without the small tests", "memory", 0.10, 0.40, lambda p: not p.id.startswith("ci-")),
)


def page() -> str:
    """Build the page from the checked-in files."""
    schemes = read_kept_out(KEPT_OUT)
    folds = schemes["fold"]
    found, explanations = read(COVERAGE), read(EXPLANATIONS)
    parts = [prose.HEAD, "## In short\n", _aims(folds, found), "## By what was kept out\n", prose.SCHEMES_INTRO]
    parts += [by_scheme(section, schemes, prose.SCHEMES) for section in SECTIONS]
    parts += ["## By group, five folds\n", *(by_group(section, folds) for section in SECTIONS)]
    parts += ["## What is predicted and what is refused\n", prose.COVERAGE, _coverage(found), _reasons(found)]
    parts += ["## Fits or runs out of memory\n", prose.FITS, _verdicts(found)]
    parts += ["## Furthest off\n", prose.WORST]
    parts += [furthest_off(section, folds, explanations) for section in SECTIONS]
    distrust = [*prose.TRUST_BY_HAND, *(text for section in SECTIONS for text in doubtful(section, folds))]
    parts += ["## What not to trust it for\n", "".join(f"- {text}\n" for text in distrust)]
    return "\n".join(part for part in parts if part)


def _aims(folds: Sequence[Point], found: Sequence[Mapping[str, str]]) -> str:
    lines = []
    for aim in AIMS:
        got = statistics([point for point in of(aim.section, folds) if aim.takes(point)])
        if got.predicted:
            goal = f"≤ {100 * aim.median:g} / {100 * aim.p90:g} %"
            lines.append((aim.title, f"{got.predicted:,}", percent(got.median_error), percent(got.p90_error), goal))
    text = markdown(("five folds", "rows", "median", "9 in 10", "aim"), lines, 4)
    over = statistics(of("memory", folds)).over_limit
    if over is not None:
        text += f"\nMeasured peaks above the plan's need with its margin: {percent(over)} of rows (aim: ≤ 5 %).\n"
    shares = [(title, *_covered(found, section)) for section, title in SECTIONS.items()]
    rows = [(title, f"{whole:,}", percent(part / whole)) for title, part, whole in shares if whole]
    return f"{text}\n{markdown(('', 'rows with a measured value', 'predicted'), rows, 2)}" if rows else text


def _covered(found: Sequence[Mapping[str, str]], section: str) -> tuple[int, int]:
    """Rows of a section that are predicted, and those with a measured value."""
    rows = [(row["outcome"], int(row["rows"])) for row in _measured_rows(found, section)]
    return sum(number for outcome, number in rows if outcome in ANSWERS), sum(number for _, number in rows)


def _measured_rows(found: Sequence[Mapping[str, str]], section: str) -> list[Mapping[str, str]]:
    rows = [row for row in found if row["section"] == section and row["measured"]]
    return [row for row in rows if (row["file"], section) != TOYS]


def _coverage(found: Sequence[Mapping[str, str]]) -> str:
    rows = []
    for section, title in SECTIONS.items():
        for file in FILES:
            part, whole = _covered([row for row in found if row["file"] == f"{file}.csv"], section)
            if whole:
                rows.append((title, f"{file}.csv", f"{whole:,}", f"{part:,}", percent(part / whole)))
    return markdown(("", "file", "measured", "predicted", "share"), rows, 3)


def _reasons(found: Sequence[Mapping[str, str]]) -> str:
    parts = []
    for section, title in SECTIONS.items():
        reasons: Counter[str] = Counter()
        for row in _measured_rows(found, section):
            if row["outcome"] not in ANSWERS:
                reasons[row["outcome"]] += int(row["rows"])
        if reasons:
            ordered = sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
            rows = [(reason, f"{number:,}") for reason, number in ordered[:MOST_REASONS]]
            rest = sum(number for _, number in ordered[MOST_REASONS:])
            rows += [("other reasons", f"{rest:,}")] if rest else []
            parts.append(f"{title}:\n\n{markdown(('why not', 'rows'), rows, 1)}")
    return "\n".join(parts)


def _verdicts(found: Sequence[Mapping[str, str]]) -> str:
    count: Counter[tuple[str, str]] = Counter()
    for row in _measured_rows(found, "fits"):
        said = row["outcome"] if row["outcome"] in ("fits", "oom") else "refused"
        count[row["measured"], said] += int(row["rows"])
    columns = ("measured", "said to fit", "said not to fit", "not predicted")
    names = {"fits": "ran", "oom": "ran out of memory"}
    rows = [(title, *(f"{count[key, said]:,}" for said in ("fits", "oom", "refused"))) for key, title in names.items()]
    peaks = [row for row in found if (row["file"], row["section"]) == REPORTED_PEAKS and row["median_error"]]
    ran_out, ran = ([count[key, said] for said in ("fits", "oom")] for key in ("oom", "fits"))
    wrong = [
        ("Said to fit but ran out", ran_out[0], sum(ran_out), "ran out"),
        ("Said not to fit but ran", ran[1], sum(ran), "ran"),
    ]
    notes = [
        f"\n{what}: {percent(part / whole)} of the {whole} predicted rows that {end}.\n"
        for what, part, whole, end in wrong
        if whole
    ]
    notes += [
        f"\nPeaks that such reports print ({row['rows']} rows, no constant fitted on them): median "
        f"{percent(float(row['median_error']))}, 9 in 10 {percent(float(row['p90_error']))}.\n"
        for row in peaks
    ]
    return markdown(columns, rows, 3) + "".join(notes)


def coverage_csv() -> str:
    """Predict the shipped files and count what was predicted and refused, as CSV."""
    from rlopt import api
    from rlopt.measured.points import points_of
    from rlopt.measured.predictions import predict_table

    groups: defaultdict[tuple[str, str, str, str], list[Point]] = defaultdict(list)
    for file in FILES:
        table = read_table(MEASUREMENTS / f"{file}.csv")
        for point in points_of(predict_table(table, api.catalog(), api.catalog().calibration)):
            groups[f"{file}.csv", point.section, _measured(point), _outcome(point)].append(point)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COVERAGE_COLUMNS)
    for key, points in sorted(groups.items()):
        found = statistics(points)
        errors = (found.median_error, found.p90_error) if key[:2] == REPORTED_PEAKS else (None, None)
        writer.writerow((*key, len(points), *("" if error is None else f"{error:.3g}" for error in errors)))
    return stream.getvalue()


def _measured(point: Point) -> str:
    return point.measured if isinstance(point.measured, str) else "" if point.measured is None else "number"


def _outcome(point: Point) -> str:
    if isinstance(point.predicted, str):
        return point.predicted
    return point.reason if point.predicted is None else "predicted"


def main(arguments: list[str]) -> int:
    """Write both, the page, or nothing, as asked."""
    answer = Page("accuracy", COVERAGE, PAGE, coverage_csv, page).run(arguments)
    unexplained = 0 if "--check" in arguments else PAGE.read_text(encoding="utf-8").count(f"| {NOT_UNDERSTOOD} |")
    if unexplained:
        sys.stdout.write(f"{unexplained} rows furthest off have no explanation in {EXPLANATIONS.name}\n")
    return answer
