"""A calibration as a file: constants by room, bands, how far the run is, and where all of it comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlopt.reading.calibration_file import SCHEMA, RunProgress
from rlopt.request import OwnConstants

HEAD = "# Constants of your own timings, written by rlopt calibrate: rlopt solve FILE --calibration THIS\n"
Path = tuple[str, ...]


def calibration_text(
    name: str,
    as_of: str,
    framework: str | None,
    moved: Mapping[Path, tuple[float, float]],
    own: Mapping[str, Mapping[str, float]],
    run: RunProgress | None,
    provenance: Mapping[str, Any],
) -> tuple[str, OwnConstants]:
    """The file's text, and the same constants as a request takes them."""
    rooms: dict[str, Any] = {}
    if framework is not None:
        rooms["rl"] = {"framework": framework}
    for path, (_, after) in moved.items():
        table = rooms
        for key in path[:-1]:
            table = table.setdefault(key, {})
        table[path[-1]] = after
    bands = {kind: dict(table) for kind, table in own.items() if table}
    if bands:
        rooms["bands"] = {"own": bands}
    head = {"schema": SCHEMA, "name": name, "as_of": as_of}
    tail: dict[str, Any] = {}
    if run is not None:
        tail["run"] = {
            "job": run.job,
            "algorithm": run.algorithm,
            "group_size": run.group_size,
            "total_steps": run.total_steps,
            "steps_done": run.steps,
            "hours_spent": round(run.hours, 4),
            "usd_spent": None if run.usd is None else round(run.usd, 2),
        }
    tail["provenance"] = provenance
    text = HEAD + "".join(_lines({**head, **rooms, **tail}, 0))
    document = json.dumps({"name": name, "as_of": as_of, **rooms}, sort_keys=True, allow_nan=False)
    return text, OwnConstants(name=name, as_of=as_of, document=document)


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
