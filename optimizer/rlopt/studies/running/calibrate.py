"""What logs of one configuration change: the constants, the band, and the plan of what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot
from pathlib import Path

from rlopt.answers.configuration import Configuration
from rlopt.answers.plan import FoundPlan
from rlopt.answers.recalibration import CalibratedBand, LogRead, MovedConstant, Recalibration, StageSeconds
from rlopt.errors import InputError
from rlopt.estimates.uncertainty import EIGHTY
from rlopt.fitting.user_fit import Fitted
from rlopt.launchers.logs.contract import STAGES, STEP
from rlopt.launchers.logs.log import Log, read_log
from rlopt.launchers.logs.steady_state import Middle, SteadyState, steady_state
from rlopt.problem import Problem
from rlopt.reading.calibration_file import RunProgress
from rlopt.reading.calibration_text import UserCalibration
from rlopt.reading.rest import rest_of
from rlopt.request import Request, UserConstants
from rlopt.studies.configuration.price import price
from rlopt.studies.running.continue_or_switch import with_plan
from rlopt.studies.running.user_log import UserLogs, user_logs, user_run, with_constants
from rlopt.units import seconds_to_hours

BECAUSE = {
    "train": ("update", "score"),
    "generation_train": ("update", "score"),
    "score_train": ("score",),
    "sample": ("generate",),
    "generation_sample": ("generate",),
    "step_s": (STEP,),
    "switch_s": ("hand over weights", STEP),
    "fixed_s": ("hand over weights", STEP),
    "gb_s": ("hand over weights", STEP),
}
"""Stages that speak of a constant, by its last or last but one name."""


@dataclass(frozen=True, slots=True)
class StatedRun:
    """What is said of a run beside its logs; None is told by the logs."""

    as_of: str
    """The day that the calibration is of."""
    launcher: str | None = None
    steps_done: int | None = None
    hours_spent: float | None = None


def calibrate(
    paths: Sequence[Path], problem: Problem, config: Configuration, stated: StatedRun, backend: str = "pulp"
) -> Recalibration:
    """Refit the constants on logs of a configuration of the problem's job and plan what is left. Raises InputError."""
    request = problem.request
    logs = [(log, steady_state(log)) for log in (read_log(path, stated.launcher) for path in paths)]
    found = user_logs(logs, _as_logged(problem, config, logs), problem, config)
    run = _run(request, found.shipped, logs, stated)
    name = f"logs of {request.job.name}"
    moved = _moved(found.fitted, logs)
    framework = found.run.framework if found.run.loop else None
    calibration = UserCalibration(
        name, stated.as_of, framework, found.fitted.moved, found.fitted.own, run, _provenance(logs, found, moved)
    )
    constants = calibration.constants()
    answer = Recalibration(
        name=name,
        logs=[_log_read(*one) for one in logs],
        framework=framework,
        moved=moved,
        stayed=[".".join(path) for path in found.fitted.stayed],
        stages=_stages(found, _after(found, constants, problem, config)),
        bands=[*_bands(found.fitted), *_same(found, logs)],
        notes=list(found.notes),
        steps_done=run.steps,
        steps_left=max(run.total_steps - run.steps, 0),
        hours_spent=run.hours,
        usd_spent=run.usd,
        calibration=calibration.text(),
    )
    if run.steps >= run.total_steps:
        return answer.model_copy(
            update={"notes": [*answer.notes, "every step of the job is done: nothing is left to plan"]}
        )
    own = rest_of(with_constants(request, constants), run, "the log")
    return with_plan(answer, problem, own, config, found.logged.get(STEP), backend)


def _as_logged(problem: Problem, config: Configuration, logs: Sequence[tuple[Log, SteadyState]]) -> Request:
    """The request with responses as long as they were on average over the steps that are fitted on."""
    request = problem.request
    text = request.job.response_tokens
    if text.last == text.mean:
        return request
    plan = price(problem, config).plan
    if plan is None:
        return request
    ends = min(one.used[0] for _, one in logs), max(one.used[1] for _, one in logs)
    shares = [min(max(end / plan.time.steps, 0.0), 1.0) for end in ends]
    return request.replaced("job.response_tokens", text.part(*shares).over_run)


def _after(found: UserLogs, constants: UserConstants, problem: Problem, config: Configuration) -> dict[str, float]:
    """Seconds by stage of the whole model under the new constants: not the factors that were fitted with."""
    priced = price(problem, config, with_constants(found.request, constants))
    if priced.plan is None:
        return found.run.predicted(found.fitted.calibration)
    run = user_run(priced.plan, priced.problem)
    return run.predicted(run.base)


def _stages(found: UserLogs, after: dict[str, float]) -> list[StageSeconds]:
    shipped = found.shipped_run
    before = shipped.predicted(shipped.base)
    return [
        StageSeconds(stage=name, logged=found.logged[name], before=before[name], after=after[name])
        for name in ((*STAGES, STEP) if shipped.loop else (STEP,))
        if name in found.logged and before.get(name, 0.0) > 0.0
    ]


def _moved(fitted: Fitted, logs: Sequence[tuple[Log, SteadyState]]) -> list[MovedConstant]:
    rows = []
    for path, (before, after) in fitted.moved.items():
        names = next((BECAUSE[part] for part in reversed(path) if part in BECAUSE), (STEP,))
        rows.append(
            MovedConstant(
                constant=".".join(path),
                before=before,
                after=after,
                because=_because(names, logs),
                at_bound=path in fitted.at_bound,
            )
        )
    return rows


def _because(names: Sequence[str], logs: Sequence[tuple[Log, SteadyState]]) -> str:
    told = []
    for log, one in logs:
        here = [name for name in names if name in one.middles] or [STEP]
        told += [_told(log.name, name, one.middles[name]) for name in here[:1] if name in one.middles]
    return "; ".join(told)


def _told(log: str, stage: str, middle: Middle) -> str:
    return f"{stage} {middle.seconds:.4g} s over {middle.steps} steps ({log}:{middle.line})"


def _log_read(log: Log, one: SteadyState) -> LogRead:
    first, last, count = one.used
    return LogRead(
        name=log.name,
        format=log.launcher.NAME,
        lines=log.lines,
        used=f"{count} of {len(log.steps)} steps, from {first} to {last}",
        left_out=one.left_out,
        skipped={reason: count for reason, (count, _) in log.skipped.items()},
        first_skipped={reason: line for reason, (_, line) in log.skipped.items()},
    )


def _bands(fitted: Fitted) -> list[CalibratedBand]:
    rows = []
    for kind, what in (("training", "updates and scoring"), ("generation", "generation")):
        if kind not in fitted.before:
            continue
        device, after = next(((name, one) for name, one in fitted.own[kind].items() if name != "others"),
                             ("these GPUs", fitted.before[kind]))  # fmt: skip
        half = [exp(EIGHTY * sigma) - 1.0 for sigma in (fitted.before[kind], after)]
        rows.append(CalibratedBand(what=f"{what}, another configuration on {device}", before=half[0], after=half[1]))
    return rows


def _same(found: UserLogs, logs: Sequence[tuple[Log, SteadyState]]) -> list[CalibratedBand]:
    """Band of the configuration that was logged: its steps' spread, and what two runs of one configuration differ."""
    middles = [one.middles[STEP] for _, one in logs if STEP in one.middles]
    if not middles:
        return []
    between = float(found.run.base.bands["same_configuration"])
    after = hypot(between, min(one.sigma for one in middles))
    half = [exp(EIGHTY * sigma) - 1.0 for sigma in (found.fitted.before["training"], after)]
    return [CalibratedBand(what="the configuration that runs", before=half[0], after=half[1])]


def _run(request: Request, plan: FoundPlan, logs: Sequence[tuple[Log, SteadyState]], stated: StatedRun) -> RunProgress:
    """How far the run is: steps by the log's count, hours by its pace and one start, money by the plan's machines."""
    done = max(one.last for _, one in logs) if stated.steps_done is None else stated.steps_done
    seconds, counted = (sum(getattr(one, name) for _, one in logs) for name in ("logged_seconds", "logged_steps"))
    pace = seconds / counted if counted else plan.time.step_seconds
    if done > plan.time.steps:
        message = f"{done} steps are done of a job of {plan.time.steps}"
        fix = "state the steps of the job that ran with --set job.steps=..."
        raise InputError.of("job.steps", message, allowed=f"up to {plan.time.steps} steps", fix=fix)
    in_full = len(logs) == 1 and stated.steps_done is None and counted >= done
    whole = seconds if in_full else pace * done
    hours = stated.hours_spent
    hours = seconds_to_hours(whole) + plan.time.startup_hours if hours is None else hours
    rate = sum(pool.usd_per_hour for pool in plan.pools)
    return RunProgress(
        request.job.name, request.job.algorithm, plan.decisions.group_size, plan.time.steps, done, hours, rate * hours
    )


def _provenance(
    logs: Sequence[tuple[Log, SteadyState]], found: UserLogs, moved: Sequence[MovedConstant]
) -> dict[str, object]:
    return {
        "logs": [_log_read(*one).model_dump(include={"name", "format", "used", "left_out"}) for one in logs],
        "logged": {name: float(f"{value:.5g}") for name, value in found.logged.items()},
        "moved": {one.constant: [one.before, one.after, one.because] for one in moved},
        "stayed": [".".join(path) for path in found.fitted.stayed],
        "band_before": {kind: float(f"{value:.4g}") for kind, value in found.fitted.before.items()},
        "notes": list(found.notes),
    }
