"""Reads the constants of one folder, one file a room, and how rows of measurements are read beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlopt.facts.calibration import DEFAULTS, ROOMS, Calibration
from rlopt.facts.files.stated import checked
from rlopt.facts.files.tables import table
from rlopt.facts.stacks import LoopTable, StackTable


def calibration(folder: Path) -> Calibration:
    """Read the shipped constants, or those of another folder of catalogs.

    Raises
    ------
    InputError
        When a file is missing or can't be read.
    """
    rooms = {room: table(folder / f"{room}.yaml") for room in ROOMS}
    as_of = max(str(room.pop("as_of")) for room in rooms.values())
    return Calibration(
        name=DEFAULTS,
        as_of=as_of,
        **rooms,
        stacks=_stacks(folder / "sources.yaml"),
        loops=checked(folder / "loops.yaml", table(folder / "loops.yaml"), LoopTable),
    )


def _stacks(path: Path) -> StackTable:
    found: dict[str, Any] = table(path)
    sources = [
        {"match": entry["match"], "facts": {key: entry[key] for key in entry if key != "match"}}
        for entry in found["sources"]
    ]
    return checked(path, {**found, "sources": sources}, StackTable)
