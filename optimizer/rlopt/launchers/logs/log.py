"""One log, whatever wrote it: its launcher told by content, its steps, and what of it was of no use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rlopt.errors import InputError
from rlopt.launchers.logs import LAUNCHERS, NAMES
from rlopt.launchers.logs.contract import LauncherLog, Line, Skipped, Step
from rlopt.launchers.logs.lines import lines_of
from rlopt.launchers.logs.values import number, numbers, recorded

SNIFFED: Final = 200_000
"""Lines in which a launcher must show itself."""
MOST_STEPS: Final = 1_000_000
LARGEST_STATE: Final = 64 << 20
HISTORY: Final = "log_history"


@dataclass(frozen=True, slots=True)
class Log:
    """The steps of one log in order, and why other lines that look like steps are none: reason to count and line."""

    name: str
    launcher: LauncherLog
    steps: tuple[Step, ...]
    skipped: dict[str, tuple[int, int]]
    lines: int


def read_log(path: Path, launcher: str | None = None) -> Log:
    """Read a log; ``launcher`` names the format where its content does not.

    Raises
    ------
    InputError
        When it cannot be read, no launcher's steps are found in it, or a launcher is named that nobody knows.
    """
    wanted = [one for one in LAUNCHERS if launcher in (None, one.NAME)]
    if not wanted:
        message = f"{launcher!r} is no format"
        raise InputError.of("format", message, allowed=", ".join(NAMES), fix=f"write {NAMES[0]}")
    history = _history(path)
    if history is not None:
        return _of_history(path, history, wanted)
    for one in _by_content(path, wanted):
        found = _read(path, one)
        if found.steps or len(wanted) == 1:
            if found.steps:
                return found
            raise _nothing(path, wanted, found.skipped)
    raise _nothing(path, wanted, {})


def _nothing(path: Path, wanted: list[LauncherLog], skipped: dict[str, tuple[int, int]]) -> InputError:
    names = ", ".join(one.NAME for one in wanted)
    message, line = f"no step with its time is found ({names})", None
    if skipped:
        reason, (count, line) = next(iter(skipped.items()))
        message = f"{message}; {count} lines tell none: {reason}"
    fix = "name the run's console output, verl's JSONL file or TRL's trainer_state.json, or its --format"
    return InputError.of("", message, file=str(path), line=line, allowed="a launcher's log", fix=fix)


def _by_content(path: Path, wanted: list[LauncherLog]) -> list[LauncherLog]:
    """Launchers whose steps show among the first lines, the one that shows first in front."""
    readers = [(one, one.reader()) for one in wanted]
    for line in islice(lines_of(path), SNIFFED):
        record = _record(line)
        for one, reader in readers:
            told = reader.feed(line) if record is None else one.step_of(0, line.number, record[1])
            if isinstance(told, Step):
                return [one]
    return [one for one, reader in readers if isinstance(reader.finish(), Step)] or wanted[:1]


def _record(line: Line) -> tuple[int | None, dict[str, float]] | None:
    return recorded(line.text) if line.text.lstrip().startswith('{"') else None


def _read(path: Path, launcher: LauncherLog) -> Log:
    reader, steps, bad = launcher.reader(), list[Step](), Counter[str]()
    first: dict[str, int] = {}
    last = 0
    for told in _told(path, launcher, reader):
        if isinstance(told, int):
            last = told
        elif isinstance(told, Skipped):
            bad[told.reason] += 1
            first.setdefault(told.reason, told.line)
        elif len(steps) < MOST_STEPS:
            steps.append(told)
        else:
            bad[f"beyond {MOST_STEPS:,} steps"] += 1
            first.setdefault(f"beyond {MOST_STEPS:,} steps", told.line)
    skipped = {reason: (count, first[reason]) for reason, count in bad.most_common(20)}
    return Log(path.name, launcher, tuple(steps), skipped, last)


def _told(path: Path, launcher: LauncherLog, reader: Any) -> Iterator[Step | Skipped | int]:
    """What every line tells, and at the end the number of the last line."""
    last = count = 0
    for line in lines_of(path):
        last = line.number
        if line.fault:
            yield Skipped(line.number, line.fault)
            continue
        record = _record(line)
        if record is None:
            if line.text.startswith('{"') and not line.text.rstrip().endswith("}"):
                yield Skipped(line.number, "the record is cut off")
                continue
            told = reader.feed(line)
            if told is not None:
                yield told
            continue
        count += 1
        step = launcher.step_of(count if record[0] is None else record[0], line.number, record[1])
        yield Skipped(line.number, step) if isinstance(step, str) else step
    told = reader.finish()
    if told is not None:
        yield told
    yield last


def _history(path: Path) -> list[Any] | None:
    """``log_history`` of a trainer's state; None where the file is none."""
    head = [line.text for line in islice(lines_of(path), 50)]
    if not head or not head[0].startswith("{") or (head[0].rstrip().endswith("}") and HISTORY not in head[0]):
        return None
    if path.stat().st_size > LARGEST_STATE:
        return None
    try:
        state = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError, OSError):
        return None
    found = state.get(HISTORY) if isinstance(state, dict) else None
    return found if isinstance(found, list) else None


def _of_history(path: Path, history: list[Any], wanted: list[LauncherLog]) -> Log:
    launcher = next((one for one in wanted if one.NAME == "trl"), None)
    if launcher is None:
        message = "is a trainer's state"
        raise InputError.of("", message, file=str(path), allowed="trl", fix="leave --format out")
    steps, bad = list[Step](), 0
    for entry in history[:MOST_STEPS]:
        count = number(entry.get("step")) if isinstance(entry, dict) else None
        told = launcher.step_of(int(count or 0), 1, numbers(entry)) if isinstance(entry, dict) else "is no map"
        if isinstance(told, str):
            bad += 1
        else:
            steps.append(told)
    skipped = {"no step_time": (bad, 1)} if bad else {}
    if not steps:
        raise _nothing(path, [launcher], skipped)
    return Log(path.name, launcher, tuple(steps), skipped, 1)
