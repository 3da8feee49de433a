"""The rest of a run that has begun: fewer steps, a nearer deadline, what is left of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rlopt.errors import InputError
from rlopt.reading.calibration_file import CalibrationFile, RunProgress
from rlopt.request import Request, Spent
from rlopt.units import Money

HOUR = 3600.0


def with_own(request: Request, own: CalibrationFile, steps_done: int | None = None) -> Request:
    """The request with constants of one's own, and, where the calibration is of a run of this job, its rest.

    Parameters
    ----------
    request, own
        As read.
    steps_done
        Steps that are done by now; None takes those of the calibration, 0 plans the whole job.

    Raises
    ------
    InputError
        Where no step, no hour or no money is left, or steps are done of a run that the calibration does not name.
    """
    found = request.model_copy(update={"constants": own.constants})
    run = own.run
    if run is not None and (run.job, run.algorithm) != (request.job.name, request.job.algorithm):
        run = None
    if run is None:
        if steps_done:
            message = f"{steps_done} steps are done, but {own.file} is of no run of job {request.job.name}"
            raise InputError.of("run.job", message, file=own.file, line=own.lines.get("run.job"),
                                allowed="a calibration of this job's run", fix="leave --steps-done out")  # fmt: skip
        return found
    return rest_of(found, at(run, steps_done), own.file, own.lines)


def at(run: RunProgress, steps_done: int | None) -> RunProgress:
    """The run when ``steps_done`` steps are done, at the pace that it had; as its log ends where None."""
    if steps_done is None or steps_done == run.steps:
        return run
    pace = steps_done / run.steps if run.steps else 0.0
    usd = None if run.usd is None else run.usd * pace
    return RunProgress(run.job, run.algorithm, run.group_size, run.total_steps, steps_done, run.hours * pace, usd)


def rest_of(request: Request, run: RunProgress, file: str, lines: Mapping[str, int | None] | None = None) -> Request:
    """What is left of a run: its remaining steps, hours and money; trials and pilots are behind it.

    ``file`` and ``lines`` say where complaints about the run point. Raises InputError where nothing is left.
    """
    if run.steps == 0:
        return request
    total = request.job.steps_for(run.group_size if request.job.convergence else None) or run.total_steps

    def refuse(key: str, message: str, fix: str) -> InputError:
        return InputError.of(key, message, file=file, line=(lines or {}).get(key), fix=fix)

    if run.steps >= total:
        raise refuse("run.steps_done", f"{run.steps} of {total} steps are done: nothing is left to plan",
                     "plan the whole job with --steps-done 0")  # fmt: skip
    limits = request.limits
    changed: dict[str, Any] = {}
    if limits.deadline is not None:
        left = limits.deadline - run.hours * HOUR
        if left <= 0.0:
            message = f"{run.hours:.1f} h are spent of a deadline of {limits.deadline / HOUR:.1f} h"
            raise refuse("run.hours_spent", message, "allow more with --set limits.deadline=...")
        changed["deadline"] = left
    if limits.total_budget is not None and run.usd:
        amount = limits.total_budget.amount - run.usd / request.costs.usd(Money(1.0, limits.total_budget.currency))
        if amount <= 0.0:
            raise refuse("run.usd_spent", f"{run.usd:,.2f} USD are spent: nothing is left of the budget",
                         "allow more with --set limits.budget=...")  # fmt: skip
        changed["budget"] = limits.with_budget("total", Money(amount, limits.total_budget.currency))
    changes = {**_steps(request, run.steps, total), "trials": 1, "pilots": None}
    changes["response_tokens"] = request.job.response_tokens.part(run.steps / total, 1.0)
    job = request.job.model_copy(update=changes)
    spent_already = Spent(steps=run.steps, total_steps=total, hours=run.hours, usd=run.usd)
    return request.model_copy(update={"job": job, "limits": limits.model_copy(update=changed), "spent": spent_already})


def _steps(request: Request, done: int, total: int) -> dict[str, Any]:
    """The remaining steps in the words of the request; tables keep the share that is left of each entry."""
    job, left = request.job, Fraction(total - done, total)
    if job.convergence is not None:
        return {"convergence": _scaled(job.convergence, left)}
    if job.value_convergence is not None:
        return {"value_convergence": _scaled(job.value_convergence, left)}
    if job.steps is not None:
        return {"steps": max(1, round(job.steps * left))}
    dirty = 1 + (0 if job.data.cleaned else Fraction(str(job.data.extra_epochs_if_dirty)))
    base = Fraction(2 * (total - done) - 1, 2) / dirty  # half a step less: what is left rounds up to whole steps
    samples = job.data.new_samples if job.data.incremental else job.dataset_samples
    return {"epochs": float(base * job.prompts_per_step / (samples or 1))}


def _scaled(table: Mapping[Any, Any], left: Fraction) -> dict[Any, Any]:
    return {
        key: _scaled(steps, left) if isinstance(steps, Mapping) else max(1, round(steps * left))
        for key, steps in table.items()
    }


def user_notes(request: Request) -> list[str]:
    """What a plan has to say of constants of one's own, and of a run that has begun."""
    notes = []
    if request.constants is not None:
        notes.append(f"times rest on your own timings ({request.constants.name}, {request.constants.as_of})")
    spent = request.spent
    if spent is not None:
        paid = "" if spent.usd is None else f" and {spent.usd:,.2f} USD"
        notes.append(
            f"the rest of a run: {spent.steps} of {spent.total_steps} steps, {spent.hours:.1f} h{paid} are spent; "
            "bill, hours and limits are those of what is left"
        )
        notes.append(
            "a new start is on this bill (machines, loading, what is done once before the first step) even where the "
            "machines of the run are kept: rlopt calibrate prices both"
        )
    return notes
