"""YAML tables of the catalogs: constants with their source, and what launchers, stores and SkyPilot state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from rlopt.errors import Complaint, InputError
from rlopt.facts import Launcher, Nodes, Operations, SkyPilotNames, Store
from rlopt.facts.files.tables import table

Record = TypeVar("Record")
Constants = TypeVar("Constants", Operations, Nodes)
ASSUMED = "assumption"
"""Source of a constant that nobody published."""
_UNITS = (
    ("_minutes", "min"),
    ("_vcpus", "vCPUs"),
    ("_bytes_per_pixel", "B a pixel"),
    ("_bytes", "B"),
    ("_gib", "GiB"),
    ("_gb_s_per_node", "GB/s per node"),
    ("_gb_s_per_gpu", "GB/s per GPU"),
    ("_gbps", "Gb/s"),
)


@dataclass(frozen=True)
class _Constant:
    value: float
    source: str
    note: str


def constants(path: Path, kind: type[Constants]) -> Constants:
    """Read constants that each have a value, its source and a note; those that are assumed are named in words.

    Raises
    ------
    InputError
        When one is missing, not known, or no number.
    """
    found = checked(path, _entries(path), dict[str, _Constant])
    known = {field.name for field in fields(kind)} - {"assumed"}
    for key in sorted(known.symmetric_difference(found)):
        message = "is missing" if key in known else "is not known"
        raise InputError.of(key, message, file=str(path), allowed=", ".join(sorted(known)), fix="correct the key")
    assumed = tuple(_in_words(key, one.value) for key, one in found.items() if one.source == ASSUMED)
    return kind(**{key: one.value for key, one in found.items()}, assumed=assumed)


def launchers(path: Path) -> Mapping[str, Launcher]:
    """Read what launchers state, by name."""
    named = {name: {"name": name, **entry} for name, entry in _entries(path).items()}
    return checked(path, named, dict[str, Launcher])


def stores(path: Path) -> Mapping[str, Store]:
    """Read what is stated of stores, by ``provider/service``."""
    return checked(path, _entries(path), dict[str, Store])


def skypilot(path: Path) -> SkyPilotNames:
    """Read SkyPilot's names."""
    return checked(path, table(path), SkyPilotNames)


def checked(path: Path, found: object, kind: type[Record]) -> Record:
    """What was read, as a record of ``kind``.

    Raises
    ------
    InputError
        With every key whose value is of another kind.
    """
    try:
        return TypeAdapter(kind).validate_python(found)
    except ValidationError as error:
        raise InputError(
            Complaint(str(path), None, ".".join(map(str, one["loc"])), one["msg"], "", "write it as the others are")
            for one in error.errors()
        ) from None


def _entries(path: Path) -> dict[str, dict[str, Any]]:
    """The tables of a file; its date and other texts stand for people."""
    return {key: entry for key, entry in table(path).items() if isinstance(entry, dict)}


def _in_words(key: str, value: float) -> str:
    """``startup 15 min`` from ``startup_minutes``."""
    for ending, unit in _UNITS:
        if key.endswith(ending):
            return f"{key.removesuffix(ending).replace('_', ' ')} {value:g} {unit}"
    return f"{key.replace('_', ' ')} {value:g}"
