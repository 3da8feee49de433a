"""Why this plan, or why none: limits priced by solving again, rivals and the reason each lost, changes that help."""

from __future__ import annotations

from rlopt.answers.explanation import Explanation, Worth
from rlopt.answers.plan import Binding, FoundPlan, Plan, Relaxation
from rlopt.problem import Problem
from rlopt.search.clock import Clock
from rlopt.studies.cheapest import cheapest
from rlopt.studies.explain.engineering import engineering_of
from rlopt.studies.explain.marginal_value import worth_of
from rlopt.studies.explain.relax import combined_change, single_changes
from rlopt.studies.explain.rivals import rivals_of
from rlopt.studies.explain.unfit import empty, lack, why_empty

SECONDS = 300.0
"""For the whole explanation; a search that is stopped makes it incomplete, and it says so."""


def explain(problem: Problem, backend: str = "pulp", seconds: float = SECONDS) -> Explanation:
    """Explain the answer to a problem. Raises MissingFactError and NotSupportedError where a changed limit does."""
    clock = Clock.of(seconds, exact=True)
    plan = cheapest(problem, backend)
    if not isinstance(plan, FoundPlan):
        singles = single_changes(problem, clock)
        together = _joined(combined_change(problem))
        relaxed: list[Relaxation | list[Relaxation]] = [*singles] if singles else [together] if together else []
        return Explanation(
            plan=plan.model_copy(update={"relaxations": relaxed}),
            changes=singles,
            together=together,
            misfit=_misfit(problem),
            complete=clock.complete and not clock.over,
        )
    worth = worth_of(problem, plan, clock)
    rivals = rivals_of(problem, plan, clock)
    return Explanation(
        plan=_priced(plan, worth),
        worth=worth,
        rivals=rivals,
        engineering=engineering_of(problem, plan, rivals),
        complete=clock.complete,
    )


def _joined(combined: list[list[Relaxation]]) -> list[Relaxation]:
    return [change for changes in combined for change in changes]


def _priced(plan: Plan, worth: list[Worth]) -> Plan:
    """The plan with what one unit of each binding limit saves."""
    known = {one.constraint: one.usd_per_unit for one in worth}
    binding = [
        Binding.model_validate({**one.model_dump(), "usd_per_unit": known.get(one.constraint)}) for one in plan.binding
    ]
    return plan.model_copy(update={"binding": binding})


def _misfit(problem: Problem) -> list[str]:
    if problem.nearest is not None:
        return lack(problem.nearest)
    return [why_empty(problem)] if empty(problem) else []
