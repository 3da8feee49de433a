"""PuLP with HiGHS (default) or CBC.

PuLP's own status word is not trusted: after a time limit it can say Optimal with an unproven incumbent. The bound
and the status are read from the solver underneath.
"""

from __future__ import annotations

import importlib.util
import math
import time
import warnings
from typing import Any

import numpy as np

from rlopt.errors import SolverError
from rlopt.program import Program
from rlopt.solvers.contract import Outcome, Termination
from rlopt.solvers.quiet import quiet_stdout

NAME = "pulp"
RELATIVE_GAP = 1e-9
"""Stop only at this gap: the promise of 1e-6 on the answer leaves no room for the solver's default 1e-4."""


def available() -> bool:
    """Whether PuLP and HiGHS are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("pulp", "highspy"))


def scales(program: Program) -> list[float]:
    """One divisor per row that brings its numbers near 1, so absolute tolerances mean the same everywhere."""
    found = []
    for row in program.rows:
        largest = max(abs(row.limit), float(np.abs(row.coefficients).max(initial=0.0)))
        found.append(largest if largest > 0 else 1.0)
    return found


def translate(program: Program) -> tuple[Any, list[Any]]:
    """The program as a PuLP problem and its variables in order."""
    import pulp

    problem = pulp.LpProblem("plan", pulp.LpMinimize)
    variables = [
        pulp.LpVariable(
            f"x{j}",
            float(program.lower[j]),
            float(program.upper[j]),
            pulp.LpInteger if program.integer[j] else pulp.LpContinuous,
        )
        for j in range(program.size)
    ]
    problem += pulp.LpAffineExpression((variables[j], float(value)) for j, value in enumerate(program.objective))
    senses = {"<=": pulp.LpConstraintLE, ">=": pulp.LpConstraintGE, "==": pulp.LpConstraintEQ}
    for number, (row, scale) in enumerate(zip(program.rows, scales(program), strict=True)):
        expression = pulp.LpAffineExpression(
            (variables[int(j)], float(value) / scale) for j, value in zip(row.index, row.coefficients, strict=True)
        )
        problem += pulp.LpConstraint(expression, senses[row.sense], f"r{number}", row.limit / scale)
    for variable in variables:  # a variable without any coefficient must still reach the solver
        problem.addVariable(variable)
    return problem, variables


def _values(variables: list[Any], program: Program) -> np.ndarray | None:
    raw = [variable.varValue for variable in variables]
    if any(value is None for value in raw):
        return None
    values = np.array(raw, dtype=np.float64)
    return np.where(program.integer, np.round(values), values)


def solve_once(program: Program, time_limit: float | None) -> Outcome:
    """Solve ``program`` with HiGHS through PuLP. Raises SolverError when HiGHS fails."""
    try:
        import highspy
        import pulp
    except ImportError as error:  # pragma: no cover - depends on the installation
        raise SolverError(f"the pulp backend needs PuLP and highspy: {error}") from error
    started = time.perf_counter()
    try:
        with quiet_stdout(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem, variables = translate(program)
            solver = pulp.HiGHS(
                msg=False,
                gapRel=RELATIVE_GAP,
                timeLimit=time_limit,
                mip_abs_gap=0.0,
                mip_feasibility_tolerance=1e-9,
                primal_feasibility_tolerance=1e-9,
            )
            problem.solve(solver)
            model = problem.solverModel
            status = model.getModelStatus()
            info = model.getInfo()
            engine = f"HiGHS {model.version()}"
    except Exception as error:
        raise SolverError(f"HiGHS failed: {error}") from error
    seconds = time.perf_counter() - started
    kinds: dict[Any, Termination] = {
        highspy.HighsModelStatus.kOptimal: "optimal",
        highspy.HighsModelStatus.kInfeasible: "infeasible",
        highspy.HighsModelStatus.kTimeLimit: "time_limit",
        highspy.HighsModelStatus.kModelEmpty: "optimal",
    }
    termination = kinds.get(status)
    if termination is None:
        raise SolverError(f"HiGHS stopped with status {model.modelStatusToString(status)}")
    if termination == "infeasible":
        return Outcome("infeasible", None, None, math.inf, seconds, engine)
    feasible = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    values = _values(variables, program) if feasible else None
    objective = None if values is None else program.cost(values)
    mixed = bool(program.integer.any())
    bound = float(info.mip_dual_bound) if mixed else (objective if objective is not None else -math.inf)
    if not math.isfinite(bound):
        bound = -math.inf
    return Outcome(termination, values, objective, bound, seconds, engine)
