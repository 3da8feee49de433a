"""A plan if every step takes longer than predicted, and the plan that would have been right then.

The plan keeps its pools, layouts, checkpoint interval and tier; its hours and bill are computed anew at the slower
pace. The right plan is a search of its own at that pace, under the same limits. What is done before the job keeps its
predicted bill in both.
"""

from __future__ import annotations

import math

from rlopt.answers.plan import FoundPlan, Plan, RightPlan, Stressed
from rlopt.assembly.chosen import Chosen, ChosenColumn
from rlopt.assembly.plan import plan_of
from rlopt.columns.pace import again, slower
from rlopt.problem import Problem
from rlopt.rules import rules_of
from rlopt.studies.cheapest import cheapest

NO_PROGRESS = "the run makes no progress between two stops"


def stressed(chosen: Chosen, times: float, backend: str = "pulp", time_limit: float | None = None) -> Stressed:
    """What was chosen with every step ``times`` as long, beside the plan that is right then."""
    problem, plan = chosen.problem, chosen.plan
    slow = slower(problem, times)
    best = cheapest(slow, backend, time_limit)
    late = again(slow, chosen.column)
    if not math.isfinite(float(late.confident_hours[0])):
        return Stressed(
            times=times,
            total_usd=None,
            expected_hours=None,
            confident_hours=None,
            meets_deadline=None if problem.request.limits.deadline is None else False,
            broken=[NO_PROGRESS],
            right=right_plan(best, None, plan),
            regret_usd=None,
        )
    then = plan_of(ChosenColumn(slow, late), plan.solver, plan.status)
    return beside(times, then, best, slow)


def beside(times: float, then: FoundPlan, best: Plan, problem: Problem) -> Stressed:
    """What ``then`` (the plan, under stress) costs, takes and breaks, beside the ``best`` plan of that problem."""
    broken = [rule.key for rule in rules_of(problem) if rule.key and not rule.holds(then, problem)]
    right = right_plan(best, then, then)
    return Stressed(
        times=times,
        total_usd=then.cost.total_usd,
        expected_hours=then.time.expected_hours,
        confident_hours=then.time.confident_hours,
        meets_deadline=None if then.time.deadline_hours is None else "limits.deadline" not in broken,
        broken=broken,
        right=right,
        regret_usd=None if right is None else 0.0 if right.same else then.cost.total_usd - right.total_usd,
    )


def right_plan(best: Plan, then: Plan | None, plan: Plan) -> RightPlan | None:
    """A plan in short; ``same`` where it is ``then``, on the same machines where it rents what ``plan`` does."""
    if not isinstance(best, FoundPlan):
        return None
    machines = " + ".join(f"{p.gpus} {p.gpu} {p.pricing} at {p.provider}" for p in best.pools if p.gpu)
    placed = "" if best.decisions.group_size is None else f"{best.decisions.placement}: "
    return RightPlan(
        total_usd=best.cost.total_usd,
        confident_hours=best.time.confident_hours,
        summary=placed + machines,
        same=then is not None and best.pools == then.pools and best.decisions == then.decisions,
        same_machines=_rented(best) == _rented(plan),
        proven=best.status == "optimal",
    )


def _rented(plan: Plan) -> list[tuple[str, int, list[str]]]:
    return [(pool.offer, pool.nodes, pool.roles) for pool in plan.pools if pool.gpus]
