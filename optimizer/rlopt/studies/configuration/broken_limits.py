"""Limits and floors that a fixed set of pools does not keep: as few of them as leave something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlopt.problem import Problem
from rlopt.rules import Rule, rules_of
from rlopt.studies.cheapest import Found, find


def broken(problem: Problem, more: Sequence[Rule] = ()) -> tuple[str, ...] | None:
    """Keys of limits and floors that no column keeps together with the rest, ``more`` rules always kept.

    () where a column keeps them all, None where there is no column. No key can be left out of the answer: a floor that
    only the cheapest column breaks stays.
    """
    rules = rules_of(problem)

    def some(kept: Sequence[Rule]) -> Found | None:
        found = find(problem, "cost", [*kept, *more])
        return found if found.admitted.any() else None

    if some(rules) is not None:
        return ()
    unbound = some([rule for rule in rules if not rule.relaxable])
    if unbound is None:
        return None
    rows = np.flatnonzero(unbound.admitted)
    best = unbound.columns.take(rows[[int(np.argmin(unbound.columns.usd[rows]))]])
    lifted = [
        rule
        for rule in rules
        if rule.relaxable and rule.amount is not None and not rule.admits(rule.amount(best, problem))[0]
    ]
    for rule in sorted(lifted, key=lambda rule: rule.key):  # floors first: they are the last thing to give up
        fewer = [other for other in lifted if other is not rule]
        if some([other for other in rules if other not in fewer]) is not None:
            lifted = fewer
    return tuple(rule.key for rule in lifted)
