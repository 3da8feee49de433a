"""slime: ``perf N: {...}`` twice per step, once from the side that samples and once from the side that trains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from rlopt.logs.contract import GENERATE, HAND_OVER, SCORE, STEP, UPDATE, Line, Skipped, Step
from rlopt.logs.values import find, printed, seconds_of

NAME, FRAMEWORK, AVERAGED = "slime", "slime", False
HEAD = re.compile(r"\bperf (\d{1,12}): (?=\{)")
TIMERS = {
    GENERATE: ("perf/rollout_time",),
    SCORE: ("perf/log_probs_time", "perf/ref_log_probs_time"),
    UPDATE: ("perf/actor_train_time",),
    HAND_OVER: ("perf/update_weights_time",),
    STEP: ("perf/step_time",),
}


class Console:
    """Joins the two lines of a step by its number."""

    def __init__(self) -> None:
        self.sampled: dict[int, dict[str, float]] = {}

    def feed(self, line: Line) -> Step | Skipped | None:
        """The step, at the line of the side that trains."""
        head = HEAD.search(line.text)
        if head is None:
            return None
        number, values = int(head[1]), printed(line.text[head.end() :])
        if values is None:
            return Skipped(line.number, "the dictionary is cut off or mixed with other output")
        if find(values, "perf/step_time") is None:
            self.sampled = {number: values}  # the last alone: a hostile file cannot fill the memory
            return None
        told = step_of(number, line.number, {**self.sampled.pop(number, {}), **values})
        return Skipped(line.number, told) if isinstance(told, str) else told

    def finish(self) -> None:
        """Nothing is left open that could be told."""


def reader() -> Console:
    """A new reader of its console."""
    return Console()


def step_of(number: int, line: int, values: Mapping[str, float]) -> Step | str:
    """The step that slime's names tell; sampling takes part of the wait of the side that trains."""
    seconds = seconds_of(values, TIMERS)
    if isinstance(seconds, str):
        return seconds
    if not seconds.get(STEP):
        return "no perf/step_time"
    beside = seconds.get(GENERATE, 0.0) > seconds[STEP]
    found = Step(number, line, seconds, find(values, "rollout/response_length_mean"), overlapped=beside)
    if beside:
        return replace(found, seconds={stage: spent for stage, spent in seconds.items() if stage != GENERATE})
    return found
