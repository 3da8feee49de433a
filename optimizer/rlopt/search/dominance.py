"""Pools beside a training pool that another set of pools beats in everything that a rule or a price looks at.

Exact: whatever training pool, interval and tier stand beside them, the plan with the better pools costs no more, takes
no longer and keeps every rule that the other keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.hours import Checkpointing, side_wait_hours
from rlopt.columns.joint import join
from rlopt.problem import Floats, Ints, Problem, SidePools
from rlopt.rules import Rule
from rlopt.words import ASYNC

BLOCK = 512
FEW = 256
"""Fewer pools than this are not worth the comparison."""
SHARE = "floors.on_demand_share"


def undominated(problem: Problem, placement: int, train: Ints, side: SidePools, rules: Sequence[Rule]) -> SidePools:
    """The rows that no other row beats; all rows of one zone, variant and group size, ``train`` likewise.

    Reserved offers bill in steps and are neither dropped nor compared with.
    """
    if problem.elastic:  # what the loss of a machine costs depends on its part of the pool and on the training pool
        return side
    elastic = np.flatnonzero(side.committed_usd == 0.0)
    if len(elastic) <= FEW or not len(train):
        return side
    kept = np.ones(len(side), dtype=bool)
    kept[elastic] = False
    kept[elastic[least(_attributes(problem, placement, train, side.take(elastic), rules))]] = True
    return side.take(kept)


def _attributes(problem: Problem, placement: int, train: Ints, side: SidePools, rules: Sequence[Rule]) -> Floats:
    """Everything that may decide, smaller is better; shape (rows, attributes).

    Amounts of rules are taken beside one training pool: they add up over pools, or are a least over them, so another
    would not change their order. The on-demand share is a ratio: its surplus adds up.
    """
    seconds, confident = side.times.at(placement).both
    growth = side.times.growth if placement == ASYNC else None
    columns = [] if growth is None else [part for points in growth.asynchronous.both for part in points.T]
    columns += [side.rate, seconds, confident, side.failures_per_hour, side.gpus, side.disk_gb]
    columns.append(problem.tariffs[int(problem.training.zone[train[0]])].boot_gb()[side.environment])
    one = np.full(len(side), train[0], dtype=np.int64)
    joint = join(problem, placement, one, side, Checkpointing.first(np.ones_like(one)))
    columns += [joint.faults_per_hour] if problem.request.costs.hours_per_failure else []
    columns += [side_wait_hours(problem, side)] if problem.wait_hours is not None else []
    for rule in rules:
        if rule.key == SHARE:
            share, spot = rule.limit, side.spot_gpus
            columns += [share * spot - (1.0 - share) * (side.gpus - spot), -side.shares(placement)[1]]
        elif rule.scope.of_pools and rule.amount is not None:
            amount = rule.amount(joint, problem)
            columns.append(amount if rule.sense == "<=" else -amount)
    table = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    varied = (table != table[0]).any(axis=0)
    return np.asarray(table[:, varied] if varied.any() else table[:, :1])


def least(table: Floats) -> NDArray[np.int64]:
    """Rows of ``table`` that no other row is at most equal to everywhere; of equal rows the first by order."""
    order = np.lexsort(table.T[::-1])
    front = np.zeros((0, table.shape[1]))
    chosen: list[NDArray[np.int64]] = []
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        block = table[rows]
        fine = ~_beaten(block, front)
        rows, block = rows[fine], block[fine]
        inside = (block[:, None, :] <= block[None, :, :]).all(axis=2)  # i beats j; sorted, so only earlier rows can
        first = np.flatnonzero(~np.triu(inside, 1).any(axis=0))
        chosen.append(rows[first])
        front = np.concatenate([front, block[first]])
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)


def _beaten(block: Floats, front: Floats) -> NDArray[np.bool_]:
    """Which rows of ``block`` some row of ``front`` beats, shape (rows,)."""
    found = np.zeros(len(block), dtype=bool)
    for start in range(0, len(front), BLOCK):
        part = front[start : start + BLOCK]
        rest = np.flatnonzero(~found)
        if not len(rest):
            break
        below: NDArray[np.bool_] = np.ones((len(rest), len(part)), dtype=np.bool_)
        for column in range(block.shape[1]):
            below &= np.asarray(part[None, :, column] <= block[rest, column][:, None])
        found[rest] = below.any(axis=1)
    return found
