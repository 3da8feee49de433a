"""slime: ``perf N: {...}`` twice per step, once from the side that samples and once from the side that trains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from rlopt.launchers.logs.console import HeadedConsole
from rlopt.launchers.logs.contract import GENERATE, HAND_OVER, SCORE, STEP, UPDATE, Step
from rlopt.launchers.logs.values import find, printed, seconds_of

NAME, FRAMEWORK, AVERAGED = "slime", "slime", False
HEAD = re.compile(r"\bperf (\d{1,12}): (?=\{)")
TIMERS = {
    GENERATE: ("perf/rollout_time",),
    SCORE: ("perf/log_probs_time", "perf/ref_log_probs_time"),
    UPDATE: ("perf/actor_train_time",),
    HAND_OVER: ("perf/update_weights_time",),
    STEP: ("perf/step_time",),
}


def reader() -> HeadedConsole:
    """A new reader of its console, which joins the two lines of a step by its number."""
    sampled: dict[int, Mapping[str, float]] = {}

    def joined(number: int, line: int, values: Mapping[str, float]) -> Step | str | None:
        if find(values, "perf/step_time") is None:
            sampled.clear()  # the last alone is kept: a hostile file cannot fill the memory
            sampled[number] = values
            return None
        return step_of(number, line, {**sampled.pop(number, {}), **values})

    return HeadedConsole(HEAD, printed, joined)


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
