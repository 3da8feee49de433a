"""The study of training time: published throughput, and which constants it may move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lab.fitting.published import dropped, published
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
from rlopt.fitting.fit import Parameter, Prior, Study, source_weights
from rlopt.measured.rows import MeasuredRow
from rlopt.measured.training.rows import SECONDS, TOKENS, TrainingCases, cases, in_metric, seconds

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
    return study_of([row for row in measured_rows() if row.id not in dropped(ROOM)], catalog, calibration)


def study_of(rows: Sequence[MeasuredRow], catalog: Catalog, calibration: Calibration) -> Study:
    """The same of any rows, each asked for its throughput or its step; what cannot be predicted is left out."""
    read = cases(rows, catalog, calibration)
    kept = [rows[place] for place in read.index]
    quantities = [row.quantity for row in kept]
    parameters, touches = _parameters(read, calibration)
    return Study(
        kind=ROOM,
        ids=tuple(row.id for row in kept),
        measured=np.array([row.number(row.quantity) or np.nan for row in kept]),
        labels={**read.labels, "quantity": tuple(quantities)},
        weights=source_weights(read.labels["source"]) ** SOURCE_POWER,
        parameters=parameters,
        predict=lambda constants: in_metric(read, quantities, seconds(read, constants)),
        touches=touches,
    )


def _parameters(
    read: TrainingCases, calibration: Calibration
) -> tuple[tuple[Parameter, ...], Mapping[tuple[str, ...], Flags]]:
    found: list[Parameter] = []
    touches: dict[tuple[str, ...], Flags] = {}
    every = np.ones(len(read), dtype=bool)

    def add(prior: Prior, rows: Flags, *path: str) -> None:
        toward = (*path[:-1], prior.like) if prior.like else None
        found.append(Parameter(path, prior.centre, prior.low, prior.high, prior.sd, toward))
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
    families, table = calibration.training["engines"], calibration.training[key]
    sources = []
    for engine in calibration.engines:
        source = engine
        while source not in table:
            source = families[source]["like"]
        sources.append(source)
    return np.asarray(np.array(sources)[read.stack.engine] == name)
