"""What calibrating on some rows of a setup is worth on its other rows: errors before and after, never seen rows alone.

    python benchmarks/calibration.py               every kind, every setup with enough rows
    python benchmarks/calibration.py training      one kind

A setup is a stack, a model and a GPU type. "Before" are predictions of constants that were fitted without any row of
the setup (the folds of measurements/out_of_sample.csv): what a new user has. Some of the setup's rows then move the
constants of its stack and of its GPU type as `rlopt calibrate FILE.csv` does, and its other rows are predicted.
The factors stand for whole predictions, so that no stage has to be estimated anew. "Followed" takes one row at its
word, as a log of one configuration is taken: no shrinking, no other row.
"""

from __future__ import annotations

import csv
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "optimizer")]

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from rlopt.estimates import Calibration  # noqa: E402
from rlopt.facts.files.folder import load_catalog  # noqa: E402
from rlopt.fitting import Study  # noqa: E402
from rlopt.fitting.user_rows import fit_study  # noqa: E402

Floats = NDArray[np.float64]
KINDS = ("training", "generation", "rl")
SETUP = ("engine", "model", "device")
FEWEST = 4
"""Rows of a setup below which nothing is left to test on."""
RATES = {"training": True, "generation": True, "rl": False}
"""Whether a kind is measured as a rate; RL and some training rows are seconds."""
SECONDS = "step_time_s"
TAKEN = (1, 3)
"""Rows to calibrate on, beside half of them."""


@dataclass(frozen=True)
class Errors:
    """Absolute errors of held-out rows as shares, before and after; and where one row is followed."""

    before: list[float]
    after: list[float]
    followed: list[float]


def rows_of(kind: str) -> list[dict[str, str]]:
    """Rows of a kind that the folds predicted."""
    with (ROOT / "measurements" / "out_of_sample.csv").open(encoding="utf-8", newline="") as handle:
        return [
            row for row in csv.DictReader(handle) if (row["kind"], row["scheme"]) == (kind, "fold") and row["predicted"]
        ]


def setups(rows: Iterable[Mapping[str, str]]) -> list[list[Mapping[str, str]]]:
    """Rows by setup, those with enough of them, in an order that never changes."""
    found: dict[tuple[str, ...], list[Mapping[str, str]]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in SETUP)].append(row)
    kept = [sorted(group, key=lambda row: zlib.crc32(row["id"].encode())) for group in found.values()]
    return [group for group in kept if len(group) >= FEWEST]


def study_of(kind: str, rows: Sequence[Mapping[str, str]], base: Calibration) -> Study:
    """Rows as a study: the fold's prediction, times what moved constants make of it."""
    predicted = np.array([float(row["predicted"]) for row in rows])
    rate = np.array([RATES[kind] and row["quantity"] != SECONDS for row in rows])

    def predict(calibration: Calibration) -> Floats:
        slower = np.array([slowed(kind, row, calibration) / slowed(kind, row, base) for row in rows])
        return np.where(rate, predicted / slower, predicted * slower)

    return Study(
        kind=kind,
        ids=tuple(row["id"] for row in rows),
        measured=np.array([float(row["measured"]) for row in rows]),
        labels={name: tuple(row[name] for row in rows) for name in ("engine", "device", "model", "architecture")},
        weights=np.ones(len(rows)),
        parameters=(),
        predict=predict,
    )


def slowed(kind: str, row: Mapping[str, str], calibration: Calibration) -> float:
    """Times that constants of a row's stack and GPU type put on its seconds."""
    engine, device = row["engine"], row["device"]
    if kind == "training":
        stack = float(calibration.by_engine("training", "engine_factor", np.array([calibration.engine(engine)]))[0])
        return stack * float(calibration.training["device_factor"].get(device, 1.0))
    if kind == "generation":
        table = calibration.generation
        return float(table["engines"][engine]["device_factor"]) * float(table["effects"]["device"].get(device, 1.0))
    from rlopt.estimates.loop.transfer import framework_cell

    halves = [float(framework_cell(engine, name, calibration)) for name in ("train", "sample")]
    generation = load_catalog().devices[device].generation if device in load_catalog().devices else ""
    halves += [float(calibration.rl[name].get(generation, 1.0)) for name in ("generation_train", "generation_sample")]
    return float(np.sqrt(np.prod(halves)))


def held_out(kind: str, taken: int | None, groups: Sequence[Sequence[Mapping[str, str]]]) -> Errors:
    """Errors of the rows that no calibration saw; ``taken`` rows of each setup are calibrated on, None: half."""
    base, catalog = load_catalog().calibration, load_catalog()
    errors = Errors([], [], [])
    for group in groups:
        count = len(group) // 2 if taken is None else taken
        seen, rest = group[:count], group[count:]
        found = fit_study(study_of(kind, seen, base), catalog, base).calibration
        other = study_of(kind, rest, base)
        before, after = other.predict(base), other.predict(found)
        first = float(seen[0]["measured"]) / float(seen[0]["predicted"])
        errors.before.extend(np.abs(before / other.measured - 1.0).tolist())
        errors.after.extend(np.abs(after / other.measured - 1.0).tolist())
        errors.followed.extend(np.abs(before * first / other.measured - 1.0).tolist())
    return errors


def report(kind: str) -> list[str]:
    """Lines of one kind."""
    groups = setups(rows_of(kind))
    lines = []
    for taken in (*TAKEN, None):
        found = held_out(kind, taken, groups)
        name = "half" if taken is None else str(taken)
        told = [f"{np.median(errors):6.1%} {np.quantile(errors, 0.9):6.1%}" for errors in
                (found.before, found.after, *([found.followed] if taken == 1 else []))]  # fmt: skip
        lines.append(f"{kind:<11}{len(groups):>7}{name:>7}{len(found.before):>7}   {'   '.join(told)}")
    return lines


def main() -> int:
    """Print medians and 90 % quantiles of the errors on rows that were never seen."""
    kinds = [name for name in sys.argv[1:] if name in KINDS] or list(KINDS)
    print("kind       setups  taken   rows   before p50 p90  after p50 p90  one row followed p50 p90")
    for kind in kinds:
        print("\n".join(report(kind)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
