"""From joint columns to a program: the costs' terms make the objective, the rules' rows make the constraints."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.problem import Columns, Problem
from rlopt.program import Program, binary_program
from rlopt.rules import Rule, row_of, rules_of
from rlopt.words import Objective


def formulate(
    columns: Columns, problem: Problem, objective: Objective = "cost", rules: Sequence[Rule] | None = None
) -> Program:
    """One binary per column; ``columns.usd`` must be filled. Objective in USD, or in confident hours."""
    values = columns.usd if objective == "cost" else columns.confident_hours
    rows = [row_of(rule, columns, problem) for rule in (rules_of(problem) if rules is None else rules)]
    names = tuple(f"x{j}" for j in range(len(columns)))
    return binary_program(values, tuple(row for row in rows if row is not None), names)
