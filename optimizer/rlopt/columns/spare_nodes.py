"""Spare nodes: machines of the training pool's offer that stand ready, and whether the offer has that many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.problem import Columns, Ints, Pools, Problem
from rlopt.words import COLOCATED


def spares(problem: Problem, recovery: Ints) -> Ints:
    """Spare nodes by column, shape (columns,)."""
    return np.asarray(problem.recovery(lambda one: one.spare_nodes)[recovery], dtype=np.int64)


def per_node(values: Ints, first: Pools) -> Ints:
    """Whole numbers of a pool by node."""
    return np.asarray(values // first.nodes, dtype=np.int64)


def spares_stand(columns: Columns, problem: Problem) -> NDArray[np.bool_]:
    """Which columns' offers have a node more for each spare, shape (columns,)."""
    found = np.ones(len(columns), dtype=np.bool_)
    count = problem.recovery(lambda one: one.spare_nodes)[columns.recovery]
    if not np.any(count):
        return found
    colocated = columns.placement == COLOCATED
    for pools, mask in ((problem.colocated, colocated), (problem.training, ~colocated)):
        here = np.flatnonzero(mask & (count > 0))
        rows = columns.train[here]
        found[here] = pools.nodes[rows] + count[here] <= problem.market.max_nodes[pools.offer[rows]]
    return found
