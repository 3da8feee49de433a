"""The problem of a request: facts and prices, models, ways to serve it, and what is done before the job.

Studies ask for the problem of another request (`rebuilt`), and for a part of one: some offers alone, or some
configurations alone (`part_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlopt.answers.plan import Plan
from rlopt.errors import NotSupportedError
from rlopt.facts import Catalog, Offer
from rlopt.pools.build import build_problem
from rlopt.pricelists.catalog import facts_of, within_capacity
from rlopt.problem import Problem
from rlopt.problem.fixed import Fixed
from rlopt.reading.model_facts import resolve_models, shape_warnings
from rlopt.reading.rest import user_notes
from rlopt.request import Request
from rlopt.studies.cheapest import cheapest
from rlopt.studies.pairs import pairs_phase, pairs_request
from rlopt.studies.teacher_training import trained_options, training_phase, training_request
from rlopt.workloads import algorithm
from rlopt.workloads.picked import open_role

REMEMBERED = 16


def problem_of(request: Request, facts: Catalog | None = None) -> Problem:
    """Candidates and prices of a request, with every phase that it asks for before the job.

    Raises
    ------
    InputError, MissingFactError
        Where the request or its price list is wrong; where the catalogs lack what it needs.
    NotSupportedError
        Where it cannot be planned, its pairs cannot be made, or each model to choose from needs a phase without a plan.
    """
    known = facts_of(request, facts)
    request, notes = within_capacity(request, known)
    algorithm(request.job.algorithm)  # the whole algorithm is named before any part of it
    models = resolve_models(request, known)
    warnings = [*notes, *shape_warnings(models)]
    if request.constants is not None:
        warnings += user_notes(request)
    return _with_phases(build_problem(request, known, models, warnings=warnings))


def rebuilt(problem: Problem, request: Request) -> Problem:
    """The problem of a changed request by the same facts. Raises as of `problem_of`."""
    return problem_of(request, problem.catalog)


def part_of(
    problem: Problem,
    request: Request,
    only: Callable[[Offer], bool] | None = None,
    held: Fixed | None = None,
    catalog: Catalog | None = None,
) -> Problem:
    """The problem of a changed request on offers that ``only`` lets pass, of the configurations ``held`` alone.

    What is done before the job stays what it was. ``catalog``: other facts than the problem's. Raises
    MissingFactError, NotSupportedError.
    """
    known = problem.catalog if catalog is None else catalog
    return replace(build_problem(request, known, problem.models, held=held, only=only), phases=problem.phases)


def _with_phases(problem: Problem) -> Problem:
    """The same problem with every phase that the job or a choice of its models asks for."""
    request, catalog = problem.request, problem.catalog
    pairs = request.job.pairs
    if pairs is not None:
        made = pairs_phase(request, pairs, problem_of(pairs_request(request, pairs), catalog))
        if made.usd is None:
            raise NotSupportedError("job.pairs", "; ".join(made.says))
        return replace(problem, phases=(made,))
    found = tuple(
        training_phase(option, how, _phase_plan(training_request(request, option, how), catalog))
        for option, how in trained_options(request)
    )
    if not found:
        return problem
    role, options = open_role(request) or ("teacher", ())
    stuck = [phase for phase in found if phase.usd is None]
    if len(stuck) == len(options):
        raise NotSupportedError(f"job.models.{role}", "; ".join(text for phase in stuck for text in phase.says))
    says = tuple(text for phase in stuck for text in phase.says)
    return replace(problem, phases=found, warnings=(*problem.warnings, *says))


def _remembering(solve: Callable[[Request, Catalog], Plan]) -> Callable[[Request, Catalog], Plan]:
    """The same answers, each looked up once: what is relaxed or compared around a phase asks for it again."""
    known: list[tuple[Catalog, str, Plan]] = []

    def answer(request: Request, catalog: Catalog) -> Plan:
        key = request.model_dump_json()
        for other, text, plan in known:
            if other is catalog and text == key:
                return plan
        plan = solve(request, catalog)
        known[:] = [*known[1 - REMEMBERED :], (catalog, key, plan)]
        return plan

    return answer


@_remembering
def _phase_plan(request: Request, catalog: Catalog) -> Plan:
    return cheapest(problem_of(request, catalog))
