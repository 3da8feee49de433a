"""Make a tolerance-bound solver exact.

A solver accepts a row within its tolerance: a column an instant past the deadline passes. The solution is checked
in double precision; one that misses a row is cut off and the program solved again, until a solution holds or none
is left. Valid for programs over zero-one variables, where every point can be cut off by itself.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rlopt.errors import SolverError
from rlopt.program import Program, dense_row
from rlopt.solvers.contract import Backend, Outcome

MOST_CUTS = 2000


def _point_cut(program: Program, values: np.ndarray, number: int) -> Program:
    """``program`` without the zero-one point ``values``."""
    ones = values > 0.5
    row = dense_row(f"cut{number}", "cut", "", np.where(ones, 1.0, -1.0), "<=", float(ones.sum()) - 1.0)
    return replace(program, rows=(*program.rows, row))


def solve(program: Program, backend: Backend, time_limit: float | None = None) -> Outcome:
    """Solve ``program`` so that the answer holds every row in double precision.

    The bound is the solver's own, of the last program: cuts remove points that are infeasible anyway, so it stays
    valid for the program given. Raises SolverError when cutting does not end.
    """
    started = time.perf_counter()
    current = program
    for number in range(MOST_CUTS):
        left = None if time_limit is None else max(0.01, time_limit - (time.perf_counter() - started))
        outcome = backend.solve_once(current, left)
        if outcome.values is None or not program.violated(outcome.values):
            return replace(outcome, seconds=time.perf_counter() - started)
        if not bool(np.all(program.integer & (program.upper <= 1.0) & (program.lower >= 0.0))):
            raise SolverError("the solver's answer misses a row beyond its tolerance")
        current = _point_cut(current, outcome.values, number)
    raise SolverError(f"more than {MOST_CUTS} answers of the solver missed a row by its tolerance")
