"""Engineer hours against compute: what each placement saves a run against the simplest one, and when that pays.

saved = compute on the bill of the simplest placement's best plan - that of the placement's own, over the runs billed
pays after = engineer hours that it takes more · their price / saved, in whole runs
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlopt.answers.explanation import Engineering, Rival
from rlopt.answers.plan import FoundPlan
from rlopt.costs.operations import engineer_usd, setup_hours
from rlopt.problem import Problem
from rlopt.words import Placement

CENT = 0.01


def engineering_of(problem: Problem, plan: FoundPlan, rivals: Sequence[Rival]) -> list[Engineering]:
    """Every placement with a plan against the simplest that has one, in order of what setting up takes by nature.

    Nothing where no engineer hour is priced, where one placement alone has a plan, or where the fastest plan is asked.
    """
    price = engineer_usd(problem)
    if not price or problem.request.objective == "time":
        return []
    runs = problem.request.billed_runs
    more = {plan.decisions.placement: 0.0}  # compute beyond the plan's, USD a run
    for rival in rivals:
        if rival.axis == "placement" and rival.verdict == "dearer":
            more[rival.value] = rival.by_dimension.get("compute", 0.0) / runs
    simplest, *others = (name for name in Placement if name in more)
    found = []
    for name in others:
        hours = setup_hours(problem, name) - setup_hours(problem, simplest)
        saved, once = more[simplest] - more[name], hours * price
        found.append(
            Engineering(
                placement=name,
                simplest=simplest,
                chosen=name == plan.decisions.placement,
                saved_usd_per_run=saved,
                more_hours=hours,
                more_usd=once,
                pays_after_runs=math.ceil(max(once, 0.0) / saved * (1.0 - 1e-12)) if saved >= CENT else None,
            )
        )
    return found
