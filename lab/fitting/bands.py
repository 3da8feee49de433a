"""Error bands from predictions of rows that their fit never saw.

The log-sigma of a group is a quantile of its absolute log errors over 1.28, so that an 80 % band holds 80 % of new
rows whatever the tails. Engines and GPU types scale it by their own quantile, shrunk towards 1 where rows are few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlopt.estimates.codes import Floats
from rlopt.estimates.uncertainty import EIGHTY

INSIDE = 0.82
"""A little above 80 %: bands set on some rows hold fewer of the rows they never saw."""
FEWEST = 8
"""Rows below which an engine or a GPU type keeps the common band."""
SHRINK_ROWS = 40.0
"""Rows at which a group's own quantile counts half."""
FACTOR_LIMITS = (0.4, 2.5)
SCHEMES = {"new_device": "device", "new_engine": "source", "new_model": "model"}
"""Key of a band to the scheme of `Sample` that tells it."""
SETUP = ("engine", "model", "device")
"""What makes a setup: the stack, the model and the GPU type; runs of one differ in sizes, lengths and layouts."""
ARCHITECTURES = ("dense", "moe")


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows predicted out of sample under one scheme (fold, device, source, model), n of them."""

    errors: Floats
    """|ln(predicted / measured)|, shape (n,)."""
    labels: Mapping[str, Sequence[str]]
    """architecture, engine and device of each row."""

    def of(self, name: str, value: str) -> np.ndarray:
        """Which rows carry a label."""
        return np.array([label == value for label in self.labels[name]], dtype=bool)


def spread(errors: Floats) -> float:
    """Log-sigma whose 80 % band holds the share `INSIDE` of ``errors``; NaN of none."""
    return float(np.quantile(errors, INSIDE)) / EIGHTY if len(errors) else float("nan")


def _factors(name: str, sample: Sample, scaled: Floats) -> dict[str, float]:
    """A group's own spread against the common one, shrunk by its rows."""
    found = {}
    for value in sorted(set(sample.labels[name])):
        here = sample.of(name, value)
        rows = int(here.sum())
        if value and rows >= FEWEST:
            own = np.log(max(spread(scaled[here]), 1e-3)) * rows / (rows + SHRINK_ROWS)
            found[value] = float(np.clip(np.exp(own), *FACTOR_LIMITS))
    return found


def same_setup(errors: Floats, setups: Sequence[str]) -> dict[str, float]:
    """Share of the error that rows of one setup do not have in common: around their setup's middle, over all.

    ``typical`` by medians: what holds of most rows. ``all`` by squares: a few rows of every table are off by a factor
    that their setup does not share, and whoever has one row cannot know that it is none of them. ``errors`` are
    ln(predicted / measured), shape (n,). Setups of one row tell nothing.
    """
    names, which, counts = np.unique(np.asarray(setups), return_inverse=True, return_counts=True)
    kept = counts[which] > 1
    groups = int((counts > 1).sum())
    if not groups:
        return {"typical": 1.0, "all": 1.0}
    parts = [errors[which == place] for place in range(len(names))]
    middles, means = (np.array([of(part) for part in parts])[which] for of in (np.median, np.mean))
    every, apart = errors[kept], errors - middles
    lost = np.sqrt(len(every) / (len(every) - groups))
    found = {
        "typical": np.median(np.abs(apart[kept])) * lost / np.median(np.abs(every)),
        "all": np.sqrt(np.mean((errors - means)[kept] ** 2) / np.mean(every**2)) * lost,
    }
    return {name: float(np.clip(value, 0.0, 1.0)) for name, value in found.items()}


def _common(sample: Sample, factor: Floats, fallback: float) -> dict[str, float]:
    found = {}
    for architecture in ARCHITECTURES:
        here = sample.of("architecture", architecture)
        found[architecture] = spread((sample.errors / factor)[here]) if here.sum() >= FEWEST else fallback
    return found


def band_table(samples: Mapping[str, Sample]) -> dict[str, Any]:
    """One kind's entry of bands.yaml. ``samples`` by scheme; ``fold`` is needed, the others widen."""
    known = samples["fold"]
    overall, ones = spread(known.errors), np.ones(len(known.errors))
    base = _common(known, ones, overall)
    common = np.array([base.get(a, overall) for a in known.labels["architecture"]])
    engines = _factors("engine", known, known.errors / common)
    scaled = common * np.array([engines.get(e, 1.0) for e in known.labels["engine"]])
    devices = _factors("device", known, known.errors / scaled)
    factor = np.array(
        [
            engines.get(e, 1.0) * devices.get(d, 1.0)
            for e, d in zip(known.labels["engine"], known.labels["device"], strict=True)
        ]
    )
    base = _common(known, factor, overall)
    table: dict[str, Any] = {}
    for architecture in ARCHITECTURES:
        row = {"known": base[architecture]}
        for key, scheme in SCHEMES.items():
            sample = samples.get(scheme)
            new = row["known"]
            if sample is not None:
                here = sample.of("architecture", architecture)
                new = spread(sample.errors[here]) if here.sum() >= FEWEST else spread(sample.errors)
            row[key] = max(new, row["known"])
        table[architecture] = row
    return table | {
        "engine": engines,
        "device": devices,
        "devices": sorted(set(known.labels["device"]) - {""}),
        "engines": sorted(set(known.labels["engine"]) - {""}),
    }


def band_tables(rows: Sequence[Mapping[str, object]]) -> dict[str, Any]:
    """Entries of bands.yaml by kind, from rows of the file of predictions out of sample."""
    found = {}
    for kind in sorted({str(row["kind"]) for row in rows}):
        samples: dict[str, Sample] = {}
        shared = {"typical": 1.0, "all": 1.0}
        for scheme in ("fold", *SCHEMES.values()):
            here = [row for row in rows if row["kind"] == kind and row["scheme"] == scheme and row["predicted"]]
            errors = np.array([np.log(float(str(r["predicted"])) / float(str(r["measured"]))) for r in here])
            labels = {name: [str(row[name]) for row in here] for name in ("architecture", "engine", "device")}
            if scheme == "fold" and len(here):
                shared = same_setup(errors, ["/".join(str(row[name]) for name in SETUP) for row in here])
            if len(here):
                samples[scheme] = Sample(np.abs(errors), labels)
        found[kind] = band_table(samples) | {"same_setup": shared}
    return found
