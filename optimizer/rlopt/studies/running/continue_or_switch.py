"""The rest of a run: going on as it runs, or switching to what is cheapest for it.

Going on is the configuration that runs, held as it is, without a new start and at the pace that was logged. Switching
is the cheapest plan of the rest with its own start, and the checkpoint moved to it. Money that is spent is on neither
side.
"""

from __future__ import annotations

from typing import Any

from rlopt.answers.configuration import Configuration
from rlopt.answers.plan import FoundPlan, Plan
from rlopt.answers.recalibration import Going, Recalibration, Switching
from rlopt.problem import Problem
from rlopt.request import Request
from rlopt.studies.configuration.price import price
from rlopt.studies.diff import difference
from rlopt.studies.problem import rebuilt
from rlopt.studies.running.user_log import with_constants
from rlopt.studies.solve import solve
from rlopt.units import seconds_to_hours

GB = 1e9
NOTICEABLE = 0.05
"""Share of the bill that a switch must save: the machines switched to have no log, and moving is work."""


def with_plan(
    answer: Recalibration,
    problem: Problem,
    rest: Request,
    config: Configuration,
    step: float | None,
    backend: str = "pulp",
) -> Recalibration:
    """The answer with the plans of what is left: as shipped, under own constants, and on the machines that run.

    ``problem`` is the whole job's, ``rest`` what is left of it under own constants; ``step``: seconds of a step as
    logged, None takes the predicted ones.
    """
    shipped, mine = (
        solve(rebuilt(problem, one), backend, short_frontier=False) for one in (with_constants(rest, None), rest)
    )
    changes: dict[str, Any] = {"plan": mine}
    if isinstance(shipped, FoundPlan) and isinstance(mine, FoundPlan):
        changes["difference"] = difference(shipped, mine, ("shipped constants", "your own"))
    held = price(problem, config, rest)
    if held.plan is None:
        return answer.model_copy(update=changes)
    going = _going(held.plan, step, answer.steps_left or 0)
    changes["going_on"] = going
    if isinstance(mine, FoundPlan):
        moved, transfer = _transfer(held.plan, mine, held.problem)
        saved = going.usd - mine.cost.total_usd - (transfer or 0.0)
        changes["switching"] = Switching(
            usd=mine.cost.total_usd,
            hours=mine.time.expected_hours,
            start_hours=mine.time.startup_hours,
            moved_gb=moved,
            transfer_usd=transfer,
            saves_usd=saved,
            later_hours=mine.time.expected_hours - going.hours,
            worth=saved > NOTICEABLE * going.usd,
        )
    return answer.model_copy(update=changes)


def _going(plan: FoundPlan, logged: float | None, steps: int) -> Going:
    """The rest on the same machines: their plan without its start, at the logged pace, at the machines' own rate."""
    step = plan.time.step_seconds if logged is None else logged
    slower = seconds_to_hours((step - plan.time.step_seconds) * steps)
    rate = sum(pool.usd_per_hour for pool in plan.pools)
    less = slower - plan.time.startup_hours - plan.time.once_hours
    return Going(
        usd=plan.cost.total_usd + rate * less,
        hours=plan.time.expected_hours + less,
        usd_per_hour=rate,
        steps=steps,
    )


def _transfer(old: Plan, new: Plan, problem: Problem) -> tuple[float, float | None]:
    """GB of the checkpoint that new machines start from, and what its way out of the old place costs."""
    size = problem.checkpoint.resumable_bytes / GB
    here, there = old.pools[0], new.pools[0]
    if (here.provider, here.region) == (there.provider, there.region):
        return size, 0.0
    tariff = next((one for one in problem.tariffs if (one.provider, one.region) == (here.provider, here.region)), None)
    return size, None if tariff is None else size * tariff.egress_per_gb
