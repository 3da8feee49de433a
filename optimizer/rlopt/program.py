"""A mixed-integer linear program as plain data: no solver, no domain word.

minimise    objective · x
subject to  each row:  coefficients · x  (<=, >=, ==)  limit
            lower <= x <= upper, x integer where ``integer`` says so
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sense = Literal["<=", ">=", "=="]

FEASIBILITY = 1e-9
"""Relative slack with which a finished solution may miss a row: floating-point noise of the sum, no more."""


@dataclass(frozen=True, slots=True)
class Row:
    """One linear constraint over some of the variables.

    ``rule`` tags the family it came from; ``key`` is the dotted key of the request it stands for.
    """

    name: str
    rule: str
    key: str
    index: NDArray[np.int64]
    coefficients: Array
    sense: Sense
    limit: float

    def value(self, solution: Array) -> float:
        """Left-hand side at ``solution`` (shape (variables,))."""
        return float(self.coefficients @ solution[self.index])

    def holds(self, solution: Array) -> bool:
        """Whether the row holds at ``solution``, in double precision."""
        slack = FEASIBILITY * max(1.0, abs(self.limit))
        value = self.value(solution)
        if self.sense == "<=":
            return value <= self.limit + slack
        if self.sense == ">=":
            return value >= self.limit - slack
        return abs(value - self.limit) <= slack


@dataclass(frozen=True, slots=True)
class Program:
    """Variables, rows and objective; ``names`` label the variables for a written LP."""

    objective: Array
    lower: Array
    upper: Array
    integer: NDArray[np.bool_]
    rows: tuple[Row, ...]
    names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of variables."""
        return int(self.objective.shape[0])

    def violated(self, solution: Array) -> list[Row]:
        """Rows that ``solution`` misses, recomputed in double precision."""
        return [row for row in self.rows if not row.holds(solution)]

    def cost(self, solution: Array) -> float:
        """Objective at ``solution``."""
        return float(self.objective @ solution)


def binary_program(objective: Array, rows: tuple[Row, ...], names: tuple[str, ...] = ()) -> Program:
    """A program whose variables are all zero or one."""
    size = objective.shape[0]
    return Program(objective, np.zeros(size), np.ones(size), np.ones(size, dtype=np.bool_), rows, names)


def dense_row(name: str, rule: str, key: str, values: Array, sense: Sense, limit: float) -> Row:
    """A row over all variables; zero coefficients are left out."""
    index = np.flatnonzero(values)
    return Row(name, rule, key, index, np.asarray(values, dtype=np.float64)[index], sense, float(limit))


def as_lp(program: Program) -> str:
    """The program in CPLEX LP format, for people and for golden files."""

    def label(j: int) -> str:
        return program.names[j] if program.names else f"x{j}"

    def total(index: NDArray[np.int64], values: Array) -> str:
        terms = [f"{value:+.12g} {label(int(j))}" for j, value in zip(index, values, strict=True)]
        return " ".join(terms) if terms else "0"

    everything = np.arange(program.size)
    lines = ["Minimize", f" obj: {total(everything, program.objective)}", "Subject To"]
    for row in program.rows:
        sense = "=" if row.sense == "==" else row.sense
        lines.append(f" {row.name}: {total(row.index, row.coefficients)} {sense} {row.limit:.12g}")
    lines.append("Bounds")
    lines += [f" {program.lower[j]:.12g} <= {label(j)} <= {program.upper[j]:.12g}" for j in range(program.size)]
    whole = [label(j) for j in range(program.size) if program.integer[j]]
    lines += ["General", " " + " ".join(whole)] if whole else []
    return "\n".join([*lines, "End", ""])
