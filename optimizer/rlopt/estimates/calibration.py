"""Fitted constants, from one file of the catalogs with their provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rlopt.data_dir import catalogs_dir
from rlopt.estimates.arrays import GENERATIONS, Floats, Ints

ENGINES = ("megatron", "fsdp")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tables by room: ``training``, ``memory``, ``generation``, ``rl`` and ``bands``."""

    name: str
    as_of: str
    training: Mapping[str, Any]
    memory: Mapping[str, Any]
    generation: Mapping[str, Any]
    rl: Mapping[str, Any]
    bands: Mapping[str, Any]

    def by_generation(self, room: str, key: str, generation: Ints, default: float = 1.0) -> Floats:
        """A constant that differs by GPU generation, shape of ``generation``."""
        table = getattr(self, room)[key]
        return np.array([float(table.get(name, default)) for name in GENERATIONS])[generation]

    def by_engine(self, room: str, key: str, engine: Ints) -> Floats:
        """A constant that differs by training engine, shape of ``engine``."""
        table = getattr(self, room)[key]
        return np.array([float(table[name]) for name in ENGINES])[engine]


@lru_cache(maxsize=8)
def load_calibration(path: Path | None = None) -> Calibration:
    """Read a calibration file; the shipped defaults where none is given."""
    from ruamel.yaml import YAML

    text = (path or catalogs_dir() / "calibration" / "defaults.yaml").read_text(encoding="utf-8")
    table = YAML(typ="safe", pure=True).load(text)
    return Calibration(name=str(table["name"]), as_of=str(table["as_of"]), training=table["training"],
                       memory=table["memory"], generation=table["generation"], rl=table["rl"], bands=table["bands"])
