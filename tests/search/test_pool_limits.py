"""Pools that break a rule by themselves: none that some plan within the limits has, and all where no plan can be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from rlopt.rules import Rule, Scope, rules_of
from rlopt.search import mixed_search
from rlopt.search.exhaustive import every_column, keeps
from rlopt.search.groups import served_groups
from rlopt.search.pool_limits import within_limits
from rlopt.search.search import search
from rlopt.words import ASYNC, DISAGGREGATED
from tests.oracle.problems import random_problem


def _tightened(rules: list[Rule], amounts: dict[str, np.ndarray], at: float) -> list[Rule]:
    """Rules of the pools with limits so tight that only a share of the columns keeps each."""
    found = []
    for rule in rules:
        if not rule.scope.of_single_pools or rule.amount is None:
            continue
        share = at if rule.sense == "<=" else 1.0 - at
        found.append(replace(rule, limit=float(np.quantile(amounts[rule.key], share))))
    return found


def test_what_is_left_out_is_in_no_column_that_keeps_the_rules() -> None:
    dropped = emptied = kept_somewhere = 0
    for seed in range(3000, 3030):
        problem = random_problem(seed, mixes=seed % 2 == 0)
        columns, rules = every_column(problem), rules_of(problem)
        columns = columns.take(columns.placement >= 1)
        if not len(columns):
            continue
        amounts = {rule.key: rule.amount(columns, problem) for rule in rules if rule.amount is not None}
        for at in (0.1, 0.5):
            tight = _tightened(rules, amounts, at)
            fine = keeps(columns, problem, tight).all(axis=0)
            for served in served_groups(problem):
                for placement in (DISAGGREGATED, ASYNC):
                    left = within_limits(problem, placement, served, tight, Counter())
                    mine = columns.take(fine & (columns.placement == placement))
                    here = mine.take(np.isin(mine.train, served.train) & np.isin(mine.rollout, served.rollout))
                    emptied += left is None
                    kept_somewhere += len(here)
                    if left is None:
                        assert not len(here), (seed, placement)
                        continue
                    dropped += len(served.train) - len(left.train) + len(served.rollout) - len(left.rollout)
                    assert np.isin(here.train, left.train).all(), seed
                    assert np.isin(here.rollout, left.rollout).all(), seed
                    assert np.isin(here.rollout2[here.rollout2 >= 0], left.rollout).all(), seed
                    if left.score is not None and served.score is not None:
                        scored = here.score[here.score >= 0]
                        assert np.isin(scored, left.score).all(), seed
                        dropped += len(served.score) - len(left.score)
    assert dropped > 40
    assert emptied > 40
    assert kept_somewhere > 400


def test_pools_that_no_rule_admits_are_not_mixed(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    problem = next(one for one in (random_problem(seed, mixes=True) for seed in range(50)) if len(one.rollout) > 1)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("pools were mixed although none of them keeps the floor")

    monkeypatch.setattr(mixed_search.MixedSearch, "side_pools", never)
    floor = Rule(
        "update_precision",
        "floors.update_precision",
        "rank",
        ">=",
        99.0,
        lambda columns, _: columns.update_precision.astype(np.float64),
        lambda _plan, _problem: 0.0,
        scope=Scope.POOLS,
    )
    found = search(problem, "cost", [floor])
    assert found.complete
    assert not found.admitted.any()
    assert found.excluded["floors.update_precision"] > 0
