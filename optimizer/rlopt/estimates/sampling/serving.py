"""How an engine serves a model: which engine, at which precisions, and what measurements say of it beside physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlopt.estimates.arrays import Hardware, Words
from rlopt.estimates.codes import GENERATIONS, Flags, Floats, Ints, Values
from rlopt.facts.calibration import Calibration

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
    device, model, format, version
        Index into the names that effects are keyed by (`effect_names`); 0 = never measured.
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
    format: Ints | int = UNMEASURED
    version: Ints | int = UNMEASURED
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
        family: str = "",
        kv_bytes: Values = SIXTEEN,
    ) -> Serving:
        """``engine``, or the one planned with for each GPU generation, on measured devices; ``family``: the model."""
        device: Ints | int = UNMEASURED
        if hardware.names and hardware.kind is not None:
            device = effect_codes("device", hardware.names, calibration)[hardware.kind]
        model = effect_code("model", family, calibration)
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
    """Names of devices, models, weight formats or engine versions that effects know; their codes are 1, 2, ..."""
    effects = calibration.generation["effects"]
    if kind in effects:
        return tuple(effects[kind])
    return tuple(dict.fromkeys(name for row in effects[f"engine_{kind}"].values() for name in row))


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


def measured_factor(serving: Serving, generation: Ints, calibration: Calibration) -> Floats:
    """Factor on device time that measurements add to physics; 1 where nothing was measured.

    Of the device, the model, and what an engine makes of a GPU generation, a model, a weight format and a version.
    """
    found = np.asarray(1.0)
    for kind, code in (("device", serving.device), ("model", serving.model)):
        if np.any(code):
            found = found * np.array([1.0, *map(float, calibration.generation["effects"][kind].values())])[code]
    found = found * _pair("generation", GENERATIONS, calibration)[serving.engine, generation]
    for kind, code in (("model", serving.model), ("format", serving.format), ("version", serving.version)):
        if np.any(code):
            names = ("", *effect_names(kind, calibration))
            found = found * _pair(kind, names, calibration)[serving.engine, code]
    return np.asarray(found)


def _pair(kind: str, names: Sequence[str], calibration: Calibration) -> Floats:
    """Effects of every engine (rows) with every name (columns)."""
    table = calibration.generation["effects"][f"engine_{kind}"]
    return np.array([[float(table.get(e, {}).get(name, 1.0)) for name in names] for e in engine_names(calibration)])
