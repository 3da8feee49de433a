"""Limits and floors that a fixed set of pools does not keep: as few of them as leave something."""

from __future__ import annotations

from collections.abc import Sequence

from rlopt.problem import Columns, Problem
from rlopt.rules import Rule, rules_of
from rlopt.search.search import search


def broken(problem: Problem, more: Sequence[Rule] = ()) -> tuple[str, ...] | None:
    """Keys of limits and floors that no column keeps together with the rest, ``more`` rules always kept.

    () where a column keeps them all, None where there is no column. No key can be left out of the answer: a floor that
    only the cheapest column breaks stays.
    """
    rules = rules_of(problem)

    def best(kept: Sequence[Rule]) -> Columns | None:
        """The cheapest column (one row) that keeps some rules."""
        found = search(problem, "cost", [*kept, *more])
        row = found.best()
        return None if row is None else found.columns.take(slice(row, row + 1))

    if best(rules) is not None:
        return ()
    unbound = best([rule for rule in rules if not rule.relaxable])
    if unbound is None:
        return None
    lifted = [rule for rule in rules if rule.relaxable and not rule.kept_by(unbound, problem)[0]]
    for rule in sorted(lifted, key=lambda rule: rule.key):  # floors first: they are the last thing to give up
        fewer = [other for other in lifted if other is not rule]
        if best([other for other in rules if other not in fewer]) is not None:
            lifted = fewer
    return tuple(rule.key for rule in lifted)
