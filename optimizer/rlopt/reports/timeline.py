"""What runs when on which pool during one step: a plan's stages put after and beside one another.

In step, pools take turns: those that sample, those that score, then the one that trains. Out of step they work at the
same time, on samples of different steps, and what a step takes beyond the longest of them is waiting. What every pool
waits for (weights on their way, the loop's own seconds) comes last in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlopt.answers.plan import Plan, StageTime, Time
from rlopt.words import Placement, StageKind

SAMPLING: Final = (StageKind.SAMPLE, "screening", "evaluation", StageKind.ENVIRONMENT)
"""Stages that come first on a pool that also trains."""
ORDER: Final = (StageKind.LOAD, *SAMPLING, "likelihood", StageKind.SCORE, StageKind.TRAIN, "transfer")
"""In which one pool works its stages off."""
BESIDE: Final = StageKind.ENVIRONMENT
"""Tools and worlds answer while others generate: their seconds are part of generating."""
SAMPLERS, SCORERS, CPUS, TRAINERS = range(4)
"""Whose turn it is, in step."""
ROUNDING: Final = 1e-6
"""Of a step: bars that are shorter are none."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One stage in the lane of its pool, seconds from the beginning of a step."""

    pool: str
    stage: StageTime
    start: float
    seconds: float
    beside: bool = False
    """Whether it passes beside another stage and makes no step longer."""

    @property
    def end(self) -> float:
        """Seconds at which it is over."""
        return self.start + self.seconds


def bars(plan: Plan) -> list[Bar]:
    """Bars of one step in the order of their pools; none where there is no plan."""
    time, made = plan.time, plan.decisions
    if time is None or made is None:
        return []
    stages, last = _with_last(time)
    found: list[Bar] = []
    start = 0.0
    for number, turn in enumerate(_turns(stages, plan)):
        end = start
        for pool in dict.fromkeys(one.pool for one in turn):
            lane = _lane([one for one in turn if one.pool == pool], start)
            end = max([end, *(bar.end for bar in lane if not bar.beside)])
            found += lane
        if made.placement != Placement.ASYNC or number == CPUS:  # out of step a pool that trains waits for CPUs alone
            start = end
    if last is not None:
        found.append(Bar(last.pool, last, max(time.step_seconds - last.seconds, 0.0), last.seconds))
    home = next((pool.name for pool in plan.pools if BESIDE in pool.roles and not pool.gpus), None)
    placed = [_at_home(bar, home) for bar in found if bar.seconds > ROUNDING * time.step_seconds]
    order = [pool.name for pool in plan.pools]
    return sorted(placed, key=lambda bar: ([*order, bar.pool].index(bar.pool), bar.start))


def waiting_seconds(plan: Plan) -> float:
    """Seconds of a step in which no pool works, since halves that run at once hold each other up; 0 in step."""
    if plan.time is None:
        return 0.0
    last = _with_last(plan.time)[1]
    ends = [bar.end for bar in bars(plan) if not bar.beside and bar.stage is not last]
    spare = plan.time.step_seconds - max(ends, default=0.0) - (last.seconds if last else 0.0)
    return spare if spare > ROUNDING * plan.time.step_seconds else 0.0


def _with_last(time: Time) -> tuple[list[StageTime], StageTime | None]:
    """The stages that pools work off, and the seconds outside them, which the plan lists as its last transfer."""
    transfers = [one for one in time.stages if one.stage == "transfer"]
    last = transfers[-1] if transfers else None
    return [one for one in time.stages if one is not last], last


def _turns(stages: Sequence[StageTime], plan: Plan) -> list[list[StageTime]]:
    """Stages by turn: `SAMPLERS`, `SCORERS`, `CPUS` and `TRAINERS`; pools of one turn work at the same time."""
    gpus = {pool.name for pool in plan.pools if pool.gpus}
    trains = {one.pool for one in stages if one.stage == StageKind.TRAIN}
    samples = {one.pool for one in stages if one.stage == StageKind.SAMPLE}
    turns: list[list[StageTime]] = [[], [], [], []]
    for one in stages:
        if one.pool in trains:
            turn = SAMPLERS if one.stage in SAMPLING else TRAINERS
        elif one.pool in samples:
            turn = SAMPLERS
        else:
            turn = SCORERS if one.pool in gpus else CPUS
        turns[turn].append(one)
    return turns


def _lane(stages: Sequence[StageTime], start: float) -> list[Bar]:
    """One pool's stages in turn; what hides behind others starts with them."""
    found, now, generating = [], start, (start, start)
    ranked = sorted(stages, key=lambda one: [*ORDER, one.stage].index(one.stage))
    for one in ranked:
        if one.stage == BESIDE:
            continue
        if one.hidden_seconds > 0.0:
            found.append(Bar(one.pool, one, start, one.hidden_seconds, beside=True))
        bar = Bar(one.pool, one, now, one.seconds - one.hidden_seconds)
        found.append(bar)
        now = bar.end
        generating = (bar.start, bar.end) if one.stage == StageKind.SAMPLE else generating
    for one in ranked:
        if one.stage == BESIDE:
            seconds = min(one.seconds, generating[1] - generating[0])
            found.append(Bar(one.pool, one, generating[0], seconds, beside=True))
    return found


def _at_home(bar: Bar, home: str | None) -> Bar:
    """Tools and worlds in the lane of their own machines, where they have some."""
    return Bar(home, bar.stage, bar.start, bar.seconds, True) if home and bar.stage.stage == BESIDE else bar
