"""Pools that break a rule by themselves: no plan with them keeps it, whatever stands beside them.

Exact: amounts of rules that look at the pools alone add up over the pools, or are the least over them. So a training
pool that breaks a limit with nothing beside it breaks it always, and so does a pool that breaks it beside the training
pool that leaves it most room. A share is a ratio, where one pool makes up for another: it is not looked at here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join
from rlopt.columns.side_pools import alone
from rlopt.problem import Floats, Ints, Problem, SidePools
from rlopt.rules import Rule
from rlopt.search.groups import Served
from rlopt.words import PoolRole


def within_limits(
    problem: Problem, placement: int, served: Served, rules: Sequence[Rule], excluded: Counter[str]
) -> Served | None:
    """The pools of a group that break no rule by themselves, the others counted; None where a kind has none left."""
    limits = [_Limit(problem, placement, rule, excluded) for rule in rules if _of_single_pools(rule)]
    train = served.train
    for limit in limits:
        train = limit.kept(train, train, SidePools.none(len(train)))
        if not len(train):
            return None
    rollout, score = served.rollout, served.score
    for limit in limits:
        rollout = limit.kept(rollout, limit.roomiest(train, len(rollout)), alone(problem, PoolRole.SAMPLE, rollout))
        if score is not None:
            score = limit.kept(score, limit.roomiest(train, len(score)), alone(problem, PoolRole.SCORE, score))
    empty = not len(rollout) or (score is not None and not len(score))
    return None if empty else replace(served, train=train, rollout=rollout, score=score)


def _of_single_pools(rule: Rule) -> bool:
    return rule.scope.of_single_pools and rule.amount is not None and rule.sense != "=="


@dataclass(frozen=True, slots=True)
class _Limit:
    """One rule held against pools of one placement."""

    problem: Problem
    placement: int
    rule: Rule
    excluded: Counter[str]

    def kept(self, rows: Ints, train: Ints, beside: SidePools) -> Ints:
        """Those of ``rows`` whose training pool and side pools together keep the rule; the others are counted."""
        fine = self.rule.admits(self._amounts(train, beside))
        self.excluded[self.rule.key] += int((~fine).sum())
        return rows[fine]

    def roomiest(self, train: Ints, count: int) -> Ints:
        """The training pool that leaves most room for others, ``count`` times."""
        amounts = self._amounts(train, SidePools.none(len(train)))
        best = int(np.argmin(amounts) if self.rule.sense == "<=" else np.argmax(amounts))
        return np.full(count, train[best], dtype=np.int64)

    def _amounts(self, train: Ints, beside: SidePools) -> Floats:
        columns = join(self.problem, self.placement, train, beside, Checkpointing.first(np.ones_like(train)))
        assert self.rule.amount is not None
        return self.rule.amount(columns, self.problem)
