"""Find every joint column that can be the answer: incumbents first, then bounds, then exact prices.

What is dropped is counted by the argument that excluded it, so that what is left is a proof: no column that is not
among those found is better than the best of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Columns, Problem
from rlopt.rules import Rule, rules_of
from rlopt.search.bounds import Bounds
from rlopt.search.clock import TimeLimit
from rlopt.search.groups import served_groups
from rlopt.search.incumbents import incumbents
from rlopt.search.mixed_search import mixed_offers
from rlopt.search.pricing import Pricing
from rlopt.search.prune import Goal, Prune
from rlopt.search.single_offers import colocated_pools, everything, single_offers
from rlopt.words import ASYNC, DISAGGREGATED, Placement


@dataclass(frozen=True, slots=True)
class Found:
    """Columns that can be the answer, what was excluded, and which of the columns keep every rule."""

    columns: Columns
    rules: tuple[Rule, ...]
    admitted: NDArray[np.bool_]
    excluded: dict[str, int]
    complete: bool = True
    """False where time was up before everything was looked at: the columns are then no proof."""
    least_usd: float = 0.0
    """No column of the problem costs less, whatever its pools."""
    seconds: float = 0.0
    """How long the search took, where the plan is to tell it."""

    def best(self, by_time: bool = False) -> int | None:
        """Row of the cheapest (or fastest) column that keeps every rule; None where there is none."""
        rows = np.flatnonzero(self.admitted)
        if not len(rows):
            return None
        values = self.columns.confident_hours if by_time else self.columns.usd
        return int(rows[np.argmin(values[rows])])


def search(
    problem: Problem,
    goal: Goal,
    rules: Sequence[Rule] | None = None,
    reductions: bool = True,
    seconds: float = math.inf,
    quick: bool = False,
) -> Found:
    """Search one problem under ``rules`` (the request's own by default), for ``seconds`` at most.

    Without ``reductions`` every column is priced and kept. ``quick`` looks at the most promising columns alone.
    """
    chosen = tuple(rules_of(problem) if rules is None else rules)
    # what the rules bar or cost at the least, whatever the pools; and what is known so far: nothing
    bounds, prune, time = Bounds.of(problem, chosen), Prune.of(goal, chosen), TimeLimit.of(seconds)
    pricing = Pricing(problem, bounds, chosen, prune, time, reductions)
    # pools that may stand together: of one zone, one way to run the job and one group size
    groups = list(served_groups(problem)) if len(problem.rollout) else []
    placements = [one for one in (DISAGGREGATED, ASYNC) if Placement.at(one) in problem.request.placements]
    if not reductions:
        everything(pricing, placements, groups)
    else:
        # 1. the most promising pools, priced exactly: what bounds are held against from here on
        incumbents(pricing, placements, groups)
        if not quick:
            # 2. pools of one offer: groups, then pools, then pairs whose bounds could still win, priced exactly
            colocated_pools(pricing)
            single_offers(pricing, placements, groups)
            # 3. pools mixed of two offers that could beat the best of these
            mixed_offers(pricing, placements, groups)
    # what is left is shown to the solver, with cheap columns over a limit beside it: they say what the limit costs
    columns = pricing.columns()
    least = float(np.min(bounds.fixed, initial=math.inf))
    excluded = {reason: count for reason, count in prune.excluded.items() if count}
    return Found(columns, chosen, admitted(columns, chosen, problem), excluded, not time.passed, least)


def admitted(columns: Columns, rules: Sequence[Rule], problem: Problem) -> NDArray[np.bool_]:
    """Which columns keep every rule, in double precision."""
    fine = np.ones(len(columns), dtype=bool)
    if len(columns):
        for rule in rules:
            fine &= rule.kept_by(columns, problem)
    return fine
