"""What a launcher is told of a plan: one that is solved now, or one that was saved."""

from __future__ import annotations

from pathlib import Path

from rlopt.answers.plan import Plan
from rlopt.facts import Catalog
from rlopt.launchers.exports import Export, Run, export_run, needs
from rlopt.reading.model_facts import resolve_models
from rlopt.reading.plan_check import check_plan
from rlopt.reading.plan_file import read_plan
from rlopt.request import Request
from rlopt.studies.problem import problem_of
from rlopt.studies.solve import solve


def export(
    request: Request, to: str, facts: Catalog, plan: str | Path | Plan | None, smoke: bool, backend: str = "pulp"
) -> Export:
    """The files of launcher ``to``; the request is solved where no plan is given.

    Raises
    ------
    NotSupportedError
        Where the launcher has no trainer for the algorithm; before any work.
    InputError
        Where a saved plan is of another request or contradicts itself.
    InfeasibleError
        Where there is no plan.
    """
    needs(to, request.job.algorithm)
    models = resolve_models(request, facts)
    if plan is None:
        found = solve(problem_of(request, facts), backend).require()
    elif isinstance(plan, Plan):
        found = plan.require()
    else:
        found = read_plan(Path(plan)).require()
        check_plan(found, request, Path(plan))
    cards = {name: device.memory_gib for name, device in facts.devices.items()}
    return export_run(to, Run(found, request, models, cards, facts.skypilot), smoke)
