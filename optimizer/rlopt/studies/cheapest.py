"""The cheapest plan (or the fastest), proven: search, program, solver, audit."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from rlopt import solvers
from rlopt.answers.plan import CatalogUsed, ErrorBand, Plan, PlanProvenance, SolverSummary, Status
from rlopt.assembly.audit import audit
from rlopt.assembly.certainty import certainty
from rlopt.assembly.chosen import Chosen, ChosenColumn
from rlopt.assembly.plan import plan_of
from rlopt.columns.joint import pool_rows
from rlopt.problem import Ints, Problem
from rlopt.program import Program
from rlopt.search.formulate import formulate
from rlopt.search.prune import Goal
from rlopt.search.search import Found, search
from rlopt.words import Objective

PROOF = 1e-6
LEAST_SECONDS = 0.01
"""What the solver gets where the search has used the time limit up."""
Answer = Chosen | Plan
"""What was chosen, with its plan; or a plan that says there is none."""


def _tie_break(found: Found, problem: Problem, values: np.ndarray, chosen: int) -> int:
    """Among columns of equal value the one that a fixed key puts first, so that every backend gives one plan."""
    best = values[chosen]
    rows = np.flatnonzero(found.admitted & (values <= best * (1 + 1e-12) + 1e-9))
    columns, offers = found.columns, problem.market.offers

    def key(j: int) -> tuple[float | str, ...]:
        used = pool_rows(columns, j, problem)
        return (
            float(columns.confident_hours[j]),
            float(columns.usd[j]),
            int(columns.placement[j]),
            " ".join(offers[int(pools.offer[row])].id for pools, row in used),
            int(columns.interval_steps[j]),
            int(columns.tier[j]),
            int(columns.recovery[j]),
            int(columns.variant[j]),
            *(row for _, row in used),
        )

    return min(rows.tolist(), key=key) if len(rows) else chosen


def _root_gap(program: Program, objective: float) -> float | None:
    """Gap of the linear relaxation, relative; None where it was not solved."""
    backend = solvers.backend("pulp")
    relaxed = replace(program, integer=np.zeros(program.size, dtype=np.bool_))
    outcome: solvers.Outcome = backend.solve_once(relaxed, None)
    if outcome.objective is None or objective <= 0:
        return None
    return max(0.0, (objective - outcome.objective) / objective)


def summary(
    problem: Problem,
    found: Found,
    outcome: solvers.Outcome,
    backend: str,
    goal: Goal,
    usd: float | None,
    rows: int,
    root_gap: float | None = None,
) -> SolverSummary:
    """How the answer was found, in the plan's words."""
    excluded = {**problem.excluded, **found.excluded}
    common = {
        "backend": backend,
        "engine": outcome.engine,
        "seconds": outcome.seconds,
        "search_seconds": found.seconds,
        "columns": len(found.columns),
        "candidates": problem.candidates,
        "excluded": excluded,
        "rows": rows,
        "root_gap": root_gap,
    }
    if outcome.objective is None or usd is None:
        return SolverSummary(objective_usd=None, bound_usd=None, gap=None, **common)
    bound = min(outcome.bound, outcome.objective) if math.isfinite(outcome.bound) else None
    if not found.complete:
        bound = found.least_usd if goal != "time" and math.isfinite(found.least_usd) else None
    gap = None if bound is None else (outcome.objective - bound) / max(abs(outcome.objective), 1e-12)
    if goal == "time":
        return SolverSummary(objective_usd=usd, bound_usd=None, gap=gap, objective="time", bound_hours=bound, **common)
    return SolverSummary(objective_usd=usd, bound_usd=bound, gap=gap, **common)


def _known_best(program: Program, outcome: solvers.Outcome, known: Ints) -> solvers.Outcome:
    """The best column that keeps every rule, for a solver that ran out of time without any: a plan, not a proof."""
    best = known[np.argmin(program.objective[known])]
    values = np.zeros(program.size)
    values[best] = 1.0
    return replace(outcome, values=values, objective=program.cost(values))


def solve_found(problem: Problem, found: Found, goal: Goal, backend: str, time_limit: float | None = None) -> Plan:
    """Hand the found columns to a solver and return the audited plan, or an infeasible one without relaxations."""
    return _plan(solve_chosen(problem, found, goal, backend, time_limit))


def solve_chosen(problem: Problem, found: Found, goal: Goal, backend: str, time_limit: float | None = None) -> Answer:
    """The same, with the column that the plan is of."""
    objective: Objective = "time" if goal == "time" else "cost"
    module = solvers.backend(backend)
    if not len(found.columns):
        nothing = solvers.Outcome("infeasible", None, None, math.inf, 0.0, "every column excluded by an exact argument")
        solver = summary(problem, found, nothing, backend, goal, None, 0)
        return no_plan(problem, solver, "infeasible" if found.complete else "feasible")
    program = formulate(found.columns, problem, objective, found.rules)
    outcome = solvers.solve(program, module, time_limit)
    if outcome.values is None:
        known = np.flatnonzero(found.admitted)
        if outcome.termination == "infeasible" or not len(known):
            solver = summary(problem, found, outcome, backend, goal, None, len(program.rows))
            proven = found.complete and outcome.termination == "infeasible"
            return no_plan(problem, solver, "infeasible" if proven else "feasible")
        outcome = _known_best(program, outcome, known)
    assert outcome.values is not None
    j = _tie_break(found, problem, program.objective, int(np.argmax(outcome.values)))
    root_gap = _root_gap(program, float(program.objective[j])) if backend == "pulp" else None
    solver = summary(problem, found, outcome, backend, goal, float(found.columns.usd[j]), len(program.rows), root_gap)
    proven = found.complete and outcome.termination == "optimal" and solver.gap is not None and solver.gap <= PROOF
    best = ChosenColumn.of(problem, found.columns, j)
    plan = plan_of(best, solver, "optimal" if proven else "feasible", certainty(problem, best.column))
    return Chosen(problem, best.column, audit(plan, problem))


def _plan(answer: Answer) -> Plan:
    return answer.plan if isinstance(answer, Chosen) else answer


def no_plan(problem: Problem, solver: SolverSummary, status: Status) -> Plan:
    """The answer that there is no plan: proven, or none found before the search was stopped (feasible)."""
    return Plan(
        status=status,
        solver=solver,
        cost=None,
        time=None,
        decisions=None,
        pools=[],
        binding=[],
        relaxations=[],
        warnings=list(problem.warnings),
        job=problem.request.job.name,
        provenance=PlanProvenance(
            catalogs=[CatalogUsed(name=p.name, as_of=p.as_of) for p in problem.catalog.provenance],
            prices=[],
            calibration=problem.request.calibration_name,
            error_band=ErrorBand(time=0.0, memory=0.0),
        ),
    )


def cheapest(problem: Problem, backend: str = "pulp", time_limit: float | None = None, reductions: bool = True) -> Plan:
    """The cheapest plan of the request (or the fastest, where its objective is time), proven and audited."""
    return _plan(chosen(problem, backend, time_limit, reductions))


def chosen(problem: Problem, backend: str = "pulp", time_limit: float | None = None, reductions: bool = True) -> Answer:
    """The same, with the column that the plan is of."""
    goal: Goal = "time" if problem.request.objective == "time" else "cost"
    start, seconds = time.perf_counter(), math.inf if time_limit is None else time_limit
    found = search(problem, goal, reductions=reductions, seconds=seconds)
    found = replace(found, seconds=time.perf_counter() - start)
    left = None if time_limit is None else max(time_limit - found.seconds, LEAST_SECONDS)
    return solve_chosen(problem, found, goal, backend, left)
