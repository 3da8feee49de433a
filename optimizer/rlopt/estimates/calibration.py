"""Fitted constants, from one file of the catalogs with their provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from rlopt.data_dir import catalogs_dir
from rlopt.errors import Complaint, InputError
from rlopt.estimates.codes import ENGINES, GENERATIONS, Floats, Ints

ROOMS = ("links", "training", "memory", "generation", "rl", "bands")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tables by room; the file says where each constant comes from.

    Parameters
    ----------
    name, as_of
        Which calibration this is, and its date.
    links
        Nominal rates by slot generation, and the achieved share of each kind of link.
    training, memory, generation, rl
        Constants of updates and scoring, of memory, of decoding, and of the loop around them.
    bands
        Log-sigmas of the errors out of sample.
    """

    name: str
    as_of: str
    links: Mapping[str, Any]
    training: Mapping[str, Any]
    memory: Mapping[str, Any]
    generation: Mapping[str, Any]
    rl: Mapping[str, Any]
    bands: Mapping[str, Any]

    def value(self, room: str, key: str) -> float:
        """A constant."""
        return float(getattr(self, room)[key])

    def by_generation(self, room: str, key: str, generation: Ints) -> Floats:
        """A constant that differs by GPU generation, shape of ``generation``."""
        table = getattr(self, room)[key]
        return cast("Floats", np.array([float(table[name]) for name in GENERATIONS])[generation])

    def by_engine(self, room: str, key: str, engine: Ints) -> Floats:
        """A constant that differs by training engine, shape of ``engine``."""
        table = getattr(self, room)[key]
        return cast("Floats", np.array([float(table[name]) for name in ENGINES])[engine])

    def by_both(self, room: str, key: str, engine: Ints, generation: Ints) -> Floats:
        """A constant that differs by training engine and GPU generation; shapes broadcast."""
        table = getattr(self, room)[key]
        values = np.array([[float(table[family][name]) for name in GENERATIONS] for family in ENGINES])
        return cast("Floats", values[engine, generation])

    def size_bytes(self, precision: str) -> float:
        """Bytes of one value at ``precision``, quantisation scales included."""
        return float(self.memory["precision_bytes"][precision])


def _complain(path: Path, key: str, message: str, fix: str) -> InputError:
    return InputError([Complaint(file=str(path), line=None, key=key, message=message, allowed="", fix=fix)])


def _merged(base: Mapping[str, Any], over: Mapping[str, Any], path: Path, at: str = "") -> dict[str, Any]:
    """``base`` with the keys of ``over`` put in.

    A key that ``base`` lacks is a complaint, a number stays one.
    """
    result = dict(base)
    for key, value in over.items():
        name = f"{at}{key}"
        if key not in base:
            raise _complain(path, name, f"no constant is called {name}", f"write one of {', '.join(map(str, base))}")
        if isinstance(base[key], Mapping) != isinstance(value, Mapping):
            raise _complain(path, name, f"{name} has the wrong form", "write it as the shipped defaults do")
        result[key] = _merged(base[key], value, path, f"{name}.") if isinstance(value, Mapping) else value
    return result


def _read(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML

    return dict(YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=8)
def load_calibration(path: Path | None = None) -> Calibration:
    """The shipped defaults, or those with the constants of the file ``path`` put in their place.

    Raises
    ------
    InputError
        When the file names a constant that does not exist or writes one in another form.
    """
    shipped = catalogs_dir() / "calibration" / "defaults.yaml"
    table = _read(shipped)
    if path is not None and path != shipped:
        table = _merged(table, _read(path), path)
    return Calibration(name=str(table["name"]), as_of=str(table["as_of"]), **{room: table[room] for room in ROOMS})
