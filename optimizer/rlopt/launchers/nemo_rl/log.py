"""NeMo-RL: a block of bullets per step after its total, and the same labels in its trackers.

Labels of rates and shares stand among the seconds and are no timers; ``prepare_for_generation/total`` holds its own
parts. The total holds the checkpoint and the validation of the loop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlopt.launchers.logs.contract import GENERATE, HAND_OVER, REWARD, SAVE, SCORE, STEP, UPDATE, Line, Skipped, Step
from rlopt.launchers.logs.values import find, seconds_of

NAME, FRAMEWORK, AVERAGED = "nemo-rl", "nemo-rl", False
HEAD = re.compile(r"\bStep (\d{1,12})/\d+")
TOTAL = re.compile(r"Total step time: *([-\d.]+(?:e[-+]?\d+)?) *s\b")
TIMER = re.compile(r"[•*-] *([\w/]+): *([-\d.]+(?:e[-+]?\d+)?) *s\b")
LENGTH = re.compile(r"Mean (?:Generation|Response) (?:Length|Tokens per Sample): *([\d.]+)", re.IGNORECASE)
SECTION = re.compile(r"\w[\w ()]*:\s*$")
TRACKED = "timing/train/"
TIMERS = {
    GENERATE: ("generation",),
    SCORE: ("policy_and_reference_logprobs", "value_inference", "teacher_logprob_inference"),
    REWARD: ("reward_calculation",),
    UPDATE: ("policy_training", "value_training"),
    HAND_OVER: ("prepare_for_generation/total", "weight_sync"),
    SAVE: ("checkpointing",),
    STEP: ("total_step_time",),
}
BESIDE = ("exposed_generation", "idle/buffer_starvation", "weight_sync")
"""Labels that only asynchronous runs log."""


class NemoRlConsole:
    """Collects the bullets that follow a total; a rate or the next section ends them."""

    def __init__(self) -> None:
        self.number = 0
        self.open: dict[str, float] | None = None
        self.line = 0
        self.response: float | None = None

    def feed(self, line: Line) -> Step | Skipped | None:
        """The block that the line ends, if any."""
        head, length, whole = HEAD.search(line.text), LENGTH.search(line.text), TOTAL.search(line.text)
        if head is not None:
            done = self.finish()
            self.number = int(head[1]) - 1
            return done
        if length is not None and self.open is None:
            self.response = _float(length[1])
            return None
        if whole is not None:
            done = self.finish()
            self.number += 1
            self.open, self.line = {"total_step_time": _float(whole[1])}, line.number
            return done
        if self.open is None:
            return None
        timer = TIMER.search(line.text)
        if timer is not None:
            self.open[timer[1]] = self.open.get(timer[1], 0.0) + _float(timer[2])
            return None
        return self.finish() if SECTION.search(line.text) else None

    def finish(self) -> Step | Skipped | None:
        """The open block as a step."""
        values, self.open = self.open, None
        if values is None:
            return None
        told = _told(self.number, self.line, values, self.response)
        self.response = None
        return Skipped(self.line, told) if isinstance(told, str) else told


def reader() -> NemoRlConsole:
    """A new reader of its console."""
    return NemoRlConsole()


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _told(number: int, line: int, values: Mapping[str, float], response: float | None) -> Step | str:
    seconds = seconds_of(values, TIMERS)
    if isinstance(seconds, str):
        return seconds
    if not seconds.get(STEP, 0.0) > 0.0:
        return "no total step time"
    beside = any(name in values for name in BESIDE)
    if beside:
        seconds.pop(GENERATE, None)
    return Step(number, line, seconds, response, overlapped=beside)


def step_of(number: int, line: int, values: Mapping[str, float]) -> Step | str:
    """The step that NeMo-RL's names tell a tracker."""
    timers = {key.partition(TRACKED)[2]: value for key, value in values.items() if TRACKED in key}
    found = _told(number, line, timers, find(values, "mean_gen_tokens_per_sample"))
    return found if timers else "no timing/train"
