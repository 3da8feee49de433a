"""What a run takes once it runs steadily: robust middles by stage, and how sure they are.

Left out: the first steps after every start (compilation, graph capture, first allocations), steps that are logged
twice, and steps done again after a restart (the later record counts). A checkpoint within a step's total is taken out
of it. The middle is the median over steps; where steps differ by design it is their mean with the outer twentieth
drawn in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.launchers.logs.contract import SAVE, STAGES, STEP, Step
from rlopt.launchers.logs.log import Log

WARM_UP = 3
"""Steps after a start that do not count, where at least as many remain."""
MEDIAN_FACTOR = np.pi / 2.0
"""Variance of a median over that of a mean, of normal errors."""
MAD = 1.4826
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Middle:
    """Seconds of one stage: the middle of ``steps`` steps, and the log-sigma of that middle."""

    seconds: float
    sigma: float
    steps: int
    line: int
    """Of the step that lies nearest to it."""


@dataclass(frozen=True, slots=True)
class SteadyState:
    """One run in short."""

    middles: dict[str, Middle]
    """By stage; `STEP` is without checkpoints."""
    response_tokens: float | None
    sequences: float | None
    overlapped: bool
    whole: bool
    used: tuple[int, int, int]
    """First step, last step and number of those that count."""
    left_out: dict[str, int]
    """Reason to steps."""
    last: int
    """Number of the last step that is done."""
    logged_seconds: float
    """Of all steps in the log, those done again and checkpoints included."""
    logged_steps: int


def steady_state(log: Log, warm_up: int = WARM_UP) -> SteadyState:
    """Robust middles of a log with at least one step."""
    kept, left_out = _kept(log.steps, warm_up)
    beside = sum(step.overlapped for step in kept) * 2 > len(kept)
    odd = [step for step in kept if step.overlapped != beside]
    if odd:
        kept = [step for step in kept if step.overlapped == beside]
        left_out["of another mode"] = len(odd)
    averaged = log.launcher.AVERAGED
    middles = {}
    for stage in (STEP, *STAGES):
        told = [(step, _seconds(step, stage)) for step in kept]
        found = [(step, value) for step, value in told if value is not None and value > 0.0]
        if len(found) * 2 > len(kept):
            middles[stage] = _middle(found, averaged)
    lengths, sequences = ([value for value in (getattr(step, name) for step in kept) if value and value > 0.0]
                          for name in ("response_tokens", "sequences"))  # fmt: skip
    every = [step.seconds[STEP] for step in log.steps if STEP in step.seconds]
    return SteadyState(
        middles=middles,
        response_tokens=float(np.mean(lengths)) if lengths else None,
        sequences=float(np.median(sequences)) if sequences else None,
        overlapped=beside,
        whole=all(step.whole for step in kept),
        used=(kept[0].number, kept[-1].number, len(kept)),
        left_out=left_out,
        last=log.steps[-1].number,
        logged_seconds=float(np.sum(every)),
        logged_steps=len(every),
    )


def _seconds(step: Step, stage: str) -> float | None:
    found = step.seconds.get(stage)
    if found is None or stage != STEP:
        return found
    left = found - step.seconds.get(SAVE, 0.0)
    return left if left > 0.0 else None


def _kept(steps: Sequence[Step], warm_up: int) -> tuple[list[Step], dict[str, int]]:
    """Steps that count, by number, and how many do not, by reason."""
    starts: list[list[Step]] = []
    twice = 0
    for step in steps:
        last = starts[-1][-1] if starts else None
        if last is not None and step.number == last.number and step.seconds == last.seconds:
            twice += 1
        elif last is None or step.number <= last.number:
            starts.append([step])
        else:
            starts[-1].append(step)
    latest: dict[int, Step] = {}
    warming = again = 0
    for part in starts:
        skip = min(warm_up, len(part) // 2)
        warming += skip
        for step in part[skip:]:
            again += step.number in latest
            latest[step.number] = step
    if not latest:
        latest = {step.number: step for part in starts for step in part}
        warming = 0
    counted = {"first steps after a start": warming, "logged twice": twice, "done again after a restart": again}
    restarts = len(starts) - 1
    found = {reason: count for reason, count in counted.items() if count}
    return [latest[number] for number in sorted(latest)], found | ({"restarts": restarts} if restarts > 0 else {})


def _middle(found: Sequence[tuple[Step, float]], averaged: bool) -> Middle:
    values = np.array([value for _, value in found])
    logs = np.log(values)
    if averaged:
        low, high = np.quantile(values, [0.05, 0.95])
        centre = float(np.mean(np.clip(values, low, high)))
        spread, factor = float(np.std(logs)), 1.0
    else:
        centre = float(np.median(values))
        spread, factor = MAD * float(np.median(np.abs(logs - np.median(logs)))), MEDIAN_FACTOR
    count = independent(logs)
    nearest = min(found, key=lambda one: abs(one[1] - centre))[0].line
    return Middle(centre, float(spread * np.sqrt(factor / count)), len(values), nearest)


def independent(logs: Floats) -> float:
    """Independent steps that tell as much: n (1 - r) / (1 + r), r the correlation of neighbours; at least 1."""
    if len(logs) < 4:
        return float(max(len(logs), 1))
    apart = logs - np.mean(logs)
    whole = float(apart @ apart)
    r = float(apart[1:] @ apart[:-1]) / whole if whole > 0.0 else 0.0
    r = min(max(r, 0.0), 0.99)
    return max(len(logs) * (1.0 - r) / (1.0 + r), 1.0)
