"""YAML files of the catalogs: libyaml's parser, plain scalars by the YAML 1.2 core schema.

ruamel.yaml reads them to the same values some thirty times as slowly (tests/catalogs/test_tables.py compares the two on
every file), and only this release of it has no compiled parser for every platform; what people write is still read by
it (`rlopt.reading.files.tree`), for the words of its complaints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamStartEvent,
)

from rlopt.errors import InputError
from rlopt.facts.files.scalars import resolve

_LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)
"""Builds of PyYAML without libyaml read the same events, slower."""


def table(path: Path) -> dict[str, Any]:
    """Read a YAML file whose root is a mapping.

    Raises
    ------
    InputError
        When the file is missing or no such document; names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"the catalog file can't be read: {error.strerror}"
        raise InputError.of("", message, file=str(path), fix="rebuild the catalogs") from error
    events = yaml.parse(text, Loader=_LOADER)
    try:
        root = next(event for event in events if not isinstance(event, (StreamStartEvent, DocumentStartEvent)))
        if not isinstance(root, MappingStartEvent):
            raise InputError.of("", "is no table", file=str(path), line=1, allowed="keys with values")
        return _mapping(events, path)
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        raise InputError.of("", f"is not YAML: {error.problem}", file=str(path), line=line) from None


def _value(event: Event, events: Iterator[Event], path: Path) -> Any:
    if isinstance(event, ScalarEvent):
        return resolve(event.value) if event.implicit[0] else event.value
    if isinstance(event, MappingStartEvent):
        return _mapping(events, path)
    if isinstance(event, SequenceStartEvent):
        found = []
        while not isinstance(event := next(events), SequenceEndEvent):
            found.append(_value(event, events, path))
        return found
    assert isinstance(event, AliasEvent)
    raise _wrong(event, path, "a value is a reference to another", "write the value itself")


def _mapping(events: Iterator[Event], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while not isinstance(event := next(events), MappingEndEvent):
        if not isinstance(event, ScalarEvent):
            raise _wrong(event, path, "a key is no plain text", "write one word as the key")
        key = _value(event, events, path)
        if key in found:
            raise _wrong(event, path, f"{key} stands there twice", "keep one of the two")
        found[key] = _value(next(events), events, path)
    return found


def _wrong(event: Event, path: Path, message: str, fix: str) -> InputError:
    line = None if event.start_mark is None else event.start_mark.line + 1
    return InputError.of("", message, file=str(path), line=line, fix=fix)
