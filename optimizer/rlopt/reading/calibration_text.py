"""A calibration as a file: constants by room, bands, how far the run is, and where all of it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlopt.reading.calibration_file import SCHEMA, RunProgress
from rlopt.request import UserConstants

HEAD = "# Constants of your own timings, written by rlopt calibrate: rlopt solve FILE --calibration THIS\n"
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserCalibration:
    """What a user's timings made of the constants.

    Parameters
    ----------
    name, as_of
        Whose timings, and the day of the fit.
    framework
        Name by which loops find their row; None where no loop was timed.
    moved
        Constants before and after, by path.
    bands
        Log-sigma of a prediction by kind and what it is of.
    run
        How far the run is that was timed; None of measurements.
    provenance
        Files, and what moved each constant.
    """

    name: str
    as_of: str
    framework: str | None
    moved: Mapping[Path, tuple[float, float]]
    bands: Mapping[str, Mapping[str, float]]
    run: RunProgress | None
    provenance: Mapping[str, Any]

    def _rooms(self) -> dict[str, Any]:
        """Constants by room, and bands."""
        rooms: dict[str, Any] = {}
        if self.framework is not None:
            rooms["rl"] = {"framework": self.framework}
        for path, (_, after) in self.moved.items():
            table = rooms
            for key in path[:-1]:
                table = table.setdefault(key, {})
            table[path[-1]] = after
        bands = {kind: dict(table) for kind, table in self.bands.items() if table}
        return rooms | ({"bands": {"own": bands}} if bands else {})

    def text(self) -> str:
        """The file."""
        tail: dict[str, Any] = {}
        if self.run is not None:
            tail["run"] = {
                "job": self.run.job,
                "algorithm": self.run.algorithm,
                "group_size": self.run.group_size,
                "total_steps": self.run.total_steps,
                "steps_done": self.run.steps,
                "hours_spent": round(self.run.hours, 4),
                "usd_spent": None if self.run.usd is None else round(self.run.usd, 2),
            }
        tail["provenance"] = self.provenance
        head = {"schema": SCHEMA, "name": self.name, "as_of": self.as_of}
        return HEAD + "".join(_lines({**head, **self._rooms(), **tail}, 0))

    def constants(self) -> UserConstants:
        """The same constants as a request takes them."""
        document = {"name": self.name, "as_of": self.as_of, **self._rooms()}
        text = json.dumps(document, sort_keys=True, allow_nan=False)
        return UserConstants(name=self.name, as_of=self.as_of, document=text)


def _lines(table: Mapping[str, Any], depth: int) -> list[str]:
    """A map as YAML, one key a line; texts are quoted as JSON quotes them."""
    lines = []
    for key, value in table.items():
        name = f"{'  ' * depth}{key if key.replace('_', '').isalnum() and not key.isdigit() else json.dumps(key)}:"
        if isinstance(value, Mapping) and value:
            lines += [f"{name}\n", *_lines(value, depth + 1)]
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            lines += [f"{name}\n", *(f"{'  ' * depth}  - {json.dumps(one, ensure_ascii=False)}\n" for one in value)]
        else:
            lines.append(f"{name} {json.dumps(value, ensure_ascii=False)}\n")
    return lines
