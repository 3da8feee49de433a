"""Fit the constants of catalogs/calibration on the published measurements, and measure the errors out of sample.

    python -m lab calibrate                    all kinds: constants, errors out of sample, bands
    python -m lab calibrate training memory    some kinds
    python -m lab calibrate --fit-only         constants alone: minutes, not most of an hour
    python -m lab calibrate --bands-only       bands from the errors on file, without a fit
    python -m lab calibrate --check            writes nothing; fails where a file would change

The same measurements give the same files. Fits start from fixed values, not from the files' own, so that a second run
changes nothing.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from lab import MEASUREMENTS, ROOT
from lab.fitting import generation, memory, rl, rl_sync, training
from lab.fitting.bands import band_tables
from lab.fitting.constants_file import room_text, values_of, with_tables
from lab.fitting.folds import out_of_sample
from lab.fitting.memory_margin import margins_after
from lab.fitting.out_of_sample import LABELS, kept_out_csv
from rlopt.data_dir import catalogs_dir
from rlopt.estimates import Calibration
from rlopt.facts import Catalog
from rlopt.facts.files.folder import load_catalog
from rlopt.fitting import Study, fit
from rlopt.measured.outcome import band_factor

Record = dict[str, object]
STUDIES: Mapping[str, Callable[[Catalog, Calibration], Study]] = {
    "training": training.study,
    "memory": memory.study,
    "generation": generation.study,
    "rl_sync": rl_sync.study,
    "rl": rl.study,
}
"""Kinds of measurements in the order of their fits: a loop's stages are predicted by what was fitted before."""
CONSTANTS_ONLY = ("rl_sync",)
"""Kinds that only give constants to the next: nothing of them is predicted for a plan alone."""
SCHEMES: dict[str, tuple[str, int | None]] = {
    "fold": ("config", 5),
    "source": ("source", None),
    "device": ("device", None),
    "model": ("model", 8),
}
"""Scheme to the label that stays together and the number of folds (None: one label out at a time)."""
UNSEEN = {"source": {"engine": "left out"}, "device": {"device": "left out"}}
"""Labels of rows whose engine or GPU type the fit never saw: their band is the wider one."""
OUT_OF_SAMPLE = MEASUREMENTS / "out_of_sample.csv"


def fitted(study: Study, calibration: Calibration) -> Calibration:
    """The calibration with a study's constants fitted, with what moved."""
    found = fit(study, calibration)
    error = np.abs(study.predict(found) / study.measured - 1.0)
    print(f"{study.kind}: {len(study.ids)} rows, {len(study.parameters)} constants; of the fit itself: "
          f"median {np.median(error):.1%}, p90 {np.quantile(error, 0.9):.1%}")  # fmt: skip
    return found


def left_out(study: Study, calibration: Calibration) -> dict[str, np.ndarray]:
    """Predictions out of sample by scheme; ``calibration`` is the fit on all rows."""
    found = {}
    for scheme, (label, folds) in SCHEMES.items():
        if label not in study.labels:
            continue
        found[scheme] = out_of_sample(study, calibration, label, folds, calibration, os.cpu_count() or 1)
        error = np.abs(found[scheme] / study.measured - 1.0)
        print(f"  {scheme} out: median {np.median(error):.1%}, p90 {np.quantile(error, 0.9):.1%}", flush=True)
    return found


def rows_of(study: Study, schemes: dict[str, np.ndarray], calibration: Calibration) -> list[Record]:
    """Rows of the file of out-of-sample predictions, bands apart."""
    rows: list[Record] = []
    names = [label for label in (*LABELS, "quantity") if label in study.labels]
    limits = None if study.limit is None else study.limit(calibration)
    for i, name in enumerate(study.ids):
        labels = {label: study.labels[label][i] for label in names}
        for scheme, predicted in schemes.items():
            row: Record = {"kind": study.kind, "id": name, "scheme": scheme, **labels}
            row |= {"measured": float(study.measured[i]), "predicted": float(predicted[i])}
            rows.append(row | {"limit": None if limits is None else float(limits[i])})
    return rows


def merged(rows: list[Record]) -> list[Record]:
    """The file's rows: new ones for the kinds run, the others as they stand; numbers as the file prints them."""
    kinds = {row["kind"] for row in rows}
    old = csv.DictReader(OUT_OF_SAMPLE.open(encoding="utf-8")) if OUT_OF_SAMPLE.exists() else []
    text = kept_out_csv([*(row for row in old if row["kind"] not in kinds), *rows])
    return [dict(row) for row in csv.DictReader(io.StringIO(text))]


def with_bands(rows: list[Record], calibration: Calibration) -> list[Record]:
    """The rows with the ends of their 80 % band; what a scheme left out has the wider one."""
    found = []
    for row in rows:
        scheme, labels = str(row["scheme"]), {name: str(row[name]) for name in LABELS}
        factor = band_factor(
            str(row["kind"]), labels | UNSEEN.get(scheme, {}), calibration, known_model=scheme != "model"
        )
        value = float(row["predicted"] or "nan")  # type: ignore[arg-type]
        found.append(row | {"low": value / factor, "high": value * factor})
    return found


def main(arguments: list[str]) -> int:
    """Run the fits and write or check the files."""
    parser = argparse.ArgumentParser(
        "python -m lab calibrate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", choices=[*STUDIES, []], metavar="KIND")
    parser.add_argument("--fit-only", action="store_true")
    parser.add_argument("--bands-only", action="store_true")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args(arguments)
    kinds = tuple(k for k in STUDIES if not asked.kinds or k in asked.kinds)
    calibration, texts = load_catalog().calibration, {}
    rows: list[Record] = []
    moved: dict[tuple[str, ...], float] = {}
    for kind in () if asked.bands_only else kinds:
        study = STUDIES[kind](load_catalog(), calibration)
        calibration = fitted(study, calibration)
        moved |= values_of(calibration, tuple(p.path for p in study.parameters))
        if asked.fit_only or kind in CONSTANTS_ONLY:
            continue
        schemes = left_out(study, calibration)
        if kind == "memory":
            margins = margins_after(study, schemes["fold"], load_catalog(), calibration)
            calibration, moved = calibration.replaced(margins), moved | margins
        rows += rows_of(study, schemes, calibration)
    folder = catalogs_dir() / "calibration"
    for room in sorted({path[0] for path in moved}):
        texts[folder / f"{room}.yaml"] = room_text(folder, room, moved)
    if rows or asked.bands_only:
        every = merged(rows)
        tables = band_tables(every)
        bands = folder / "bands.yaml"
        texts[bands] = with_tables(bands.read_text(encoding="utf-8"), tables)
        banded = replace(calibration, bands={**calibration.bands, **tables})
        texts[OUT_OF_SAMPLE] = kept_out_csv(with_bands(every, banded))
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(("would change: " if asked.check else "written: ") + str(path.relative_to(ROOT)))
        if not asked.check:
            path.write_text(texts[path], encoding="utf-8")
    return 1 if asked.check and stale else 0
