"""Candidates of a run whose responses change in length: estimated at each point of it, then averaged.

Where one pool waits for the other, or works on a step after it, the average over the run is that of the sums. Where
pools work side by side the longer of the two counts, and which one that is may change over the run: seconds out of step
are therefore kept point by point (`Pools.points`), and the step is put together at each point before it is averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rlopt.estimates import step_seconds
from rlopt.estimates.loop.run_average import SHARES, averaged
from rlopt.pools.context import Context
from rlopt.problem import Floats, Ints, Pools, Problem, SidePools
from rlopt.problem.detail import GrowingTimes, MixedTimes
from rlopt.table import starts_of
from rlopt.words import ASYNC, COLOCATED
from rlopt.workloads.growth import grows, workload_at

BLOCKS = 3
"""What `Pools.points` holds at each point: seconds out of step, those at the confidence quantile, seconds in step."""


def at_points(context: Context) -> tuple[Context, ...]:
    """The context at each point of the run; itself alone where no length changes."""
    if not grows(context.workload):
        return (context,)
    return tuple(at_share(context, float(share)) for share in SHARES)


def at_share(context: Context, share: float) -> Context:
    """The context when ``share`` of the run is done."""
    return replace(context, workload=workload_at(context.workload, share))


def as_points(steady: Floats, band: Floats, in_step: Floats | None = None) -> Floats:
    """Seconds of pools as `Pools.points`, shape (rows, points) to (rows, 3 points); ``band`` of shape (rows,).

    No columns where there is one point alone: the averages say it all.
    """
    if steady.shape[1] == 1:
        return np.zeros((len(steady), 0))
    return np.hstack([steady, steady * band[:, None], steady if in_step is None else in_step])


def blocks(points: Floats) -> tuple[Floats, ...]:
    """The three parts of `Pools.points`, shape (rows, points) each."""
    width = points.shape[1] // BLOCKS
    return tuple(points[:, number * width : (number + 1) * width] for number in range(BLOCKS))


def front(group: Ints, points: Floats) -> Ints:
    """Rows that no other row of their group is at most as slow as at every point; of equal rows the first."""
    left = np.lexsort((points.sum(axis=1), group))
    kept = [np.zeros(0, dtype=np.int64)]
    while len(left):
        first = starts_of(group[left])
        best = left[first]  # the least sum of what is left: nothing left beats it
        kept.append(best)
        left = left[(points[left] < points[best][np.cumsum(first) - 1]).any(axis=1)]
    return np.concatenate(kept)


def compose(placement: int, train: Floats, sample: Floats, problem: Problem, variant: Ints | None = None) -> Floats:
    """Seconds of one step from the pools' own seconds, for one placement; a colocated pool's own are all of them.

    Of averages over a run never more than the average of its steps: the longer of two is convex in both.
    """
    second = np.zeros(()) if placement == COLOCATED else sample
    overhead = problem.sync_seconds[placement] if variant is None else problem.overhead(placement, variant)
    return step_seconds(train, second, overhead, placement == ASYNC, problem.exposed_share)


def composed(placement: int, first: Pools, beside: SidePools, problem: Problem, late: bool) -> Floats:
    """Average seconds of a step of pools put together, shape (rows,); ``late``: at the confidence quantile."""
    if placement != ASYNC or not first.points.shape[1]:
        mine = first.confident_seconds if late else first.seconds
        return compose(placement, mine, beside.times(placement)[late], problem, first.variant)
    mine = blocks(first.points)[late]
    theirs = blocks(beside.points)[late] if beside.points.shape[1] else np.zeros_like(mine)  # nothing stands beside
    overhead = problem.overhead(placement, first.variant)[:, None]
    return averaged(step_seconds(mine, theirs, overhead, True, problem.exposed_share))


def growing(times: Sequence[MixedTimes]) -> GrowingTimes:
    """Mixed pools over a run from their seconds at each point; splits follow the lengths, and are averages here."""

    def stacked(name: str) -> Floats:
        return np.stack([getattr(one, name) for one in times], axis=-1)

    def mean(name: str) -> Floats:
        return averaged(stacked(name))

    apart = [stacked(name) for name in ("steady_seconds", "confident_steady_seconds", "seconds")]
    return GrowingTimes(
        mean("split"),
        mean("steady_split"),
        mean("seconds"),
        mean("confident_seconds"),
        mean("steady_seconds"),
        mean("confident_steady_seconds"),
        np.hstack(apart),
    )


def quickest(pools: Pools) -> Pools:
    """The same pools with seconds that bound how long two of them take who share the samples.

    At each point a pool takes at least the part m of its average that any of them takes there. Two that share samples
    take 1 / (1 / a + 1 / b), which scales with both and rises with each: over the run at least that of their averages
    times the average of m.
    """
    if not pools.points.shape[1] or not len(pools):
        return pools
    steady, _, in_step = blocks(pools.points)
    less, less_steady = (float(averaged(_least_parts(part))) for part in (in_step, steady))
    return replace(
        pools,
        seconds=less * pools.seconds,
        confident_seconds=less * pools.confident_seconds,
        steady_seconds=less_steady * pools.steady_seconds,
        confident_steady_seconds=less_steady * pools.confident_steady_seconds,
    )


def _least_parts(points: Floats) -> Floats:
    """The least ratio of any row to its average, by point; shape (points,)."""
    usable = points[np.isfinite(points).all(axis=1)]
    return np.asarray(np.min(usable / averaged(usable)[:, None], axis=0, initial=1.0))
