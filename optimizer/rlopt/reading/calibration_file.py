"""The door for calibrations: constants of one's own timings in place of shipped ones, checked with their lines."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from rlopt.errors import Complaint, InputError
from rlopt.estimates.bounds import bounds_of
from rlopt.facts import Catalog
from rlopt.facts.calibration import OPEN, ROOMS, Calibration
from rlopt.facts.files.folder import load_catalog
from rlopt.facts.files.text import read_text
from rlopt.reading.files.tree import Tree, join, parse
from rlopt.request import UserConstants
from rlopt.request.values.kinds import show

SCHEMA: Final = "rlopt.calibration/1"
RUN: Final = ("job", "algorithm", "group_size", "total_steps", "steps_done", "hours_spent", "usd_spent")
TOP: Final = ("schema", "name", "as_of", *ROOMS, "run", "provenance")
FIX: Final = "write it with: rlopt calibrate LOG --request constraints.yaml -o calibration.yaml"
FRAMEWORK: Final = "rl.framework"
FROZEN: Final = ("bands", "memory", "acting")
"""Rooms of which timings say nothing; of the bands, `own` alone is a user's."""
MOST: Final = 1e9


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far the run was when its log was read; ``usd`` None where nobody knows the price."""

    job: str
    algorithm: str
    group_size: int | None
    total_steps: int
    steps: int
    hours: float
    usd: float | None


@dataclass(frozen=True, slots=True)
class CalibrationFile:
    """What a calibration file says; ``file`` and ``lines`` are where complaints about it point."""

    constants: UserConstants
    run: RunProgress | None
    file: str
    lines: Mapping[str, int | None]


def read_calibration(path: str | Path, facts: Catalog | None = None) -> CalibrationFile:
    """Read a calibration.yaml, of constants of ``facts`` (the shipped ones by default).

    Raises
    ------
    InputError
        With every complaint that could be found: another format, a constant that does not exist, is no number or lies
        outside its physical bounds, each with its line.
    """
    name = str(path)
    text = read_text(Path(path), name)
    tree = parse(text, name)
    if tree.complaints:
        raise InputError(tree.complaints)
    return _Reader(tree, name, (load_catalog() if facts is None else facts).calibration).read()


class _Reader:
    """Reads one tree; complaints are collected."""

    def __init__(self, tree: Tree, name: str, shipped: Calibration) -> None:
        self.tree, self.name = tree, name
        self.complaints: list[Complaint] = []
        self.shipped = shipped

    def read(self) -> CalibrationFile:
        """The calibration, or every complaint."""
        top = self.tree.value
        if not isinstance(top, Mapping) or top.get("schema") != SCHEMA:
            found = show(top.get("schema")) if isinstance(top, Mapping) and "schema" in top else "no schema"
            raise InputError.of("schema", f"{found}: this is no calibration", file=self.name, line=1, allowed=SCHEMA,
                                fix=FIX)  # fmt: skip
        for key in top:
            if key not in TOP:
                self.say(str(key), "is not known here", f"one of {', '.join(TOP)}", self.near(str(key), TOP))
        rooms = {room: top[room] for room in ROOMS if top.get(room) is not None}
        for room, table in rooms.items():
            self.table((room,), table)
        named = {key: self.name_of(top, key) for key in ("name", "as_of")}
        run = None if top.get("run") is None else self.run(top["run"])
        if self.complaints:
            raise InputError(sorted(self.complaints, key=lambda one: one.line or 0))
        document = json.dumps({**named, **rooms}, sort_keys=True, allow_nan=False)
        lines = {key: line for key, (_, line) in self.tree.places.items()}
        return CalibrationFile(UserConstants(**named, document=document), run, self.name, lines)

    def say(self, key: str, message: str, allowed: str, fix: str) -> None:
        """Note a fault where its key stands."""
        file, line = self.tree.places.get(key, (self.name, None))
        self.complaints.append(Complaint(file, line, key, message, allowed, fix))

    def near(self, key: str, known: Any) -> str:
        """The nearest known key, as a fix."""
        found = get_close_matches(key[:60], [str(one) for one in known], 1, 0.6)
        return f"did you mean {found[0]}?" if found else "delete it"

    def name_of(self, top: Mapping[Any, Any], key: str) -> str:
        """A short text that must be there."""
        value = top.get(key)
        if not isinstance(value, str) or not value.strip() or len(value) > 200:
            self.say(key, f"{show(value)} is no {key}", "a text of at most 200 characters", f'write {key}: "..."')
            return ""
        return value.strip()

    def table(self, path: tuple[str, ...], given: Any) -> None:
        """Constants of one room, each against the shipped table and its bounds."""
        if not isinstance(given, Mapping):
            self.say(".".join(path), f"{show(given)} is no table of constants", "a map", "write {...}, or delete it")
            return
        for keys, value in self.leaves(path, given):
            self.constant(keys, value)

    def leaves(self, path: tuple[str, ...], given: Mapping[Any, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Every value below a table with its path; what stands in no table is complained of."""
        for key, value in given.items():
            keys = (*path, str(key))
            if isinstance(value, Mapping):
                if self.shipped_at(keys) is None:
                    self.unknown(keys)
                else:
                    yield from self.leaves(keys, value)
            else:
                yield keys, value

    def shipped_at(self, keys: tuple[str, ...]) -> Any:
        """The shipped constant or table at a path; None where there is none."""
        found: Any = getattr(self.shipped, keys[0], None)
        for key in keys[1:]:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def unknown(self, keys: tuple[str, ...]) -> None:
        """Complain that no constant is called so."""
        beside = self.shipped_at(keys[:-1])
        known = [str(key) for key in beside] if isinstance(beside, Mapping) else []
        listed = f"one of {', '.join(known[:12])}{', ...' if len(known) > 12 else ''}" if known else "nothing"
        self.say(".".join(keys), "no constant is called so", listed, self.near(keys[-1], known))

    def constant(self, keys: tuple[str, ...], value: Any) -> None:
        """One constant: known, a number, within its bounds."""
        dotted, shipped = ".".join(keys), self.shipped_at(keys)
        if dotted == FRAMEWORK:
            known = tuple(self.shipped.rl["frameworks"])
            if value not in known:
                self.say(
                    dotted, f"{show(value)} is no framework", f"one of {', '.join(known)}", self.near(str(value), known)
                )
            return
        if keys[0] in FROZEN and keys[:2] != ("bands", "own"):
            self.say(dotted, "is not fitted on timings of steps", "constants of time", "delete it")
            return
        opened = self.opened(keys)
        if shipped is None and not opened:
            self.unknown(keys)
            return
        if isinstance(shipped, (str, bool, Mapping, list)) or (
            shipped is not None and not isinstance(shipped, (int, float))
        ):
            self.say(dotted, "is no number in the shipped constants", "constants that are numbers", "delete it")
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.say(dotted, f"{show(value)} is no number", "a finite number", "write a number, or delete the key")
            return
        low, high = bounds_of(keys, None if shipped is None else float(shipped))
        if not low <= value <= high or (low == 0.0 and value < 0.0):
            self.say(dotted, f"{show(value)} is outside its physical bounds", f"{low:g} to {high:g}",
                     "fit it anew, or delete the key: the shipped value then counts")  # fmt: skip

    def opened(self, keys: tuple[str, ...]) -> bool:
        """Whether a table may gain this row: of a framework those that the one planned with has."""
        if OPEN.fullmatch(f"{'.'.join(keys[:-1])}.") is None:
            return False
        frameworks = self.shipped.rl["frameworks"]
        return keys[:2] != ("rl", "frameworks") or (
            keys[2] in frameworks and keys[-1] in frameworks[self.shipped.rl["framework"]]
        )

    def run(self, given: Any) -> RunProgress | None:
        """How far the run is."""
        if not isinstance(given, Mapping):
            self.say("run", f"{show(given)} is no map", f"a map with {', '.join(RUN)}", "delete it, or write {...}")
            return None
        for key in given:
            if key not in RUN:
                self.say(join("run", key), "is not known here", f"one of {', '.join(RUN)}", self.near(str(key), RUN))
        names = {key: given.get(key) for key in ("job", "algorithm")}
        for key, value in names.items():
            if not isinstance(value, str) or not 0 < len(value) <= 200:
                self.say(join("run", key), f"{show(value)} is no name", "a text", "copy it from the request")
        counts = {key: self.amount(given, key, whole=True) for key in ("total_steps", "steps_done")}
        hours, usd = self.amount(given, "hours_spent"), self.amount(given, "usd_spent", needed=False)
        size = self.amount(given, "group_size", whole=True, needed=False)
        total, done = counts["total_steps"] or 0.0, counts["steps_done"] or 0.0
        if total and done > total:
            self.say("run.steps_done", f"{done:g} of {total:g} steps are done", f"at most {total:g}", "correct one")
        if self.complaints:
            return None
        job, algorithm = (str(names[key]) for key in ("job", "algorithm"))
        return RunProgress(
            job, algorithm, None if size is None else int(size), int(total), int(done), float(hours or 0.0), usd
        )

    def amount(self, given: Mapping[Any, Any], key: str, whole: bool = False, needed: bool = True) -> float | None:
        """A number from 0."""
        value = given.get(key)
        if value is None and not needed:
            return None
        plain = not isinstance(value, bool) and isinstance(value, int if whole else (int, float))
        if not plain or not math.isfinite(value) or not 0 <= value <= MOST:  # type: ignore[arg-type, operator]
            kind = "a whole number" if whole else "a number"
            self.say(join("run", key), f"{show(value)} is no amount", f"{kind} from 0 to {MOST:g}", f"write {key}: 0")
            return None
        return float(value)  # type: ignore[arg-type]
