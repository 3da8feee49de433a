"""The plan of a problem with what stands beside it: longer steps, heavier loads, changes that help, other speeds."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.answers.plan import Plan
from rlopt.assembly.chosen import Chosen
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
    found = chosen(problem, backend, time_limit)
    if not isinstance(found, Chosen):
        stopped = found.status != "infeasible" and time_limit is not None
        return found if stopped else found.model_copy(update={"relaxations": relaxations(problem)})
    beside: dict[str, object] = {
        "stress": [stressed(found, times, backend, time_limit) for times in stress],
        "peaks": [peak for times in stress_load for peak in peaks(found, times, backend, time_limit)],
    }
    if short_frontier:
        beside["frontier"] = in_short(found, FRONTIER_IN_SHORT)
    return found.plan.model_copy(update=beside)
