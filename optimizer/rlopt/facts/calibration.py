"""Fitted constants, from the files of one folder of the catalogs with their provenance."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from rlopt.errors import Complaint, InputError
from rlopt.facts.device import GENERATIONS
from rlopt.facts.stacks import LoopTable, StackTable
from rlopt.table import Floats, Ints

ROOMS = ("links", "training", "memory", "generation", "rl", "acting", "bands")
DEFAULTS = "defaults"
OPEN = re.compile(r"rl\.frameworks\.[^.]+\.|training\.device_factor\.|bands\.own\.(training|generation)\.")
"""Tables that may gain a row: one that stands there for all, or is taken from another row, can become its own."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Tables by room; each room's file says where its constants come from.

    Parameters
    ----------
    name, as_of
        Which calibration this is, and the date of its newest room.
    links
        Nominal rates by slot generation, and the achieved share of each kind of link.
    training, memory, generation, rl
        Constants of updates and scoring, of memory, of decoding, and of the loop around them.
    acting
        How policies that act on simulators and robots are run.
    bands
        Log-sigmas of the errors out of sample.
    stacks, loops
        How rows of measurements are read.
    """

    name: str
    as_of: str
    links: Mapping[str, Any]
    training: Mapping[str, Any]
    memory: Mapping[str, Any]
    generation: Mapping[str, Any]
    rl: Mapping[str, Any]
    acting: Mapping[str, Any]
    bands: Mapping[str, Any]
    stacks: StackTable
    loops: LoopTable

    @property
    def engines(self) -> tuple[str, ...]:
        """Families of training stacks; layouts and stacks carry the index."""
        return tuple(self.training["engines"])

    def engine(self, name: str) -> int:
        """Index of a family of training stacks."""
        return self.engines.index(name)

    def value(self, room: str, key: str) -> float:
        """A constant."""
        return float(getattr(self, room)[key])

    def by_generation(self, room: str, key: str, generation: Ints) -> Floats:
        """A constant that differs by GPU generation, shape of ``generation``."""
        table = getattr(self, room)[key]
        return cast("Floats", np.array([float(table[name]) for name in GENERATIONS])[generation])

    def by_engine(self, room: str, key: str, engine: Ints) -> Floats:
        """A constant that differs by training engine, shape of ``engine``.

        A family without a value of its own takes the one of the family it is like.
        """
        table = getattr(self, room)[key]
        return cast("Floats", np.array([float(self._of(table, name)) for name in self.engines])[engine])

    def by_both(self, room: str, key: str, engine: Ints, generation: Ints) -> Floats:
        """A constant that differs by training engine and GPU generation; shapes broadcast."""
        table = getattr(self, room)[key]
        rows = [self._of(table, family) for family in self.engines]
        values = np.array([[float(row[name]) for name in GENERATIONS] for row in rows])
        return cast("Floats", values[engine, generation])

    def size_bytes(self, precision: str | Any) -> Any:
        """Bytes of one value at ``precision`` (a name, or an array of names), quantisation scales included."""
        table = self.memory["precision_bytes"]
        if isinstance(precision, str):
            return float(table[precision])
        names, which = np.unique(precision, return_inverse=True)
        return np.array([float(table[str(name)]) for name in names])[which]

    def replaced(self, values: Mapping[tuple[str, ...], float]) -> Calibration:
        """A copy with other constants, each named by its path (room, key, ...)."""
        rooms: dict[str, Any] = {}
        for (room, *path), value in values.items():
            table = rooms.setdefault(room, dict(getattr(self, room)))
            for key in path[:-1]:
                inner = dict(table[key])
                table[key] = inner
                table = inner
            table[path[-1]] = value
        return replace(self, **rooms)

    def overlaid(self, own: Mapping[str, Any], path: Path) -> Calibration:
        """A copy with the constants of a user's file in place of these.

        The file has the rooms as its first level (``training: {half_width: 300}``), and a ``name``.

        Raises
        ------
        InputError
            When it names a constant that does not exist or writes one in another form.
        """
        names = {"name": self.name, "as_of": self.as_of}
        found = _merged({**{room: getattr(self, room) for room in ROOMS}, **names}, own, path)
        return replace(self, **{**found, **{key: str(found[key]) for key in names}})

    def with_own(self, document: str | None) -> Calibration:
        """A copy with the constants of ``document``: JSON of the same form, checked when it was read; None for none."""
        return self if document is None else self.overlaid(json.loads(document), Path("-"))

    def at(self, path: tuple[str, ...]) -> float:
        """The constant at ``path`` (room, key, ...)."""
        found: Any = getattr(self, path[0])
        for key in path[1:]:
            found = found[key]
        return float(found)

    def _of(self, table: Mapping[str, Any], name: str) -> Any:
        families = self.training["engines"]
        while name not in table:
            name = (families[name] or {})["like"]
        return table[name]


def _complain(path: Path, key: str, message: str, fix: str) -> InputError:
    return InputError([Complaint(file=str(path), line=None, key=key, message=message, allowed="", fix=fix)])


def _merged(base: Mapping[str, Any], over: Mapping[str, Any], path: Path, at: str = "") -> dict[str, Any]:
    """``base`` with the keys of ``over`` put in.

    A key that ``base`` lacks is a complaint, a number stays one.
    """
    result = dict(base)
    for key, value in over.items():
        name = f"{at}{key}"
        if key not in base and not OPEN.fullmatch(at):
            raise _complain(path, name, f"no constant is called {name}", f"write one of {', '.join(map(str, base))}")
        here = base.get(key, value)
        if isinstance(here, Mapping) != isinstance(value, Mapping):
            raise _complain(path, name, f"{name} has the wrong form", "write it as the shipped defaults do")
        result[key] = _merged(here, value, path, f"{name}.") if isinstance(value, Mapping) else value
    return result
