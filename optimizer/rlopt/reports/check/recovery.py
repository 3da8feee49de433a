"""Sentences on what a request expects to go wrong, wait for and try first."""

from __future__ import annotations

from collections.abc import Iterator

from rlopt.request import Request, Wait
from rlopt.units import format_duration


def trials(request: Request) -> Iterator[str]:
    """Say what is tried before the run, what collapses and which trials end early."""
    job, cut = request.job, request.limits.cut_off
    if job.pilots is not None:
        where = "within" if job.pilots.before_deadline else "outside"
        each = f"{job.pilots.runs} pilots of {job.pilots.share:.0%} of a run each"
        yield f"{each} are billed at the plan's own machines, their hours {where} the deadline"
    if job.divergences:
        every = request.floors.checkpoints.history_every
        back = f"half of {every} steps" if every else "half of what lies between two checkpoints"
        many = "1 collapse of a run is" if job.divergences == 1 else f"{job.divergences:g} collapses of a run are"
        yield f"{many} expected: each costs {back} on average, and a restart"
    if cut is not None:
        rule = f"a trial whose {cut.metric} is below {cut.below:g} after {cut.at:.0%} of its steps is cut off"
        billed = f"{cut.share:.0%} of the further trials are, so {request.billed_runs:g} runs are billed"
        yield f"{rule}; {billed if cut.share else 'no share of them is given, so all are billed in full'}"


def recovery(request: Request) -> Iterator[str]:
    """Say how the run gets over lost machines, and what of unfinished samples is kept."""
    found, copied = request.recovery, request.checkpoint.rollouts
    if any(found.spare_nodes):
        counts = " or ".join(map(str, sorted(found.spare_nodes)))
        choice = " (a decision)" if len(found.spare_nodes) > 1 else ""
        yield f"{counts} spare nodes of the training pool's offer stand ready{choice}, paid all the time"
    if found.replace_wait:
        yield f"a lost machine is replaced after {format_duration(found.replace_wait)} where no spare node is ready"
    if found.launcher is not None:
        yield f"launcher {found.launcher}: where it is elastic, a lost rollout machine does not stop the run"
    if any(copied):
        ways = " or ".join(f"every {every} tokens" if every else "not at all" for every in copied)
        yield f"unfinished responses are copied to storage {ways}" + (" (a decision)" if len(copied) > 1 else "")


def waiting(request: Request) -> Iterator[str]:
    """Say when the deadline starts, how long machines are waited for, and what that costs people."""
    limits, people = request.limits, request.costs.waiting_people
    if limits.deadline_from == "request":
        yield "the deadline starts with the request: the wait for machines counts"
    if limits.wait:
        rows = "; ".join(f"{_which(row)} {format_duration(row.wait)}" for row in limits.wait)
        longest = ", the longest that matches" if len(limits.wait) > 1 else ""
        yield f"waits for machines: {rows}{longest}"
    if people and not any(row.wait for row in limits.wait):
        yield "costs.waiting_people is given without limits.wait: nothing is waited for, and nothing billed"
    elif people:
        yield f"{people:g} engineer hours are lost for each hour of waiting"


def worst_case(request: Request) -> Iterator[str]:
    """Say what must hold even if the run is slower than predicted."""
    times, limits = request.limits.robust.time, request.limits
    if times == 1.0:
        if any(key.startswith("limits.robust") for key in request.source.places):
            yield "limits.robust.time is 1: nothing slower than predicted is allowed for"
        return
    names = {
        "the deadline": limits.deadline is not None,
        "the budget": limits.budget is not None,
    }
    kept = " and ".join(name for name, given in names.items() if given)
    if not kept:
        yield "limits.robust has nothing to hold: neither limits.deadline nor limits.budget is given"
        return
    holds = "hold" if " and " in kept else "holds"
    slow = f"even if every step takes {times:g} times as long as predicted"
    yield f"{kept} {holds} {slow}; the predicted bill is what is minimised"


def _which(row: Wait) -> str:
    return " ".join(part for part in (row.provider, row.region, row.gpu, row.pricing) if part) or "any machine"
