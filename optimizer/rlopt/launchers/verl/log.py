"""verl: one line per step, ``step:N - key:value - ...``, and the same names in its JSONL file.

``timing_s/step`` holds the checkpoint and waits that no other timer shows. Where sampling runs beside training,
``gen`` is the wait for samples and no generation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rlopt.launchers.logs.console import HeadedConsole
from rlopt.launchers.logs.contract import GENERATE, HAND_OVER, REWARD, SAVE, SCORE, STEP, UPDATE, Step
from rlopt.launchers.logs.values import find, numbers, seconds_of, unwrapped

NAME, FRAMEWORK, AVERAGED = "verl", "verl", False
HEAD = re.compile(r"\bstep:(\d{1,12}) - ")
PAIR = re.compile(r"^\s*([^\s:]+):(\S+)")
TIMERS = {
    GENERATE: ("timing_s/gen",),
    SCORE: ("timing_s/old_log_prob", "timing_s/ref", "timing_s/values"),
    REWARD: ("timing_s/reward",),
    UPDATE: ("timing_s/update_critic", "timing_s/update_actor"),
    HAND_OVER: ("timing_s/update_weights", "timing_s/sync_rollout_weights", "timing_s/param_sync"),
    SAVE: ("timing_s/save_checkpoint",),
}
WHOLE = ("timing_s/step", "perf/time_per_step")
BESIDE = ("timing_s/wait_for_enough_samples", "timing_s/param_sync", "timing_s/switch_wait", "timing_s/generate_async",
          "timing_s/switch_to_rollout", "fully_async/trainer/idle_ratio", "timing_s/sync_rollout_weights")  # fmt: skip
"""Names that only runs log whose sampling goes on beside training."""


def reader() -> HeadedConsole:
    """A new reader of its console."""
    return HeadedConsole(HEAD, _pairs, step_of)


def _pairs(text: str) -> dict[str, float]:
    pairs = [PAIR.match(part) for part in unwrapped(text).split(" - ")]
    return numbers({pair[1]: pair[2] for pair in pairs if pair is not None})


def step_of(number: int, line: int, values: Mapping[str, float]) -> Step | str:
    """The step that verl's names tell."""
    seconds = seconds_of(values, TIMERS)
    if isinstance(seconds, str):
        return seconds
    whole = next((found for found in (find(values, name) for name in WHOLE) if found is not None), None)
    if whole is None:
        return "no timing_s/step"
    if not 0.0 < whole < 1e7:
        return f"a step takes {whole:g} s"
    beside = any(find(values, name) is not None for name in BESIDE)
    if beside:
        seconds.pop(GENERATE, None)
    response, prompt = find(values, "response_length/mean"), find(values, "prompt_length/mean")
    tokens = find(values, "perf/total_num_tokens")
    each = (response or 0.0) + (prompt or 0.0)
    sequences = tokens / each if tokens and response and prompt and each > 0.0 else None
    return Step(number, line, {**seconds, STEP: whole}, response, sequences, overlapped=beside)
