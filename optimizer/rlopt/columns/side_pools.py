"""Everything beside the training pool: rollout and scoring pools, one offer each or mixed of two, put together.

A mixed pool adds whole replicas: the samples are split so that both offers are done at the same time. One mixed pool
of two offers is what is searched: the least rate for a wanted throughput of each pool under one binding share is a
linear program with one row a pool and one more, whose corners hold one offer a pool and one more
(docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rlopt.estimates.loop.run_average import averaged
from rlopt.pools.run_points import growing
from rlopt.problem import Columns, Floats, Growth, Ints, Mix, Pools, Problem, Seconds, SidePools, Times
from rlopt.table import each
from rlopt.words import PoolRole


def pools_of(problem: Problem, kind: PoolRole) -> Pools:
    """The table that a kind's row numbers point into."""
    return problem.rollout if kind == PoolRole.SAMPLE else problem.scoring


def parts_of(problem: Problem, of: SidePools | Columns) -> list[tuple[Pools, Ints]]:
    """The tables that side pools stand in, with their row numbers; -1 where a row has no such pool."""
    return [
        (problem.rollout, of.rollout),
        (problem.rollout, of.rollout2),
        (problem.scoring, of.score),
        (problem.scoring, of.score2),
    ]


def every_pool(problem: Problem, side: SidePools) -> Iterator[tuple[Ints, Pools, Ints]]:
    """Rows of ``side`` that have a pool of a kind, its table and its row there; the second of mixed pools too."""
    for pools, index in parts_of(problem, side):
        here = np.flatnonzero(index >= 0)
        yield here, pools, index[here]


def alone(problem: Problem, kind: PoolRole, rows: Ints) -> SidePools:
    """Pools of one offer each."""
    return _own(kind, rows, pools_of(problem, kind).take(rows))


def _own(kind: PoolRole, rows: Ints, pools: Pools) -> SidePools:
    """Pools of one offer each, and their row numbers, as side pools."""
    index: dict[str, Any] = {kind: np.asarray(rows, dtype=np.int64)}
    return replace(
        SidePools.none(len(rows)),
        **index,
        environment=pools.environment,
        gpus=pools.gpus,
        spot_gpus=np.where(pools.spot, pools.gpus, 0),
        usd_per_hour=pools.usd_per_hour,
        environment_usd_per_hour=pools.environment_usd_per_hour,
        failures_per_hour=pools.failures_per_hour,
        disk_gb=pools.disk_gb,
        committed_usd=pools.committed_usd,
        times=pools.times,
    )


def together(first: Floats, second: Floats) -> Floats:
    """Least seconds of two pools that share the samples, from the seconds each takes for all of them.

    No split is faster: a pool with the share f of the samples takes at least f of its time for all.
    """
    return np.asarray(1.0 / (1.0 / first + 1.0 / second))


def _linear(a: Times, b: Times) -> Mix:
    """Two pools whose work is in proportion to their samples."""
    if a.growth is None or b.growth is None:
        return _split(a.in_step, b.in_step)
    ends = zip(*(part.T for growth in (a.growth, b.growth) for part in growth.asynchronous.both), strict=True)
    return growing([_split(Seconds(*point[:2]), Seconds(*point[2:])) for point in ends])


def _split(a: Seconds, b: Seconds) -> Mix:
    """Two pools that take ``a`` and ``b`` for all of the samples, shape (pairs,), done at the same time."""
    split = b.median / (a.median + b.median)
    confident = np.maximum(split * a.confident, (1.0 - split) * b.confident)
    return Mix(split, split, Times.same(Seconds(together(a.median, b.median), confident)))


def mixed(problem: Problem, kind: PoolRole, first: Ints, second: Ints, bound: bool = False) -> SidePools:
    """Pools of two offers each, shape (pairs,).

    Rollouts are estimated at their share of the samples; with ``bound`` a lower bound stands in place of their
    seconds, quick enough to ask before they are worth estimating. Scoring is linear in the samples.
    """
    a, b = pools_of(problem, kind).take(first), pools_of(problem, kind).take(second)
    if kind == PoolRole.SCORE:
        mix = _linear(a.times, b.times)
    else:
        mix = (problem.estimates.mixed_bound if bound else problem.estimates.mixed)(a.estimate, b.estimate)

    def kept(split: Floats) -> Floats:
        """Part of the samples that offers never taken back bring in."""
        return np.asarray(np.where(a.spot, 0.0, split) + np.where(b.spot, 0.0, 1.0 - split))

    splits = {"score_split": mix.split}
    if kind == PoolRole.SAMPLE:
        splits = {"split": mix.split, "async_split": mix.async_split}
    return _own(kind, first, a).adding(
        _own(kind, second, b),
        **{f"{kind}2": second},
        **splits,
        mixed_share=kept(mix.split),
        async_mixed_share=kept(mix.async_split),
        times=mix.times,
    )


def with_scoring(problem: Problem, rollout: SidePools, score: SidePools) -> SidePools:
    """Rollout pools with scoring pools beside them, row by row.

    In step the teacher scores when sampling is done; where both run at once the slower one sets the pace, and the same
    share of the quicker one's time stays exposed as between sampling and training.
    """
    exposed = problem.exposed_share

    def at_once(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.maximum(a, b) + exposed * np.minimum(a, b))

    a, b, growth = rollout.times, score.times, None
    asynchronous = a.asynchronous.with_other(b.asynchronous, at_once)
    if a.growth is not None and b.growth is not None:
        points = a.growth.asynchronous.with_other(b.growth.asynchronous, at_once)
        asynchronous, growth = each(points, averaged), Growth(a.growth.in_step + b.growth.in_step, points)
    return rollout.adding(
        score,
        score=score.score,
        score2=score.score2,
        score_split=score.score_split,
        mixed_share=np.minimum(rollout.mixed_share, score.mixed_share),
        async_mixed_share=np.minimum(rollout.async_mixed_share, score.async_mixed_share),
        times=Times(a.in_step.with_other(b.in_step, np.add), asynchronous, growth),
    )


def may_mix(problem: Problem, kind: PoolRole, first: Ints, second: Ints) -> np.ndarray:
    """Which pairs of pools may be one: two different offers, one precision, one environment, GPUs enough.

    Policies that act are not mixed: their worlds are whole, and cannot be shared out like samples.
    """
    pools = pools_of(problem, kind)
    if kind == PoolRole.SAMPLE and problem.workload.acting is not None:
        return np.zeros(len(first), dtype=bool)
    fine = pools.offer[first] < pools.offer[second]
    fine &= pools.precision[first] == pools.precision[second]
    fine &= pools.environment[first] == pools.environment[second]
    return np.asarray(fine & (pools.gpus[first] + pools.gpus[second] <= problem.gpu_limit))


def every_side_pools(problem: Problem, rollout: Ints, score: Ints | None) -> SidePools:
    """Every way to serve one group, nothing pruned: for enumeration and for tests.

    ``rollout`` and ``score`` are row numbers of one zone and group size; ``score`` None where training pools score.
    """
    sampled = _alone_and_mixed(problem, PoolRole.SAMPLE, rollout)
    if score is None:
        return SidePools.join(sampled)
    scored = _alone_and_mixed(problem, PoolRole.SCORE, score)
    ways = ((sampled[0], scored[0]), (sampled[1], scored[0]), (sampled[0], scored[1]))
    return SidePools.join([every_pair(problem, a, b) for a, b in ways])


def every_pair(problem: Problem, rollout: SidePools, score: SidePools) -> SidePools:
    """Each rollout pool with each scoring pool."""
    i = np.repeat(np.arange(len(rollout)), len(score))
    j = np.tile(np.arange(len(score)), len(rollout))
    return with_scoring(problem, rollout.take(i), score.take(j))


def _alone_and_mixed(problem: Problem, kind: PoolRole, rows: Ints) -> list[SidePools]:
    if not problem.request.choices.mixed_pools:
        return [alone(problem, kind, rows), alone(problem, kind, rows[:0])]
    i, j = np.repeat(rows, len(rows)), np.tile(rows, len(rows))
    fine = may_mix(problem, kind, i, j)
    both = mixed(problem, kind, i[fine], j[fine])
    return [alone(problem, kind, rows), both.take(np.isfinite(both.times.in_step.median))]
