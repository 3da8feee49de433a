"""GPU counts:  all GPUs <= limits.max_gpus, and per quota row the GPUs that match it <= its max_gpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.market.matching import offers_that_match
from rlopt.problem import Columns, Problem
from rlopt.request import Quota
from rlopt.rules.contract import Rule, Scope
from rlopt.words import COLOCATED

NAME = "gpus"


def offer_matches(quota: Quota, problem: Problem) -> NDArray[np.bool_]:
    """Which offers of the market a quota row speaks of, shape (offers,); a missing key matches all."""
    found = offers_that_match(quota, problem.market, problem.catalog)
    if quota.offer is not None:
        found &= np.array([offer.id == quota.offer for offer in problem.market.offers], dtype=np.bool_)
    return found


def pool_gpus(columns: Columns, problem: Problem, matches: NDArray[np.bool_]) -> NDArray[np.float64]:
    """GPUs of each column in offers that match, shape (columns,)."""
    total = np.zeros(len(columns))
    colocated = columns.placement == COLOCATED
    for pools, index, mask in (
        (problem.colocated, columns.train, colocated),
        (problem.training, columns.train, ~colocated),
        (problem.rollout, columns.rollout, columns.rollout >= 0),
        (problem.rollout, columns.rollout2, columns.rollout2 >= 0),
        (problem.scoring, columns.score, columns.score >= 0),
        (problem.scoring, columns.score2, columns.score2 >= 0),
    ):
        rows = np.flatnonzero(mask)
        chosen = index[rows]
        held = pools.gpus[chosen]
        if index is columns.train:  # spare nodes are of the training pool's offer
            held = held + columns.spare_gpus[rows]
        total[rows] += np.where(matches[pools.offer[chosen]], held, 0)
    return total


def quota_rule(number: int, quota: Quota, problem: Problem) -> Rule:
    """One quota row as a rule."""
    matches = offer_matches(quota, problem)
    by_id = {offer.id: bool(hit) for offer, hit in zip(problem.market.offers, matches, strict=True)}

    def measure(plan: BilledRun, _: Problem) -> float:
        return float(sum(pool.gpus for pool in plan.pools if pool.gpus and by_id.get(pool.offer, False)))

    step = float(
        min((offer.shape.gpus for offer, hit in zip(problem.market.offers, matches, strict=True) if hit), default=1)
    )
    return Rule(
        "quota",
        f"limits.quotas[{number}]",
        "GPUs",
        "<=",
        float(quota.max_gpus),
        lambda columns, p: pool_gpus(columns, p, matches),
        measure,
        step=step,
        scope=Scope.POOLS,
    )


def rules(problem: Problem) -> list[Rule]:
    """max_gpus and every quota row."""
    limits, found = problem.request.limits, []
    if limits.max_gpus is not None:
        found.append(
            Rule(
                NAME,
                "limits.max_gpus",
                "GPUs",
                "<=",
                float(limits.max_gpus),
                lambda columns, _: columns.gpus.astype(np.float64),
                lambda plan, _: float(sum(pool.gpus for pool in plan.pools)),
                scope=Scope.POOLS,
            )
        )
    return found + [quota_rule(number, quota, problem) for number, quota in enumerate(limits.quotas)]
