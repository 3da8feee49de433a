"""Candidates of a run whose responses change in length: estimated at each point of it, then averaged.

Where one pool waits for the other, or works on a step after it, the average over the run is that of the sums. Where
pools work side by side the longer of the two counts, and which one that is may change over the run: seconds are
therefore kept point by point (`Growth`), and an asynchronous step is put together at each point before it is averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rlopt.estimates import step_seconds
from rlopt.estimates.loop.run_average import SHARES, averaged
from rlopt.pools.context import Context
from rlopt.problem import Floats, Growth, Ints, Mix, Pools, Problem, Seconds, SidePools, Times
from rlopt.table import each, merged, starts_of
from rlopt.words import ASYNC, COLOCATED
from rlopt.workloads.growth import grows, workload_at


def at_points(context: Context) -> tuple[Context, ...]:
    """The context at each point of the run; itself alone where no length changes."""
    if not grows(context.workload):
        return (context,)
    return tuple(at_share(context, float(share)) for share in SHARES)


def at_share(context: Context, share: float) -> Context:
    """The context when ``share`` of the run is done."""
    return replace(context, workload=workload_at(context.workload, share))


def growth_of(asynchronous: Floats, band: Floats, in_step: Floats | None = None) -> Growth | None:
    """Seconds of pools at each point, shape (rows, points), with confident ones; ``band`` of shape (rows,).

    None where there is one point alone: the averages say it all.
    """
    if asynchronous.shape[1] == 1:
        return None
    return Growth(asynchronous if in_step is None else in_step, Seconds.banded(asynchronous, band))


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


def composed(placement: int, first: Pools, side: SidePools, problem: Problem, confident: bool) -> Floats:
    """Average seconds of a step of pools put together, shape (rows,); ``confident``: at the confidence quantile."""
    growth = first.times.growth
    if placement != ASYNC or growth is None:
        mine = first.times.in_step.both[confident]
        return compose(placement, mine, side.times.at(placement).both[confident], problem, first.variant)
    mine = growth.asynchronous.both[confident]
    other = side.times.growth
    theirs = np.zeros_like(mine) if other is None else other.asynchronous.both[confident]  # None: nothing is beside
    overhead = problem.overhead(placement, first.variant)[:, None]
    return averaged(step_seconds(mine, theirs, overhead, True, problem.exposed_share))


def growing(points: Sequence[Mix]) -> Mix:
    """Mixed pools over a run from their seconds at each point; splits follow the lengths, and are averages here."""
    run = merged(points, partial(np.stack, axis=-1))
    mean, growth = each(run, averaged), Growth(run.times.in_step.median, run.times.asynchronous)
    return replace(mean, times=replace(mean.times, growth=growth))


def quickest(pools: Pools) -> Pools:
    """The same pools with seconds that bound how long two of them take who share the samples.

    At each point a pool takes at least the part m of its average that any of them takes there. Two that share samples
    take 1 / (1 / a + 1 / b), which scales with both and rises with each: over the run at least that of their averages
    times the average of m.
    """
    growth = pools.times.growth
    if growth is None or not len(pools):
        return pools
    less, async_less = (float(averaged(_least_parts(part))) for part in (growth.in_step, growth.asynchronous.median))
    return replace(
        pools,
        times=Times(
            each(pools.times.in_step, lambda seconds: less * seconds),
            each(pools.times.asynchronous, lambda seconds: async_less * seconds),
            growth,
        ),
    )


def _least_parts(points: Floats) -> Floats:
    """The least ratio of any row to its average, by point; shape (points,)."""
    usable = points[np.isfinite(points).all(axis=1)]
    return np.asarray(np.min(usable / averaged(usable)[:, None], axis=0, initial=1.0))
