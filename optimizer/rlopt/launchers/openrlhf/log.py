"""OpenRLHF: ``Global step N: {...}`` with the four timers of a step.

Run in turn, ``timing/step_total`` is no more than their sum: what lies between them is not in it. Run beside
each other, it is wall clock, and ``timing/generation`` was measured elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlopt.launchers.logs.console import HeadedConsole
from rlopt.launchers.logs.contract import GENERATE, HAND_OVER, SCORE, STEP, UPDATE, Step
from rlopt.launchers.logs.values import find, printed, seconds_of

NAME, FRAMEWORK, AVERAGED = "openrlhf", "openrlhf", False
HEAD = re.compile(r"\bGlobal step (\d{1,12}): (?=\{)")
TIMERS = {
    GENERATE: ("timing/generation",),
    SCORE: ("timing/make_experience",),
    UPDATE: ("timing/ppo_train",),
    HAND_OVER: ("timing/broadcast",),
    STEP: ("timing/step_total",),
}
SAME = 0.01


def reader() -> HeadedConsole:
    """A new reader of its console."""
    return HeadedConsole(HEAD, printed, step_of)


def step_of(number: int, line: int, values: Mapping[str, float]) -> Step | str:
    """The step that OpenRLHF's names tell."""
    seconds = seconds_of(values, TIMERS)
    if isinstance(seconds, str):
        return seconds
    if not seconds.get(STEP):
        return "no timing/step_total"
    parts = sum(spent for stage, spent in seconds.items() if stage != STEP)
    summed = abs(parts - seconds[STEP]) <= SAME * seconds[STEP]
    if not summed:
        seconds.pop(GENERATE, None)
    response, samples = find(values, "rollout/response_length_mean"), find(values, "rollout/num_samples")
    return Step(number, line, seconds, response, samples, overlapped=not summed, whole=not summed)
