"""Everything beside the training pool: rollout and scoring pools, one offer each or mixed of two, put together.

A mixed pool adds whole replicas: the samples are split so that both offers are done at the same time. One mixed pool
of two offers is what is searched: the least rate for a wanted throughput of each pool under one binding share is a
linear program with one row a pool and one more, whose corners hold one offer a pool and one more
(docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from rlopt.estimates.loop.run_average import averaged
from rlopt.pools.run_points import blocks, growing
from rlopt.problem import Floats, Ints, Pools, Problem, SidePools
from rlopt.problem.detail import GrowingTimes, MixedTimes

Kind = Literal["rollout", "score"]


def pools_of(problem: Problem, kind: Kind) -> Pools:
    """The table that a kind's row numbers point into."""
    return problem.rollout if kind == "rollout" else problem.scoring


def every_pool(problem: Problem, beside: SidePools) -> Iterator[tuple[Ints, Pools, Ints]]:
    """Rows of ``beside`` that have a pool of a kind, its table and its row there; the second of mixed pools too."""
    kinds: tuple[tuple[Kind, tuple[Ints, ...]], ...] = (
        ("rollout", (beside.rollout, beside.rollout2)),
        ("score", (beside.score, beside.score2)),
    )
    for kind, indices in kinds:
        for index in indices:
            here = np.flatnonzero(index >= 0)
            yield here, pools_of(problem, kind), index[here]


def alone(problem: Problem, kind: Kind, rows: Ints) -> SidePools:
    """Pools of one offer each."""
    pools = pools_of(problem, kind).take(rows)
    none, one = np.full(len(rows), -1, dtype=np.int64), np.ones(len(rows))
    index = np.asarray(rows, dtype=np.int64)
    first = {"rollout": none, "score": none, kind: index}
    return SidePools(
        **first,
        rollout2=none,
        score2=none,
        split=one,
        steady_split=one,
        score_split=one,
        environment=pools.environment,
        gpus=pools.gpus,
        spot_gpus=np.where(pools.spot, pools.gpus, 0),
        usd_per_hour=pools.usd_per_hour,
        environment_usd_per_hour=pools.environment_usd_per_hour,
        failures_per_hour=pools.failures_per_hour,
        mixed_share=one,
        steady_mixed_share=one,
        disk_gb=pools.disk_gb,
        committed_usd=pools.committed_usd,
        seconds=pools.seconds,
        confident_seconds=pools.confident_seconds,
        steady_seconds=pools.steady_seconds,
        confident_steady_seconds=pools.confident_steady_seconds,
        points=pools.points,
    )


def together(first: Floats, second: Floats) -> Floats:
    """Least seconds of two pools that share the samples, from the seconds each takes for all of them.

    No split is faster: a pool with the share f of the samples takes at least f of its time for all.
    """
    return np.asarray(1.0 / (1.0 / first + 1.0 / second))


def _linear(a: Pools, b: Pools) -> MixedTimes:
    """Seconds of two pools whose work is in proportion to their samples."""
    if a.points.shape[1]:
        ends = zip(*(part.T for pools in (a, b) for part in blocks(pools.points)[:2]), strict=True)
        return growing([_split(one, other, late, other_late) for one, late, other, other_late in ends])
    return _split(a.seconds, b.seconds, a.confident_seconds, b.confident_seconds)


def _split(a: Floats, b: Floats, late_a: Floats, late_b: Floats) -> MixedTimes:
    """Median and confident seconds of two pools for all of the samples, shape (pairs,), to those of both together."""
    split = b / (a + b)
    confident = np.maximum(split * late_a, (1.0 - split) * late_b)
    seconds = together(a, b)
    return MixedTimes(split, split, seconds, confident, seconds, confident)


def mixed(problem: Problem, kind: Kind, first: Ints, second: Ints, bound: bool = False) -> SidePools:
    """Pools of two offers each, shape (pairs,).

    Rollouts are estimated at their share of the samples; with ``bound`` a lower bound stands in place of their
    seconds, quick enough to ask before they are worth estimating. Scoring is linear in the samples.
    """
    a, b = pools_of(problem, kind).take(first), pools_of(problem, kind).take(second)
    if kind == "score":
        return _mix(kind, first, second, a, b, _linear(a, b))
    estimate = problem.estimates.mixed_bound if bound else problem.estimates.mixed
    return _mix(kind, first, second, a, b, estimate(a.estimate, b.estimate))


def _mix(kind: Kind, first: Ints, second: Ints, a: Pools, b: Pools, times: MixedTimes) -> SidePools:
    none, one = np.full(len(a), -1, dtype=np.int64), np.ones(len(a))
    held: dict[str, np.ndarray] = {"rollout": none, "rollout2": none, "score": none, "score2": none}
    held |= {kind: first, f"{kind}2": second}

    def kept(split: Floats) -> Floats:
        """Part of the samples that offers never taken back bring in."""
        return np.asarray(np.where(a.spot, 0.0, split) + np.where(b.spot, 0.0, 1.0 - split))

    return SidePools(
        **held,
        split=times.split if kind == "rollout" else one,
        steady_split=times.steady_split if kind == "rollout" else one,
        score_split=times.split if kind == "score" else one,
        environment=a.environment,
        gpus=a.gpus + b.gpus,
        spot_gpus=np.where(a.spot, a.gpus, 0) + np.where(b.spot, b.gpus, 0),
        usd_per_hour=a.usd_per_hour + b.usd_per_hour,
        environment_usd_per_hour=a.environment_usd_per_hour,
        failures_per_hour=a.failures_per_hour + b.failures_per_hour,
        mixed_share=kept(times.split),
        steady_mixed_share=kept(times.steady_split),
        disk_gb=a.disk_gb + b.disk_gb,
        committed_usd=a.committed_usd + b.committed_usd,
        seconds=times.seconds,
        confident_seconds=times.confident_seconds,
        steady_seconds=times.steady_seconds,
        confident_steady_seconds=times.confident_steady_seconds,
        points=times.points if isinstance(times, GrowingTimes) else np.zeros((len(a), 0)),
    )


def with_scoring(problem: Problem, rollout: SidePools, score: SidePools) -> SidePools:
    """Rollout pools with scoring pools beside them, row by row.

    In step the teacher scores when sampling is done; out of step the slower one sets the pace, and the same share of
    the quicker one's time stays exposed as between sampling and training.
    """
    exposed = problem.exposed_share

    def beside(a: Floats, b: Floats) -> Floats:
        return np.asarray(np.maximum(a, b) + exposed * np.minimum(a, b))

    steady = beside(rollout.steady_seconds, score.steady_seconds)
    late = beside(rollout.confident_steady_seconds, score.confident_steady_seconds)
    points = rollout.points
    if points.shape[1]:
        a, b = blocks(points), blocks(score.points)
        apart = beside(a[0], b[0]), beside(a[1], b[1])
        steady, late, points = averaged(apart[0]), averaged(apart[1]), np.hstack([*apart, a[2] + b[2]])
    return SidePools(
        rollout=rollout.rollout,
        rollout2=rollout.rollout2,
        score=score.score,
        score2=score.score2,
        split=rollout.split,
        steady_split=rollout.steady_split,
        score_split=score.score_split,
        environment=rollout.environment,
        gpus=rollout.gpus + score.gpus,
        spot_gpus=rollout.spot_gpus + score.spot_gpus,
        usd_per_hour=rollout.usd_per_hour + score.usd_per_hour,
        environment_usd_per_hour=rollout.environment_usd_per_hour,
        failures_per_hour=rollout.failures_per_hour + score.failures_per_hour,
        mixed_share=np.minimum(rollout.mixed_share, score.mixed_share),
        steady_mixed_share=np.minimum(rollout.steady_mixed_share, score.steady_mixed_share),
        disk_gb=rollout.disk_gb + score.disk_gb,
        committed_usd=rollout.committed_usd + score.committed_usd,
        seconds=rollout.seconds + score.seconds,
        confident_seconds=rollout.confident_seconds + score.confident_seconds,
        steady_seconds=steady,
        confident_steady_seconds=late,
        points=points,
    )


def may_mix(problem: Problem, kind: Kind, first: Ints, second: Ints) -> np.ndarray:
    """Which pairs of pools may be one: two different offers, one precision, one environment, GPUs enough.

    Policies that act are not mixed: their worlds are whole, and cannot be shared out like samples.
    """
    pools = pools_of(problem, kind)
    if kind == "rollout" and problem.workload.acting is not None:
        return np.zeros(len(first), dtype=bool)
    fine = pools.offer[first] < pools.offer[second]
    fine &= pools.precision[first] == pools.precision[second]
    fine &= pools.environment[first] == pools.environment[second]
    return np.asarray(fine & (pools.gpus[first] + pools.gpus[second] <= problem.gpu_limit))


def every_side_pools(problem: Problem, rollout: Ints, score: Ints | None) -> SidePools:
    """Every way to serve one group, nothing pruned: for enumeration and for tests.

    ``rollout`` and ``score`` are row numbers of one zone and group size; ``score`` None where training pools score.
    """
    sampled = _alone_and_mixed(problem, "rollout", rollout)
    if score is None:
        return SidePools.join(sampled)
    scored = _alone_and_mixed(problem, "score", score)
    ways = ((sampled[0], scored[0]), (sampled[1], scored[0]), (sampled[0], scored[1]))
    return SidePools.join([every_pair(problem, a, b) for a, b in ways])


def every_pair(problem: Problem, rollout: SidePools, score: SidePools) -> SidePools:
    """Each rollout pool with each scoring pool."""
    i = np.repeat(np.arange(len(rollout)), len(score))
    j = np.tile(np.arange(len(score)), len(rollout))
    return with_scoring(problem, rollout.take(i), score.take(j))


def _alone_and_mixed(problem: Problem, kind: Kind, rows: Ints) -> list[SidePools]:
    if not problem.request.choices.mixed_pools:
        return [alone(problem, kind, rows), alone(problem, kind, rows[:0])]
    i, j = np.repeat(rows, len(rows)), np.tile(rows, len(rows))
    fine = may_mix(problem, kind, i, j)
    both = mixed(problem, kind, i[fine], j[fine])
    return [alone(problem, kind, rows), both.take(np.isfinite(both.seconds))]
