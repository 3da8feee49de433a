"""What runs when on which pool during one step: a plan's stages put after and beside one another.

In step, pools take turns: those that sample, those that score, then the one that trains. Out of step they work at the
same time, on samples of different steps, and what a step takes beyond the longest of them is waiting. What every pool
waits for (weights on their way, the loop's own seconds) comes last in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlopt.plan import Plan, StageTime, Time

ORDER: Final = ("load", "generate", "screening", "likelihood", "evaluation", "forward", "update", "transfer")
"""Of the stages of one pool that works them off in turn; what is not named comes before the last two."""
BESIDE: Final = "environment"
"""Tools and worlds answer while others generate: their seconds are part of generating."""
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
    time = plan.time
    if time is None or plan.decisions is None:
        return []
    stages, last = _with_last(time)
    lanes = list(dict.fromkeys(one.pool for one in stages))
    trains = {one.pool for one in stages if one.stage == "update"}
    samples = {one.pool for one in stages if one.stage == "generate"} - trains
    found: list[Bar] = []
    turn = 0.0
    for group in _groups(lanes, samples, trains, plan):
        ends = [turn]
        for pool in group:
            found += _lane([one for one in stages if one.pool == pool], turn)
            ends.append(max((bar.end for bar in found if bar.pool == pool and not bar.beside), default=turn))
        turn = turn if _at_once(plan, group, trains) else max(ends)
    if last is not None:
        found.append(Bar(last.pool, last, max(time.step_seconds - last.seconds, 0.0), last.seconds))
    named = {pool.name for pool in plan.pools}
    home = next((pool.name for pool in plan.pools if BESIDE in pool.roles and not pool.gpus), None)
    placed = [_at_home(bar, home) for bar in found if bar.seconds > ROUNDING * time.step_seconds]
    return sorted(placed, key=lambda bar: (bar.pool not in named, _place(bar.pool, plan), bar.start))


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


def _groups(lanes: Sequence[str], samples: set[str], trains: set[str], plan: Plan) -> list[list[str]]:
    """Pools that work at the same time, in the order of their turns: samplers, scorers with GPUs, others, trainers."""
    gpus = {pool.name for pool in plan.pools if pool.gpus}
    score = [pool for pool in lanes if pool in gpus and pool not in samples and pool not in trains]
    cpus = [pool for pool in lanes if pool not in gpus and pool not in samples and pool not in trains]
    colocated = [[pool for pool in lanes if pool in trains], cpus] if not samples else None
    apart = [[pool for pool in lanes if pool in samples], score, cpus, [pool for pool in lanes if pool in trains]]
    return colocated or apart


def _at_once(plan: Plan, group: Sequence[str], trains: set[str]) -> bool:
    """Whether the next group need not wait for this one; the pool that trains waits for scores from CPUs."""
    gpus = {pool.name for pool in plan.pools if pool.gpus}
    return plan.decisions is not None and plan.decisions.placement == "async" and (not group or group[0] in gpus)


def _lane(stages: Sequence[StageTime], start: float) -> list[Bar]:
    """One pool's stages in turn; what hides behind others starts with them."""
    found, now, generating = [], start, (start, start)
    ranked = sorted(stages, key=lambda one: ORDER.index(one.stage) if one.stage in ORDER else len(ORDER) - 3)
    for one in ranked:
        if one.stage == BESIDE:
            continue
        if one.hidden_seconds > 0.0:
            found.append(Bar(one.pool, one, start, one.hidden_seconds, beside=True))
        bar = Bar(one.pool, one, now, one.seconds - one.hidden_seconds)
        found.append(bar)
        now = bar.end
        generating = (bar.start, bar.end) if one.stage == "generate" else generating
    for one in ranked:
        if one.stage == BESIDE:
            seconds = min(one.seconds, generating[1] - generating[0])
            found.append(Bar(one.pool, one, generating[0], seconds, beside=True))
    return found


def _at_home(bar: Bar, home: str | None) -> Bar:
    """Tools and worlds in the lane of their own machines, where they have some."""
    return Bar(home, bar.stage, bar.start, bar.seconds, True) if home and bar.stage.stage == BESIDE else bar


def _place(name: str, plan: Plan) -> int:
    return next((number for number, pool in enumerate(plan.pools) if pool.name == name), len(plan.pools))
