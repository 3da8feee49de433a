"""Pools that break a rule by themselves: no plan with them keeps it, whatever stands beside them.

Exact: amounts of rules that look at the pools alone add up over the pools, or are the least over them. So a training
pool that breaks a limit with nothing beside it breaks it always, and so does a pool that breaks it beside the training
pool that leaves it most room. A share is a ratio, where one pool makes up for another: it is not looked at here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join
from rlopt.columns.side_pools import alone
from rlopt.problem import Columns, Ints, Problem, SidePools
from rlopt.rules import Rule
from rlopt.search.incumbents import Served
from rlopt.words import PoolRole


def keeping(
    problem: Problem, placement: int, served: Served, rules: Sequence[Rule], excluded: Counter[str]
) -> Served | None:
    """The pools of a group that break no rule by themselves, the others counted; None where a kind has none left."""
    train = served.train
    for rule in _of_pools(rules):
        fine = _fine(rule, _joined(problem, placement, train, SidePools.none(len(train))), problem)
        excluded[rule.key] += int((~fine).sum())
        train = train[fine]
        if not len(train):
            return None
    rollout = _beside(problem, placement, train, PoolRole.SAMPLE, served.rollout, rules, excluded)
    score = served.score
    if score is not None:
        score = _beside(problem, placement, train, PoolRole.SCORE, score, rules, excluded)
    empty = not len(rollout) or (score is not None and not len(score))
    return None if empty else replace(served, train=train, rollout=rollout, score=score)


def _of_pools(rules: Sequence[Rule]) -> Iterator[Rule]:
    return (one for one in rules if one.scope.of_single_pools and one.amount is not None and one.sense != "==")


def _joined(problem: Problem, placement: int, train: Ints, beside: SidePools) -> Columns:
    return join(problem, placement, train, beside, Checkpointing.first(np.ones_like(train)))


def _fine(rule: Rule, columns: Columns, problem: Problem) -> np.ndarray:
    assert rule.amount is not None
    return rule.admits(rule.amount(columns, problem))


def _beside(
    problem: Problem,
    placement: int,
    train: Ints,
    kind: PoolRole,
    rows: Ints,
    rules: Sequence[Rule],
    excluded: Counter[str],
) -> Ints:
    """Rows of one kind that keep every rule beside the training pool that leaves most room for it."""
    for rule in _of_pools(rules):
        assert rule.amount is not None
        amounts = rule.amount(_joined(problem, placement, train, SidePools.none(len(train))), problem)
        roomy = train[int(np.argmin(amounts) if rule.sense == "<=" else np.argmax(amounts))]
        first = np.full(len(rows), roomy, dtype=np.int64)
        fine = _fine(rule, _joined(problem, placement, first, alone(problem, kind, rows)), problem)
        excluded[rule.key] += int((~fine).sum())
        rows = rows[fine]
    return rows
