"""What a launcher's log tells of a run, and what a reader of one launcher gives.

A launcher is one module and one row of `LAUNCHERS`: the names of its timers, and how its console writes
them. Names are matched by their ends, since trackers put prefixes before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

STEP, GENERATE, SCORE, UPDATE, HAND_OVER, REWARD, SAVE = (
    "step", "generate", "score", "update", "hand over weights", "reward", "save",
)  # fmt: skip
STAGES = (GENERATE, SCORE, UPDATE, HAND_OVER)
"""Stages whose seconds are held against predictions one by one."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log without colours and prefixes; numbers count from 1. ``fault`` says why it is unusable."""

    number: int
    text: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step as its log line tells it.

    Parameters
    ----------
    number, line
        Of the step by the launcher's count, and of the line.
    seconds
        By stage; a checkpoint within the step's total is ``save``.
    response_tokens
        Mean length of a response; None where it is not told.
    sequences
        Samples of the step; None where they are not told.
    overlapped
        Whether sampling ran beside training, so that its timer shows what was waited for.
    whole
        Whether ``step`` is all of the step's time, and not a sum of some timers.
    """

    number: int
    line: int
    seconds: Mapping[str, float]
    response_tokens: float | None = None
    sequences: float | None = None
    overlapped: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that should have told a step and does not, and why."""

    line: int
    reason: str


class Reader(Protocol):
    """Goes through the lines of one console in order."""

    def feed(self, line: Line) -> Step | Skipped | None:
        """What the line completes, if anything."""
        ...

    def finish(self) -> Step | Skipped | None:
        """What the end of the file completes."""
        ...


class LauncherLog(Protocol):
    """The module of one launcher."""

    @property
    def NAME(self) -> str: ...  # noqa: D102, N802

    @property
    def FRAMEWORK(self) -> str:  # noqa: N802
        """Name that the frameworks of the calibration are searched with."""
        ...

    @property
    def AVERAGED(self) -> bool:  # noqa: N802
        """Whether steps differ by design, so that their mean counts and not their median."""
        ...

    def reader(self) -> Reader:
        """A new reader of its console."""
        ...

    def step_of(self, number: int, line: int, values: Mapping[str, float]) -> Step | str:
        """The step that logged ``values`` tell, by their names; or why they tell none."""
        ...
