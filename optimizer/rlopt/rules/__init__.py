"""Limits and floors, family by family. A new rule is one new module and one row in the table."""

from __future__ import annotations

from rlopt.problem import Columns, Problem
from rlopt.program import Row, dense_row
from rlopt.rules import (
    budget,
    checkpoints,
    choice,
    deadline,
    gpus,
    memory,
    phases,
    records,
    reward,
    share,
    simulator,
    stability,
    value_model,
)
from rlopt.rules.contract import Rule, RuleFamily, Scope

FAMILIES: tuple[RuleFamily, ...] = (
    choice,
    memory,
    deadline,
    budget,
    gpus,
    share,
    stability,
    value_model,
    checkpoints,
    records,
    simulator,
    reward,
    phases,
)


def rules_of(problem: Problem) -> list[Rule]:
    """Every rule that the request sets, in the table's order."""
    return [rule for family in FAMILIES for rule in family.rules(problem)]


def row_of(rule: Rule, columns: Columns, problem: Problem) -> Row | None:
    """The rule as a row over joint columns; None where candidates were filtered by it."""
    if rule.amount is None:
        return None
    name = f"{rule.name}_{rule.key}".replace(".", "_").replace("[", "_").replace("]", "").strip("_")
    return dense_row(name, rule.name, rule.key, rule.amount(columns, problem), rule.sense, rule.limit)


__all__ = ["FAMILIES", "Rule", "RuleFamily", "Scope", "row_of", "rules_of"]
