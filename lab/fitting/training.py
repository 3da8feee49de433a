"""The study of training time: published throughput, and which constants it may move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.fitting.prior import Prior, owner
from lab.fitting.published import dropped, published, source_weights
from lab.fitting.training_priors import (
    ADAPTER,
    ATTENTION,
    BY_ENGINE,
    BY_GENERATION,
    DEVICE,
    DEVICES,
    LATER,
    LINKS,
    PLAIN,
)
from rlopt.estimates import Calibration
from rlopt.estimates.codes import GENERATIONS
from rlopt.facts import Catalog
from rlopt.fitting.fit import Parameter, Study
from rlopt.fitting.observations import of_training
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.rows import SECONDS, TOKENS, TrainingCases, cases

ROOM, FILE = "training", "training.csv"
SOURCE_POWER = 0.4
"""Of the usual weights: a run of a large table counts for n^-0.2 and not n^-0.5, which errs less out of sample."""
Flags = NDArray[np.bool_]


def measured_rows() -> list[MeasuredRow]:
    """Every training row with a throughput or a step time, asked for it."""
    rows = published(FILE)
    named = [(row, TOKENS if row.has(TOKENS) else SECONDS) for row in rows]
    return [row.asking(quantity) for row, quantity in named if (row.number(quantity) or 0.0) > 0.0]


def study(catalog: Catalog, calibration: Calibration) -> Study:
    """The rows that fits see, the constants in play, and which rows each touches."""
    rows = [row for row in measured_rows() if row.id not in dropped(ROOM)]
    read = cases(rows, catalog, calibration)
    parameters, touches = _parameters(read, calibration)
    weights = source_weights(read.labels["source"]) ** SOURCE_POWER
    return replace(of_training(rows, read), weights=weights, parameters=parameters, touches=touches)


def _parameters(
    read: TrainingCases, calibration: Calibration
) -> tuple[tuple[Parameter, ...], Mapping[tuple[str, ...], Flags]]:
    found: list[Parameter] = []
    touches: dict[tuple[str, ...], Flags] = {}
    every = np.ones(len(read), dtype=bool)

    def add(prior: Prior, rows: Flags, *path: str) -> None:
        found.append(prior.of(*path))
        touches[path] = rows

    generation = read.hardware.generation
    device = np.array(read.labels["device"])
    for key, prior in PLAIN.items():
        add(prior, every, ROOM, key)
    for key, by_generation in BY_GENERATION.items():
        for name, prior in by_generation.items():
            add(prior, generation == GENERATIONS.index(name), ROOM, key, name)
    for name, prior in LATER.items():
        add(prior, read.precision == name, ROOM, "saturates_later", name)
    for engine, shares in ATTENTION.items():
        for name, prior in shares.items():
            rows = _of_engine(read, calibration, "attention_share", engine) & (generation == GENERATIONS.index(name))
            add(prior, rows, ROOM, "attention_share", engine, name)
    for key, by_engine in BY_ENGINE.items():
        for name, prior in by_engine.items():
            add(prior, _of_engine(read, calibration, key, name), ROOM, key, name)
    for name in calibration.training["device_factor"]:
        add(DEVICES.get(name, DEVICE), device == name, ROOM, "device_factor", name)
    adapter = np.array([one.adapter for one in read.fields])
    for name in calibration.training["adapter_factor"]:
        add(ADAPTER, adapter == name, ROOM, "adapter_factor", name)
    for key, prior in LINKS.items():
        add(prior, every, "links", key)
    return tuple(found), touches


def _of_engine(read: TrainingCases, calibration: Calibration, key: str, name: str) -> Flags:
    """Rows whose stack takes its constant ``key`` from the family ``name``."""
    sources = [owner(engine, calibration.training[key], calibration) for engine in calibration.engines]
    return np.asarray(np.array(sources)[read.stack.engine] == name)
