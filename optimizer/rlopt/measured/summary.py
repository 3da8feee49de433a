"""How good predictions are: errors, coverage and honesty of the bands, as a whole and by group."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from rlopt.measured.outcome import FITS, OOM
from rlopt.measured.points import LABELS, SECTIONS, Point, numeric

BREAKDOWNS: Final = ("quantity", "source", "device", "size", "architecture", "method", "engine")
"""What a section is split by, in the order of the report."""
WORST: Final = 10


@dataclass(frozen=True, slots=True)
class Statistics:
    """Errors of a group; shares and errors are fractions of one, ``None`` where nothing is there to count.

    Parameters
    ----------
    measured
        Rows with a usable measured value.
    predicted, unsupported
        Of these, how many have a prediction and how many do not.
    coverage
        predicted / measured.
    median_error, p90_error
        Quantiles of |predicted / measured − 1|.
    bias
        exp(median of ln(predicted / measured)) − 1: above zero where predictions are too high.
    in_band
        Share of rows with a band whose measured value lies inside it.
    over_limit
        Memory only: share whose measured peak exceeds the plan's needed memory × (1 + margin).
    """

    measured: int
    predicted: int
    unsupported: int
    coverage: float | None
    median_error: float | None
    p90_error: float | None
    bias: float | None
    in_band: float | None
    over_limit: float | None


def statistics(points: Sequence[Point]) -> Statistics:
    """Sum up points of one section; those without a measured value do not count."""
    measured = [point for point in points if point.measured is not None]
    predicted = sum(point.predicted is not None for point in measured)
    ratios = np.array([point.ratio for point in numeric(measured)], dtype=float)
    errors = np.abs(ratios - 1.0)
    return Statistics(
        measured=len(measured),
        predicted=predicted,
        unsupported=len(measured) - predicted,
        coverage=_share(predicted, len(measured)),
        median_error=float(np.median(errors)) if errors.size else None,
        p90_error=float(np.quantile(errors, 0.9)) if errors.size else None,
        bias=math.exp(float(np.median(np.log(ratios)))) - 1.0 if errors.size else None,
        in_band=_in_band(measured),
        over_limit=_over_limit(measured),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _in_band(points: Sequence[Point]) -> float | None:
    inside = [
        point.low <= point.measured <= point.high
        for point in points
        if isinstance(point.measured, float) and point.low is not None and point.high is not None
    ]
    return _share(sum(inside), len(inside))


def _over_limit(points: Sequence[Point]) -> float | None:
    over = [p.measured > p.limit for p in points if isinstance(p.measured, float) and p.limit is not None]
    return _share(sum(over), len(over))


def group_key(by: str) -> Callable[[Point], str]:
    """Give the function that says which group of ``by`` (quantity, or one of `LABELS`) a point belongs to."""
    if by in LABELS:
        return lambda point: point.labels[by]
    return lambda point: str(getattr(point, by))


def breakdown(points: Sequence[Point], by: str) -> dict[str, Statistics]:
    """Statistics by group, largest group first."""
    key = group_key(by)
    groups: defaultdict[str, list[Point]] = defaultdict(list)
    for point in points:
        groups[key(point)].append(point)
    found = {name: statistics(members) for name, members in groups.items()}
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].measured, entry[0])))


def verdicts(points: Sequence[Point]) -> dict[str, Any]:
    """The 2 × 2 table of rows that fit or ran out of memory, by what was said of them.

    Returns
    -------
    dict
        Counts ``<measured>_said_<predicted>`` and ``<measured>_unsupported``; ``said_to_fit_but_ran_out`` as a share
        of the predicted rows that ran out, ``said_not_to_fit_but_ran`` of those that ran (``None``: there is none).
    """
    counts = Counter((point.measured, point.predicted) for point in points if point.measured is not None)
    table: dict[str, Any] = {
        f"{measured}_said_{said}": counts[(measured, said)] for measured in (FITS, OOM) for said in (FITS, OOM)
    }
    table |= {f"{measured}_unsupported": counts[(measured, None)] for measured in (FITS, OOM)}
    ran_out = table["oom_said_fits"] + table["oom_said_oom"]
    ran = table["fits_said_fits"] + table["fits_said_oom"]
    table["said_to_fit_but_ran_out"] = _share(table["oom_said_fits"], ran_out)
    table["said_not_to_fit_but_ran"] = _share(table["fits_said_oom"], ran)
    return table


def worst(points: Sequence[Point], most: int = WORST) -> list[Point]:
    """The points furthest off, by |ln(predicted / measured)|, furthest first."""
    return sorted(numeric(points), key=lambda point: (-abs(math.log(point.ratio or 1.0)), point.id))[:most]


def refusals(points: Sequence[Point]) -> list[dict[str, Any]]:
    """Reasons of unsupported rows with their number, most frequent first, those without a measured value too."""
    counts = Counter((point.section, point.reason) for point in points if point.predicted is None)
    entries = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [{"section": section, "reason": reason, "rows": number} for (section, reason), number in entries]


def sections(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Points by section, in the order of `SECTIONS`; empty sections are left out."""
    found: dict[str, list[Point]] = {key: [] for key in SECTIONS}
    for point in points:
        found[point.section].append(point)
    return {key: members for key, members in found.items() if members}


def summary(points: Sequence[Point]) -> dict[str, Any]:
    """Everything that is summed up, as plain data: by section the whole, the groups and the worst rows."""
    result: dict[str, Any] = {}
    for key, members in sections(points).items():
        part: dict[str, Any] = {"title": SECTIONS[key], "all": asdict(statistics(members))}
        splits = [by for by in BREAKDOWNS if by != "quantity" or key == "rl stages"]
        part["by"] = {by: _plain(breakdown(members, by)) for by in splits}
        if key == "fits":
            part["verdicts"] = verdicts(members)
        part["worst"] = [_named(point) for point in worst(members)]
        result[key] = part
    return result


def _plain(groups: Mapping[str, Statistics]) -> dict[str, Any]:
    return {name: asdict(found) for name, found in groups.items()}


def _named(point: Point) -> dict[str, Any]:
    keys = ("id", "line", "quantity", "unit", "measured", "predicted", "ratio")
    return {key: getattr(point, key) for key in keys} | {name: point.labels[name] for name in LABELS}
