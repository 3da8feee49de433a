"""How an engine serves a model: which engine, at which precisions, and what measurements say of it beside physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlopt.estimates.arrays import Hardware, Words
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import GENERATIONS, Flags, Floats, Ints, Values

SIXTEEN = 2.0
"""Bytes of a 16-bit value."""
UNMEASURED = 0
"""Code of a device or model without an effect of its own."""


@dataclass(frozen=True, slots=True)
class Serving:
    """One setting for all rows, or one a row, shape (n,).

    Parameters
    ----------
    engine
        Index into the engine table of the calibration.
    device, model
        Index into the effects of devices and of model families; 0 = never measured.
    dense_precision
        Precision of the weights outside the routed experts where it is another (gpt-oss quantises its experts
        alone); ``None`` = the same.
    kv_bytes
        Bytes of a cached value: 2, or 1 for an 8-bit cache.
    block_scaled
        Whether 8-bit weights carry one scale per block (DeepSeek's format), with kernels of their own.
    sparse_tokens
        Tokens that sparse attention reads of the cache beside a share of all; infinite = reads everything.
    beams
        Sequences decoded for one that is returned (beam search).
    """

    engine: Ints
    device: Ints | int = UNMEASURED
    model: Ints | int = UNMEASURED
    dense_precision: str | Words | None = None
    kv_bytes: Values = SIXTEEN
    block_scaled: Flags = False
    sparse_tokens: Values = np.inf
    beams: Values = 1.0

    @staticmethod
    def planned(
        hardware: Hardware,
        calibration: Calibration,
        engine: str | None = None,
        device: Ints | int = UNMEASURED,
        model: Ints | int = UNMEASURED,
        kv_bytes: Values = SIXTEEN,
    ) -> Serving:
        """``engine``, or the one planned with for each GPU generation."""
        return Serving(engine_rows(hardware, engine, calibration), device, model, kv_bytes=kv_bytes)


def engine_rows(hardware: Hardware, engine: str | None, calibration: Calibration) -> Ints:
    """Row of the engine table for each machine, shape of the hardware.

    ``engine``, or the one planned with for that GPU generation.
    """
    planned = calibration.generation["engine"]
    names = engine_names(calibration)
    row = np.array([names.index(engine or planned[name]) for name in GENERATIONS])
    return np.asarray(row[hardware.generation])


def engine_names(calibration: Calibration) -> tuple[str, ...]:
    """Names of the engine table, in the order of the codes."""
    return tuple(calibration.generation["engines"])


def effect_names(kind: str, calibration: Calibration) -> tuple[str, ...]:
    """Names that have an effect (`device` or `model`), in the order of the codes 1, 2, ..."""
    return tuple(calibration.generation["effects"][kind])


def effect_code(kind: str, name: str, calibration: Calibration) -> int:
    """Code of ``name`` among the effects of ``kind``; 0 where it was never measured."""
    names = effect_names(kind, calibration)
    return names.index(name) + 1 if name in names else UNMEASURED


def effect_codes(kind: str, names: Sequence[str], calibration: Calibration) -> Ints:
    """Codes of ``names`` among the effects of ``kind``, shape (len(names),)."""
    return np.array([effect_code(kind, name, calibration) for name in names], dtype=np.int64)


def of_engine(key: str, serving: Serving, calibration: Calibration) -> Floats:
    """A constant of the engine table, shape of the serving's engines."""
    return column(calibration.generation["engines"], key)[serving.engine]


def column(table: Mapping[str, Mapping[str, Any]], key: str) -> Floats:
    """One constant of every row of a table, shape (rows,)."""
    return np.array([float(row[key]) for row in table.values()])


def effect(kind: str, code: Ints | int, calibration: Calibration) -> Floats:
    """Factor on device time of a measured device or model family; 1 where it was never measured."""
    table = calibration.generation["effects"][kind]
    return np.asarray(np.array([1.0, *(float(value) for value in table.values())])[code])


def engine_generation_effect(serving: Serving, generation: Ints, calibration: Calibration) -> Floats:
    """Factor on device time of an engine on a GPU generation; 1 where that pair was never measured."""
    table = calibration.generation["effects"]["engine_generation"]
    names = engine_names(calibration)
    values = np.array([[float(table.get(name, {}).get(key, 1.0)) for key in GENERATIONS] for name in names])
    return np.asarray(values[serving.engine, generation])


def engine_model_effect(serving: Serving, calibration: Calibration) -> Floats:
    """Factor on device time of an engine's kernels for a model family; 1 where that pair was never measured."""
    table = calibration.generation["effects"]["engine_model"]
    models = (None, *effect_names("model", calibration))
    values = np.array(
        [[float(table.get(name, {}).get(model, 1.0)) for model in models] for name in engine_names(calibration)]
    )
    return np.asarray(values[serving.engine, serving.model])
