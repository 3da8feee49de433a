"""Fitted constants into the calibration's files: numbers change, comments and order stay."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlopt.estimates import Calibration

DIGITS = 4


def _yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt", pure=True)
    yaml.width = 10_000
    yaml.preserve_quotes = True
    return yaml


def _plain(value: Any) -> Any:
    """Numbers to four digits, tables within tables."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def with_constants(text: str, values: Mapping[tuple[str, ...], float]) -> str:
    """The file ``text`` of one room with other numbers at the given paths (without the room)."""
    yaml, out = _yaml(), io.StringIO()
    table = yaml.load(text)
    for path, value in values.items():
        inner = table
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = _plain(value)
    yaml.dump(table, out)
    return out.getvalue()


def with_tables(text: str, tables: Mapping[str, Any]) -> str:
    """The file ``text`` with whole tables replaced, each in one line a row."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    def flow(value: Any) -> Any:
        if not isinstance(value, (Mapping, list)):
            return value
        made: Any = CommentedMap(value) if isinstance(value, Mapping) else CommentedSeq(value)
        made.fa.set_flow_style()
        return made

    yaml, out = _yaml(), io.StringIO()
    whole = yaml.load(text)
    for name, rows in tables.items():
        for key, value in _plain(rows).items():
            whole[name][key] = flow(value)
    yaml.dump(whole, out)
    return out.getvalue()


def room_text(folder: Path, room: str, parameters: Mapping[tuple[str, ...], float]) -> str:
    """A room's file with the parameters of that room put in."""
    text = (folder / f"{room}.yaml").read_text(encoding="utf-8")
    mine = {path[1:]: value for path, value in parameters.items() if path[0] == room}
    return with_constants(text, mine) if mine else text


def values_of(calibration: Calibration, paths: tuple[tuple[str, ...], ...]) -> dict[tuple[str, ...], float]:
    """Constants at the given paths."""
    return {path: calibration.at(path) for path in paths}
