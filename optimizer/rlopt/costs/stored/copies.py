"""Checkpoint copies: how many there are of each role, what they ask of a store, and in which tier they stand.

Recent copies are resumable and turn over: keep + 1 stand while one is saved, restarts read them. Best copies are
weights: keep + 1 stand during the run, keep are kept after it, one is read when it is over. History accrues evenly,
so it is held half the run on average. Each GPU that trains writes its shard of a copy as one file. What is kept after
the run may move to another tier then (`costs.stored.tier_moves`), one that brings it back as soon as the recovery floor
asks.
History stays where it is: what is not read gains nothing by a move, and a collapse may read any of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import PlannedRun
from rlopt.columns.checkpoint_compression import hours_per_gb, size_share
from rlopt.costs.contract import once
from rlopt.costs.stored.tier_moves import Route, TierMove, choose_move, choose_way, way_parts
from rlopt.costs.stored.tiers import Stay, TierCharges, Values, free_share
from rlopt.problem import Columns, Floats, Ints, Problem
from rlopt.problem.tariff import Tariff, Tier
from rlopt.units import GIGA, SECONDS_PER_MINUTE, seconds_to_hours
from rlopt.words import COLOCATED


def copies(problem: Problem, steps: int) -> tuple[int, int, int]:
    """Copies at their peak: recent (keep + 1 while saving), best (likewise) and history."""
    floor = problem.request.floors.checkpoints
    recent = 1 if floor.keep_recent is None else floor.keep_recent
    best, every = floor.keep_best or 0, floor.history_every
    return recent + 1, best + 1 if best else 0, steps // every if every else 0


@once
def copies_by_column(columns: Columns, problem: Problem) -> Floats:
    """`copies` of every column, shape (columns, 3)."""
    steps, inverse = np.unique(columns.steps, return_inverse=True)
    table = np.array([copies(problem, int(value)) for value in steps], dtype=np.float64).reshape(-1, 3)
    counted: Floats = table[inverse]
    return counted


def shards(columns: Columns, problem: Problem) -> Floats:
    """Files of one copy: GPUs of the pool that trains, shape (columns,); none where a column has no GPUs."""
    gpus = np.zeros(len(columns))
    colocated = columns.placement == COLOCATED
    for pools, mask in ((problem.colocated, colocated), (problem.training, ~colocated)):
        if len(pools):
            gpus[mask] = pools.gpus[columns.train[mask]]
    return np.minimum(gpus, columns.gpus)


def stops(columns: Columns) -> Floats:
    """Stops that one run expects, shape (columns,)."""
    return np.asarray(columns.failures_per_hour * columns.expected_hours)


def recovery_minutes(problem: Problem, zone: Ints, size_bytes: Values, nodes: Floats) -> Floats:
    """Minutes to read ``size_bytes`` back to ``nodes`` nodes from each tier, shape (columns, tiers)."""
    tiers = problem.tiers
    seconds = np.reshape(size_bytes, (-1, 1)) / GIGA / (tiers.gb_s_per_node[zone] * nodes[:, None])
    minutes: Floats = tiers.restore_hours[zone] * 60.0 + seconds / SECONDS_PER_MINUTE
    return minutes


def kept_hours(problem: Problem) -> float:
    """Hours that copies are kept after the run."""
    return seconds_to_hours(problem.request.costs.keep_for.checkpoints)


def best_stay(problem: Problem, weights: Values, count: Values, hours: Values, files: Values) -> Stay:
    """Best copies of all runs: ``count`` at their peak, all but one of them kept, one read at the end of each run.

    ``weights`` is one copy's GB.
    """
    trials = problem.request.job.trials
    one = np.minimum(count, 1.0)  # the copy being written, and the one that is read; none where none is kept
    return Stay(
        gb=(count - one) * weights * trials,
        hours=hours + kept_hours(problem),
        written_gb=count * weights * trials,
        read_gb=one * weights * trials,
        puts=count * files * trials,
        gets=one * files * trials,
        brief_gb=one * weights * trials,
        brief_hours=hours,
        busy=hours,
        files=(count - one) * files * trials,
    )


def history_stay(problem: Problem, weights: Values, count: Values, hours: Values, files: Values) -> Stay:
    """History copies of all runs, held half the run on average; a collapse of the training reads one back."""
    trials = problem.request.job.trials
    gb, puts, stays = count * weights * trials, count * files * trials, hours / 2.0 + kept_hours(problem)
    collapses = problem.request.job.divergences * trials
    if not collapses:
        return Stay(gb, stays, gb, 0.0, puts)
    back = np.minimum(count, 1.0) * collapses
    return Stay(gb, stays, gb, back * weights, puts, back * files)


def collapses_to_recent(problem: Problem, history: Values) -> Values:
    """Collapses of one run that read a recent copy, there being no history to go back to."""
    return problem.request.job.divergences * (1.0 - np.minimum(history, 1.0))


def left_stay(problem: Problem, state_gb: Values, keep: Values, files: Values) -> Stay:
    """Recent copies of all runs that are kept after them, written already and read no more."""
    trials = problem.request.job.trials
    gb = keep * state_gb * trials
    return Stay(gb, kept_hours(problem), busy=0.0, files=keep * files * trials)


def quick_enough(columns: Columns, problem: Problem, gb: Values) -> NDArray[np.bool_]:
    """Tiers from which ``gb`` are back in time, shape (columns, tiers), or (1, tiers) where any will do."""
    floor = problem.request.floors.checkpoints.recovery_time
    if floor is None:
        return np.ones((1, problem.tiers.usd_gb_hour.shape[1]), dtype=np.bool_)
    nodes = columns.nodes.astype(np.float64)
    stored = gb * size_share(problem, columns.recovery) * GIGA
    minutes = recovery_minutes(problem, columns.zone, stored, nodes)
    unpacked = np.reshape(
        gb * hours_per_gb(problem, _offers(columns, problem), columns.nodes, columns.recovery), (-1, 1)
    )
    return np.asarray(minutes + unpacked * 60.0 <= floor / SECONDS_PER_MINUTE)


def _offers(columns: Columns, problem: Problem) -> Ints:
    """Offer of the pool that trains, shape (columns,)."""
    found, colocated = np.zeros(len(columns), dtype=np.int64), columns.placement == COLOCATED
    for pools, mask in ((problem.colocated, colocated), (problem.training, ~colocated)):
        if len(pools):
            found[mask] = pools.offer[columns.train[mask]]
    return found


def stored_state_gb(columns: Columns, problem: Problem) -> Values:
    """GB of a resumable copy as it is stored, by column."""
    return np.asarray(problem.checkpoint.state_gb(columns.variant) * size_share(problem, columns.recovery))


def stored_weights_gb(columns: Columns, problem: Problem) -> Values:
    """The same of a copy of weights."""
    return np.asarray(problem.checkpoint.weights_gb(columns.variant) * size_share(problem, columns.recovery))


def weight_stays(columns: Columns, problem: Problem) -> tuple[Stay, Stay]:
    """Best and history copies of every column."""
    peaks, files = copies_by_column(columns, problem), shards(columns, problem)
    weights, hours = stored_weights_gb(columns, problem), columns.expected_hours
    best = best_stay(problem, weights, peaks[:, 1], hours, files)
    return best, history_stay(problem, weights, peaks[:, 2], hours, files)


@once
def weight_ways(columns: Columns, problem: Problem) -> tuple[TierMove, TierMove]:
    """Ways of best and history copies that cost least.

    Where no tier meets the recovery floor, best copies stand beside the recent ones.
    """
    best, history = weight_stays(columns, problem)
    anywhere = np.ones((1, problem.tiers.usd_gb_hour.shape[1]), dtype=np.bool_)
    if problem.request.job.divergences:  # what a collapse goes back to must be there when asked for
        anywhere = (problem.tiers.restore_hours == 0.0)[columns.zone]
    quick = quick_enough(columns, problem, problem.checkpoint.weights_gb(columns.variant))
    return (
        choose_way(problem, columns.zone, best, quick, columns.tier),
        choose_way(problem, columns.zone, history, anywhere, columns.tier),
    )


@once
def weight_parts(columns: Columns, problem: Problem) -> tuple[TierCharges, TierCharges]:
    """Charges of best and history copies, USD by column."""
    best, history = (
        way_parts(problem, columns.zone, way, stay)
        for way, stay in zip(weight_ways(columns, problem), weight_stays(columns, problem), strict=True)
    )
    return best, history


@once
def left_way(columns: Columns, problem: Problem) -> tuple[Stay, TierMove]:
    """Recent copies that are kept after the run, and whether and where they move."""
    keep = copies_by_column(columns, problem)[:, 0] - 1.0
    stay = left_stay(problem, stored_state_gb(columns, problem), keep, shards(columns, problem))
    quick = quick_enough(columns, problem, problem.checkpoint.state_gb(columns.variant))
    return stay, choose_move(problem, columns.zone, columns.tier, stay, quick)


@once
def recent_parts(columns: Columns, problem: Problem) -> TierCharges:
    """Charges of the recent copies: in the column's tier during the run, their way afterwards; USD by column."""
    tiers, at = problem.tiers, (columns.zone, columns.tier)
    trials, state = problem.request.job.trials, stored_state_gb(columns, problem)
    saves, stopped = np.ceil(columns.steps / columns.interval_steps), stops(columns)
    files, hours = shards(columns, problem), columns.expected_hours
    peaks, least = copies_by_column(columns, problem), tiers.min_hours[at]
    peak, stopped = peaks[:, 0], stopped + collapses_to_recent(problem, peaks[:, 2])
    keep = peak - 1.0
    life = keep * hours / np.maximum(saves, 1.0)
    early = np.maximum(saves - keep, 0.0) * np.maximum(least - life, 0.0)
    stay, way = left_way(columns, problem)
    left = way_parts(problem, columns.zone, way, stay)
    during = tiers.usd_gb_hour[at] * (peak * hours + early) * (state * trials / (1.0 - free_share(problem)))
    return TierCharges(
        during + left.stored,
        trials * files * (saves * tiers.put_usd[at] + stopped * tiers.get_usd[at]) + left.requests,
        stopped * tiers.retrieval_per_gb[at] * (state * trials) + left.retrieval,
        saves * tiers.upload_per_gb[at] * (state * trials) + left.uploaded,
        stopped * tiers.download_per_gb[at] * (state * trials) + left.downloaded,
    )


def tariff_of(plan: PlannedRun, problem: Problem) -> Tariff:
    """Prices of the zone that a plan's pools stand in."""
    return problem.tariffs[problem.market.zones.index((plan.pools[0].provider, plan.pools[0].region))]


def role_tiers(plan: PlannedRun, problem: Problem) -> dict[str, Tier]:
    """Where a plan keeps its copies: recent, best, history."""
    tiers = {tier.name: tier for tier in tariff_of(plan, problem).tiers}
    return {role: tiers[use.tier] for use in plan.decisions.checkpoint.tiers for role in use.roles}


def role_routes(plan: PlannedRun, problem: Problem) -> dict[str, Route]:
    """The same with the tier that copies move to after the run."""
    found = {role: Route(tier) for role, tier in role_tiers(plan, problem).items()}
    tiers = {tier.name: tier for tier in tariff_of(plan, problem).tiers}
    moves = plan.decisions.checkpoint.moves
    for move in moves:
        found[move.role] = Route(found[move.role].first, tiers[move.to], move.after_hours)
    return found


def plan_stops(plan: PlannedRun) -> float:
    """Stops that one run of a plan expects."""
    return sum(p.failures_per_hour for p in plan.pools) * plan.time.expected_hours


def plan_returns(plan: PlannedRun, problem: Problem) -> float:
    """Times that one run of a plan reads a recent copy back: stops, and collapses without a history."""
    return plan_stops(plan) + float(collapses_to_recent(problem, copies(problem, plan.time.steps)[2]))
