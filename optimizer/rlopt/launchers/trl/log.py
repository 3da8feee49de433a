"""TRL: a printed dictionary per logged step, or ``log_history`` of a checkpoint's trainer_state.json.

``step_time`` is the mean over the logging window, without the optimizer's own step, logging and saves. Where samples
serve several steps, only some of them generate: the mean over steps counts, not the median. SFT, DPO and reward
models log no step; the rate at their end is the only one there is.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlopt.launchers.logs.console import CUT_OFF
from rlopt.launchers.logs.contract import STEP, Line, Skipped, Step
from rlopt.launchers.logs.values import find, printed

NAME, FRAMEWORK, AVERAGED = "trl", "trl", True
MARKS = ("'step_time'", "'train_steps_per_second'")
RATE = "train_steps_per_second"


class TrlConsole:
    """Dictionaries have no number: they are counted."""

    def __init__(self) -> None:
        self.count = 0

    def feed(self, line: Line) -> Step | Skipped | None:
        """The step of the line."""
        if not any(mark in line.text for mark in MARKS):
            return None
        if self.count and "'step_time'" not in line.text:
            return None  # the summary that closes a log whose steps were told
        start = line.text.find("{")
        values = printed(line.text[start:]) if start >= 0 else None
        self.count += 1
        if values is None:
            return Skipped(line.number, CUT_OFF)
        told = step_of(self.count, line.number, values)
        return Skipped(line.number, told) if isinstance(told, str) else told

    def finish(self) -> None:
        """Nothing is left open."""


def reader() -> TrlConsole:
    """A new reader of its console."""
    return TrlConsole()


def step_of(number: int, line: int, values: Mapping[str, float]) -> Step | str:
    """The step that TRL's names tell."""
    spent, rate = find(values, "step_time"), find(values, RATE)
    if spent is None and rate is not None and rate > 0.0:
        spent = 1.0 / rate
    if spent is None:
        return "no step_time"
    if not 0.0 < spent < 1e7:
        return f"a step takes {spent:g} s"
    return Step(number, line, {STEP: spent}, find(values, "completions/mean_length"))
