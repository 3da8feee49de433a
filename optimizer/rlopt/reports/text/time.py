"""When the job is done and where the seconds of a step go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from rlopt.answers.plan import StageTime, Time, WorstCase
from rlopt.language import Name
from rlopt.reports import words
from rlopt.reports.layout import facts, table
from rlopt.units import SECONDS_PER_MINUTE, hours_to_seconds
from rlopt.words import StageKind

BUSY: Final = "busy meanwhile"
"""Share of a stage's own time in which its pool is filled: long responses leave it half empty at the end."""
SHOWN: Final = 0.001
"""Share of a step from which on samples that load beside the step before are worth a line."""
WAITS: Final = 0.01
"""Share of a step from which on the wait of its busiest pool is worth a line."""


def sections(time: Time, worst: WorstCase | None = None, met: str = "") -> list[RenderableType]:
    """Lay out expected and confident hours, the deadline, and a step by stage.

    ``met`` says how many runs meet the deadline.
    """
    even = "" if worst is None else f", even if every step takes {worst.times:g} times as long"
    rows = [
        ("expected", f"{words.hours(time.expected_hours)}, failures and restarts included"),
        (
            "",
            f"without any failure {words.hours(time.failure_free_hours)}, of which {_beside_steps(time)}",
        ),
        (
            "confident",
            f"{words.hours(time.confident_hours)}: {words.chances(time.confidence)} are done by then{even}",
        ),
    ]
    if time.divergence_hours:
        rows.insert(2, ("", f"collapses of the training take {_duration(time.divergence_hours)} of the expected hours"))
    rows += _before(time)
    rows += _worst(worst)
    if time.deadline_hours is not None:
        spare = time.deadline_hours - time.confident_hours
        rows.append(("deadline", f"{words.hours(time.deadline_hours)}, {words.hours(max(spare, 0.0))} to spare{met}"))
    rows += _steps(time)
    rows += [("", text) for text in waits(time)]
    stages: list[tuple[str, ...]] = [
        (
            *named(stage, time.stages),
            words.seconds(stage.seconds),
            "" if stage.utilization is None else words.percent(stage.utilization),
        )
        for stage in time.stages
        if shown(stage, time)
    ]
    columns = ["stage of a step", "model", "pool", "takes", BUSY]
    if not any(row[-1] for row in stages):
        columns, stages = columns[:-1], [row[:-1] for row in stages]
    return [facts(rows), Text(), table(columns, stages, right=("takes", BUSY))]


def waits(time: Time) -> list[str]:
    """One sentence where the stages of no pool add up to a step: how long the busiest one waits for others."""
    work: dict[str, float] = {}
    for stage in time.stages:
        if stage.stage != StageKind.ENVIRONMENT:  # generating holds it
            work[stage.pool] = work.get(stage.pool, 0.0) + stage.seconds - stage.hidden_seconds
    busiest = max(work, key=work.__getitem__, default="")
    idle = time.step_seconds - work.get(busiest, time.step_seconds)
    if len(work) < 2 or idle < WAITS * time.step_seconds:
        return []
    others = words.listed([f"pool {name}" for name in work if name != busiest])
    return [
        f"pool {busiest} works {words.seconds(work[busiest])} of a step and waits {words.seconds(idle)} for {others}"
    ]


def _steps(time: Time) -> list[tuple[str, str]]:
    """How many steps there are and how long they take: on average, where that changes over the run."""
    if time.first_step_seconds is None or time.last_step_seconds is None:
        return [("steps", f"{time.steps:,} of {words.seconds(time.step_seconds)} each")]
    first, last = words.seconds(time.first_step_seconds), words.seconds(time.last_step_seconds)
    return [
        ("steps", f"{time.steps:,} of {words.seconds(time.step_seconds)} each on average"),
        ("", f"the first takes {first} and the last {last}, as responses change in length; stages below are averages"),
    ]


def _before(time: Time) -> list[tuple[str, str]]:
    """The wait for machines and pilots, and whether the deadline counts them."""
    rows = []
    if time.waiting_hours:
        counted = "part of the confident hours" if time.waiting_counts else "not part of the hours above"
        rows.append(("wait", f"{_duration(time.waiting_hours)} for the last of the machines, {counted}"))
    if time.pilot_hours:
        rows.append(("pilots", f"{_duration(time.pilot_hours)} of the confident hours, before the run"))
    return rows


def _worst(worst: WorstCase | None) -> list[tuple[str, str]]:
    """What the worst case that the request asks for costs, and how long it takes."""
    if worst is None:
        return []
    hours = words.hours(worst.time.expected_hours)
    more = f"the bill is then {words.usd(worst.total_usd)} and {hours} are expected"
    return [("worst case", f"every step takes {worst.times:g} times what is predicted: {more}")]


def shown(stage: StageTime, time: Time) -> bool:
    """Whether a stage takes any time; one that hides wholly behind others, whether it takes more than a moment."""
    return stage.seconds > (SHOWN * time.step_seconds if stage.hidden_seconds >= stage.seconds else 0.0)


def _beside_steps(time: Time) -> str:
    """The hours that are no steps; what takes none is left out."""
    parts = [
        (time.startup_hours, "before the first step and after the last"),
        (time.once_hours, "once over the data before the first step"),
        (time.saving_hours, "standing still for checkpoints"),
    ]
    shown = [*parts[:1], *(part for part in parts[1:] if part[0] > 0.0)]
    return words.listed([f"{_duration(hours)} {what}" for hours, what in shown])


def stage_name(stage: str) -> str:
    """A stage in words; the environment's time is a part of generating, which waits for it."""
    return "environment, within generate" if stage == StageKind.ENVIRONMENT else words.STAGES.get(stage, stage)


def _duration(hours: float) -> str:
    """Hours, or minutes or seconds where they are few, so that nothing real reads as none."""
    return words.hours(hours) if hours >= 1 else words.minutes(hours_to_seconds(hours) / SECONDS_PER_MINUTE)


def named(stage: StageTime, stages: Sequence[StageTime]) -> tuple[str, str, str]:
    """Stage, model and pool in words.

    Weights are handed over to every pool that generates; what a pool's own link adds stands with that pool. Beside an
    action expert, the policy's own layers are run for the update whether they are trained or frozen: a plan does not
    say which.
    """
    name = stage_name(stage.stage)
    pool: str = Name(stage.pool)
    if stage.stage == "transfer" and stage is [one for one in stages if one.stage == "transfer"][-1]:
        pool = words.listed(list(dict.fromkeys(one.pool for one in stages if one.stage == StageKind.SAMPLE))) or pool
    serves = (
        [one.model for one in stages if one.model and one.stage == StageKind.TRAIN]
        if stage.stage == StageKind.TRAIN
        else []
    )
    model = words.model(stage.model or "", serves)
    if stage.hidden_seconds:
        much = "" if stage.hidden_seconds >= stage.seconds else f" for {words.seconds(stage.hidden_seconds)}"
        name = f"{name}, beside the step before{much}"
    return ("run for training" if model == words.BACKBONE else name), model, pool
