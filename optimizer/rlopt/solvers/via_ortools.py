"""OR-Tools CP-SAT on whole fractions of a micro-dollar.

CP-SAT wants integers. The objective is scaled up and rounded down, so its bound stays a bound; rows are relaxed by
the rounding (coefficients towards feasibility, limit outwards), and `exact` cuts off what double precision rejects.
"""

from __future__ import annotations

import importlib.util
import math
import time
from typing import Any

import numpy as np

from rlopt.errors import SolverError
from rlopt.program import Program, Row
from rlopt.solvers.contract import Outcome, Termination

NAME = "ortools"
LARGEST_OBJECTIVE = 2.0**48
"""Objective coefficients are scaled to about this size: a relative rounding of 1e-14, far below the promised 1e-6."""
LARGEST_TOTAL = 2.0**61
"""The sum of all coefficients stays below this, or CP-SAT refuses the model for fear of an overflow."""
ROW_SCALE = 1e9
LARGEST = 2.0**53


def available() -> bool:
    """Whether OR-Tools is installed."""
    return importlib.util.find_spec("ortools") is not None


def _integers(values: np.ndarray, scale: float, rounding: Any) -> list[int]:
    scaled = rounding(np.asarray(values, dtype=np.float64) * scale)
    if scaled.size and float(np.abs(scaled).max()) > LARGEST:
        raise SolverError("a coefficient is too large for the integer backend; use --backend pulp")
    return [int(value) for value in scaled]


def _add_row(model: Any, variables: list[Any], row: Row) -> None:
    """Add ``row`` with rounding that never cuts off a feasible integer point with non-negative values."""
    largest = max(abs(row.limit), float(np.abs(row.coefficients).max(initial=0.0)), 1e-300)
    whole = bool(np.all(row.coefficients == np.round(row.coefficients)) and row.limit == round(row.limit))
    scale = 1.0 if whole and largest < LARGEST else ROW_SCALE / largest
    chosen = [variables[int(j)] for j in row.index]
    target = row.limit * scale
    noise = 1e-9 * abs(target)
    if row.sense in ("<=", "=="):
        coefficients = _integers(row.coefficients, scale, np.floor)
        limit = math.ceil(target - noise) if whole else math.ceil(target) + 1
        model.add(sum(c * x for c, x in zip(coefficients, chosen, strict=True)) <= limit)
    if row.sense in (">=", "=="):
        coefficients = _integers(row.coefficients, scale, np.ceil)
        limit = math.floor(target + noise) if whole else math.floor(target) - 1
        model.add(sum(c * x for c, x in zip(coefficients, chosen, strict=True)) >= limit)


def solve_once(program: Program, time_limit: float | None) -> Outcome:
    """Solve ``program`` with CP-SAT. Raises SolverError when the model is refused or not all-integer."""
    try:
        import ortools
        from ortools.sat.python import cp_model
    except ImportError as error:  # pragma: no cover - depends on the installation
        raise SolverError(f"the ortools backend needs OR-Tools: {error}") from error
    if not bool(program.integer.all()):
        raise SolverError("the ortools backend takes integer variables only; use --backend pulp")
    if not bool(np.isfinite(program.lower).all() and np.isfinite(program.upper).all()):
        raise SolverError("the ortools backend takes bounded variables only; use --backend pulp")
    started = time.perf_counter()
    model = cp_model.CpModel()
    variables = [
        model.new_int_var(math.ceil(program.lower[j]), math.floor(program.upper[j]), f"x{j}")
        for j in range(program.size)
    ]
    for row in program.rows:
        _add_row(model, variables, row)
    largest = float(np.abs(program.objective).max(initial=0.0)) or 1.0
    scale = min(LARGEST_OBJECTIVE, LARGEST_TOTAL / max(program.size, 1)) / largest
    prices = _integers(program.objective, scale, np.floor)
    model.minimize(sum(price * x for price, x in zip(prices, variables, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 2
    solver.parameters.relative_gap_limit = 0.0
    solver.parameters.absolute_gap_limit = 0.0
    solver.parameters.random_seed = 1
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = max(time_limit, 0.01)
    try:
        status = solver.solve(model)
    except Exception as error:
        raise SolverError(f"CP-SAT failed: {error}") from error
    seconds = time.perf_counter() - started
    kinds: dict[Any, Termination] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.FEASIBLE: "time_limit",
        cp_model.UNKNOWN: "time_limit",
        cp_model.INFEASIBLE: "infeasible",
    }
    engine = f"CP-SAT {ortools.__version__}"
    if status not in kinds:
        raise SolverError(f"CP-SAT refused the model: {model.validate()}")
    if kinds[status] == "infeasible":
        return Outcome("infeasible", None, None, math.inf, seconds, engine)
    values = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = np.array([solver.value(variable) for variable in variables], dtype=np.float64)
    objective = None if values is None else program.cost(values)
    bound = solver.best_objective_bound / scale
    return Outcome(kinds[status], values, objective, bound, seconds, engine)
