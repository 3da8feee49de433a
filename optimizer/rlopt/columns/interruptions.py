"""What the loss of a machine costs in time: the wait for another one, and what an elastic rollout pool loses.

A stop waits for a replacement unless a spare node is ready. A spare that was used is ready again once its own
replacement has come, `replace_wait` later; with Poisson stops of rate λ a stop finds all s spares out while the s-th
stop before it is younger than the wait W, so it waits

    W · f(s, λW),    f(s, x) = E[(1 - T/x)+], T ~ Gamma(s, 1),
                     f(s, x) = P(s, x) - (s / x) · P(s + 1, x),    P(s, x) = 1 - exp(-x) Σ_{k<s} x^k / k!

which is the whole wait without spares. Spares stand in for machines of the training pool alone.

Where rollout machines may come and go, the loss of one stops nobody else. Until it is replaced and started, the pool
samples with a share g less, and steps take compose(train, sample / (1 - g)) instead of compose(train, sample); what
the machine had not handed over, half of its part of a step's sampling on average, is sampled again, or less of it
where unfinished responses are copied every n of their tokens.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rlopt.columns.side_pools import every_pool
from rlopt.estimates import step_seconds
from rlopt.problem import Columns, Floats, Ints, Pools, Problem, SidePools
from rlopt.table import Bools
from rlopt.units import SECONDS_PER_HOUR, seconds_to_hours
from rlopt.words import ASYNC, COLOCATED


class Interruptions(NamedTuple):
    """Events per hour, shape (columns,): those that stop the run, and lost machines that do not."""

    per_hour: Floats
    lost_per_hour: Floats
    faults_per_hour: Floats
    """Failures of machines, reclaims left out, whether they stop the run or not."""


def _rollouts(problem: Problem, side: SidePools) -> list[tuple[Ints, Ints, Floats]]:
    """Rows that have a rollout pool, its row number, and its share of the samples; the second of mixed pools after."""
    found = []
    for index, second in ((side.rollout, False), (side.rollout2, True)):
        here = np.flatnonzero(index >= 0)
        found.append((here, index[here], np.full(len(here), float(second))))
    return found


def interruptions(problem: Problem, first: Pools, side: SidePools) -> Interruptions:
    """Events by column; rollout machines of an elastic launcher are lost without stopping the run."""
    total, lost = first.failures_per_hour + side.failures_per_hour, np.zeros(len(first))
    faults = total if problem.faults_per_node is None else _faults(problem, first, side)
    if not problem.elastic or not np.any(side.rollout >= 0):
        return Interruptions(total, lost, faults)
    for here, rows, _ in _rollouts(problem, side):
        lost[here] += problem.rollout.failures_per_hour[rows]
    stopping = first.failures_per_hour.copy()
    for index in (side.score, side.score2):
        here = np.flatnonzero(index >= 0)
        stopping[here] += problem.scoring.failures_per_hour[index[here]]
    return Interruptions(stopping, lost, faults)


def _faults(problem: Problem, first: Pools, side: SidePools) -> Floats:
    rate = problem.faults_per_node
    assert rate is not None
    found: Floats = first.nodes * rate[first.offer]
    for here, pools, rows in every_pool(problem, side):
        found[here] += pools.nodes[rows] * rate[pools.offer[rows]]
    return found


def unready(spares: Floats, load: Floats) -> Floats:
    """f(s, x) of the module's formula: the part of the wait that a stop sees, shape of the inputs; 1 without spares."""
    load = np.asarray(load, dtype=np.float64)
    found = np.ones(np.broadcast_shapes(np.shape(spares), load.shape))
    for count in np.unique(np.asarray(spares)).astype(int):
        if count == 0:
            continue
        x = np.maximum(load, 1e-12)
        terms = [x**k / math.factorial(k) for k in range(count + 1)]
        lower = 1.0 - np.exp(-x) * sum(terms[:-1])
        upper = 1.0 - np.exp(-x) * sum(terms)
        value = np.clip(lower - count / x * upper, 0.0, 1.0)
        found = np.where(np.asarray(spares) == count, np.where(load < 1e-4, 0.0, value), found)
    return found


def waiting_share(problem: Problem, first: Pools, stopped: Floats, recovery: Ints) -> Floats | float:
    """Hours that stops wait for machines, per hour of the run; ``stopped`` is the rate of all stops."""
    wait = seconds_to_hours(problem.request.recovery.replace_wait)
    if not wait:
        return 0.0
    trained, spares = first.failures_per_hour, problem.recovery(lambda one: one.spare_nodes)[recovery]
    rest = np.maximum(stopped - trained, 0.0)
    return np.asarray(wait * (trained * unready(spares, trained * wait) + rest))


def lost_share(
    problem: Problem, placement: int, first: Pools, side: SidePools, recovery: Ints, confident: bool
) -> Floats | float:
    """Hours that an elastic rollout pool's losses cost, per hour of the run; 0 where they stop the run instead.

    ``confident``: from seconds at the confidence quantile. All that stands beside training is taken to slow down,
    scoring on a pool of its own included, which is the safe side.
    """
    if not problem.elastic or not np.any(side.rollout >= 0):
        return 0.0
    train, sample = (times.both[confident] for times in (first.times.in_step, side.times.at(placement)))
    overhead, total = problem.overhead(placement, first.variant), np.zeros(len(side))
    down = problem.operations.restart_minutes / 60.0 + seconds_to_hours(problem.request.recovery.replace_wait)
    again = _again(problem)[recovery]
    split = side.shares(placement)[0]

    def step(seconds: Floats) -> Floats:
        return step_seconds(train, seconds, overhead, placement == ASYNC, problem.exposed_share)

    whole = step(sample)
    sampling = np.minimum(sample / whole, 1.0)
    for here, rows, second in _rollouts(problem, side):
        pools = problem.rollout
        part = np.where(second > 0.0, 1.0 - split[here], split[here])
        gone = np.zeros(len(side))
        gone[here] = part * np.minimum(pools.nodes_per_replica[rows] / pools.nodes[rows], 1.0)
        rate = np.zeros(len(side))
        rate[here] = pools.failures_per_hour[rows]
        slowed = step(sample / np.maximum(1.0 - gone, 1e-9))
        slower = np.where(gone >= 1.0 - 1e-9, 1.0, 1.0 - whole / slowed)
        total += rate * (down * slower + gone * again * sampling * sample / 2.0 / SECONDS_PER_HOUR)
    return total


def _again(problem: Problem) -> Floats:
    """Part of a lost machine's unfinished work that is sampled again, by recovery option: all of it without copies."""
    tokens = problem.request.job.response_tokens.average
    return problem.recovery(lambda one: min(one.rollouts_every / tokens, 1.0) if one.rollouts_every and tokens else 1.0)


def spare_nodes(problem: Problem, recovery: Ints) -> Ints:
    """Nodes of the training pool's offer that stand ready, by column, shape (columns,)."""
    return np.asarray(problem.recovery(lambda one: one.spare_nodes)[recovery], dtype=np.int64)


def spares_stand(columns: Columns, problem: Problem) -> Bools:
    """Which columns' offers have a node more for each spare, shape (columns,)."""
    found = np.ones(len(columns), dtype=np.bool_)
    count = spare_nodes(problem, columns.recovery)
    if not np.any(count):
        return found
    colocated = columns.placement == COLOCATED
    for pools, mask in ((problem.colocated, colocated), (problem.training, ~colocated)):
        here = np.flatnonzero(mask & (count > 0))
        rows = columns.train[here]
        found[here] = pools.nodes[rows] + count[here] <= problem.market.max_nodes[pools.offer[rows]]
    return found
