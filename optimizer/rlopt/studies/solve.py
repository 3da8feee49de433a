"""The plan of a problem with what stands beside it: longer steps, heavier loads, changes that help, other speeds."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.plan import Plan
from rlopt.problem import Problem
from rlopt.studies.cheapest import chosen
from rlopt.studies.explain.relax import relaxations
from rlopt.studies.frontier import in_short
from rlopt.studies.peak import peaks
from rlopt.studies.stress import stressed

FRONTIER_IN_SHORT = 6


def solve(
    problem: Problem,
    backend: str = "pulp",
    time_limit: float | None = None,
    short_frontier: bool = True,
    stress: Sequence[float] = (),
    stress_load: Sequence[float] = (),
) -> Plan:
    """The cheapest plan (or the fastest), whatever its status, stressed by the paces and loads that are asked for.

    An infeasible one carries the changes that help; a feasible one the frontier in short.
    """
    plan, column = chosen(problem, backend, time_limit)
    if stress and column is not None:
        slower = [stressed(problem, plan, column, times, backend, time_limit) for times in stress]
        plan = plan.model_copy(update={"stress": slower})
    if stress_load and column is not None:
        found = [one for times in stress_load for one in peaks(problem, plan, column, times, backend, time_limit)]
        plan = plan.model_copy(update={"peaks": found})
    if plan.status == "infeasible" or (not plan.pools and time_limit is None):
        return plan.model_copy(update={"relaxations": relaxations(problem)})
    if short_frontier and plan.pools:
        return plan.model_copy(update={"frontier": in_short(problem, plan, FRONTIER_IN_SHORT)})
    return plan
