"""Simulator bandwidth:  Gb/s of the slowest node that samples or trains >= floors.simulator_bandwidth.

What a simulator sends arrives at a node that samples or trains, and no faster than that node's network. A machine
whose network no source states cannot be shown to keep the floor: it counts as 0 and is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BilledRun
from rlopt.problem import Columns, Problem
from rlopt.rules.contract import Rule, Scope
from rlopt.units import GIGA
from rlopt.words import COLOCATED, StageKind

NAME = "simulator"


def node_gbps(problem: Problem) -> NDArray[np.float64]:
    """Gb/s of one node of each offer, shape (offers,); 0 where unknown."""
    return np.array([offer.shape.internode_gbps or 0.0 for offer in problem.market.offers], dtype=np.float64)


def slowest_gbps(columns: Columns, problem: Problem) -> NDArray[np.float64]:
    """Gb/s of the slowest node of the pools that sample or train, shape (columns,)."""
    known = node_gbps(problem)
    slowest = np.full(len(columns), np.inf)
    colocated = columns.placement == COLOCATED
    for pools, index, mask in (
        (problem.colocated, columns.train, colocated),
        (problem.training, columns.train, ~colocated),
        (problem.rollout, columns.rollout, columns.rollout >= 0),
        (problem.rollout, columns.rollout2, columns.rollout2 >= 0),
    ):
        rows = np.flatnonzero(mask)
        slowest[rows] = np.minimum(slowest[rows], known[pools.offer[index[rows]]])
    return slowest


def rules(problem: Problem) -> list[Rule]:
    """One row where the job acts on simulators or robots; tools answer in text."""
    floor, world = problem.request.floors.simulator_bandwidth, problem.request.job.environment
    if floor is None or world is None or world.kind == "tools":
        return []
    known = {offer.id: offer.shape.internode_gbps or 0.0 for offer in problem.market.offers}

    def measure(plan: BilledRun, _: Problem) -> float:
        busy = [pool for pool in plan.pools if pool.gpus and {StageKind.SAMPLE, StageKind.TRAIN} & set(pool.roles)]
        return min((known.get(pool.offer, 0.0) for pool in busy), default=0.0)

    return [
        Rule(
            "simulator_bandwidth",
            "floors.simulator_bandwidth",
            "Gbps",
            ">=",
            floor / GIGA,
            slowest_gbps,
            measure,
            scope=Scope.POOLS,
        )
    ]
