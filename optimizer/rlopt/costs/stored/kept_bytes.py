"""What a run keeps beside its checkpoints: data set, base weights, trajectories, log-probabilities, texts in files.

The data set serves all runs and is kept after the last; each run reads the version in use, which is hot. Of the
versions before it three are warm, the others and the raw data cold: no run reads them. Trajectories are written evenly
over a run, so they are held half of it on average, and are read once for training, within the steps that they may lag
behind. What a run reads stands at hand, in object or file storage that needs no restoring; what none reads any more
may move or stand anywhere (`costs.stored.tier_moves`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import PlannedRun
from rlopt.costs.contract import by_variant, once, variant_of
from rlopt.costs.stored.backups import CHANGES, DELTAS, WEIGHTS, WHOLE, backups, earlier, read_for_backups
from rlopt.costs.stored.backups import KINDS as BACKUPS
from rlopt.costs.stored.compression import compressed_stay, compression_of, cpu_usd, vcpu_hours, vcpu_usd_per_hour
from rlopt.costs.stored.tier_moves import WORTH, Route, TierMove, best_route, choose_way, route_charge, way_parts
from rlopt.costs.stored.tiers import Stay, TierCharges, Values, free_share
from rlopt.costs.text_log import FILES, logged, logged_by_column, text_stays
from rlopt.market.volumes import dataset_parts, trajectory_bytes, version_bytes
from rlopt.problem import Columns, Floats, Ints, Problem
from rlopt.problem.tariff import Tariff
from rlopt.request import Squeeze
from rlopt.units import HOURS_PER_MONTH, bytes_to_gb, seconds_to_hours
from rlopt.words import StageKind
from rlopt.workloads.variants import Variant

KINDS: Mapping[str, str] = {
    "dataset": "fixed",
    "earlier versions": "fixed",
    "data history": "fixed",
    "base weights": "fixed",
    "trajectories": "elastic",
    "stored log-probabilities": "elastic",
    **dict.fromkeys(FILES, "elastic"),
    **BACKUPS,
}


def base_weights_bytes(problem: Problem, variant: Variant | None = None) -> float:
    """bf16 weights of every model that the job loads, each once; of a choice of models the one that is chosen.

    A reference whose log-probabilities are stored is loaded all the same, to compute them.
    """
    roles, chosen = problem.workload.roles, None if variant is None else variant.picked
    if variant is not None and variant.action_head is not None:  # a head may leave a part of the policy out
        roles = variant.workload.roles
    elif variant is not None and chosen is not None:
        roles = (*(role for role in roles if role.name != chosen.role), *variant.workload.roles)
    names = {id(role.model): role.model.params for role in roles}
    return 2.0 * sum(names.values())


def base_weights_gb(problem: Problem, columns: Columns) -> Values:
    """GB of base weights by column; one number where neither a model nor a head is chosen."""
    if all(variant.picked is None and variant.action_head is None for variant in problem.variants):
        return bytes_to_gb(base_weights_bytes(problem))
    return by_variant(columns, problem, lambda variant, _: bytes_to_gb(base_weights_bytes(problem, variant)))


def trajectories(problem: Problem, group_size: Values, steps: Values) -> Values:
    """Trajectories that one run samples; those reused from a cache are not sampled again."""
    generate = problem.workload.of_kind(StageKind.SAMPLE)
    anew = generate[0].per_sample if generate else 0.0
    return problem.workload.prompts_per_step * anew * group_size * steps


def trajectory_gb(problem: Problem) -> float:
    """GB of one trajectory as it is stored, what the filter drops before storage taken off."""
    return bytes_to_gb(trajectory_bytes(problem.request, problem.workload, problem.operations))


def stays(
    problem: Problem,
    hours: Values,
    group_size: Values,
    steps: Values,
    log_prob_gb: Values | None,
    base_gb: Values,
    texts: Mapping[str, Values],
) -> dict[str, Stay]:
    """What is held by item, over all runs; numbers, or arrays of shape (columns,)."""
    request, trials = problem.request, problem.request.job.trials
    kept = seconds_to_hours(request.costs.keep_for.dataset)
    found = _dataset(problem, hours * trials, kept)
    found["base weights"] = Stay(base_gb, hours * trials)
    if problem.workload.acting is not None:
        sampled = trajectories(problem, group_size, steps) * trials
        drop = request.job.filter
        count = sampled * (1.0 - drop.drop if drop.before_storage else 1.0)
        gb = sampled * trajectory_gb(problem)
        lag = hours / steps * (1.0 + problem.staleness)
        found["trajectories"] = Stay(gb, hours / 2.0 + kept, gb, gb, count, count, busy=lag, files=count)
    if log_prob_gb is not None:
        gb = log_prob_gb * trials
        found["stored log-probabilities"] = Stay(gb, hours, gb, gb)
    return found | text_stays(problem, texts, hours, steps)


def _dataset(problem: Problem, used: Values, kept: float) -> dict[str, Stay]:
    """Hot, warm and cold parts of the data set, held for the ``used`` hours of all runs and ``kept`` hours more.

    Beside what runs read, each part is read as often a month as the request says, all projects that share it paying
    for their own reads.
    """
    request, data = problem.request, problem.request.job.data
    often, hours = data.accesses_per_month, used + kept
    reads = {"dataset": often.hot, "earlier versions": often.warm, "data history": often.cold}
    found = {}
    for (item, monthly), size in zip(reads.items(), dataset_parts(request), strict=True):
        gb = bytes_to_gb(size)
        if not gb and item != "dataset":
            continue
        later = gb * data.shared_by * monthly / HOURS_PER_MONTH * hours if monthly else 0.0
        found[item] = Stay(gb, hours, later_gb=later)
    version = bytes_to_gb(version_bytes(request))
    read = version * request.job.trials + read_for_backups(problem, used)
    found["dataset"] = replace(found["dataset"], read_gb=read, busy=used)
    return found | backups(problem, used, kept) | earlier(problem, used, kept)


UNREAD = ("earlier versions", "data history", WHOLE, CHANGES, WEIGHTS, DELTAS)
"""What no run reads: it may stand where bytes must be restored first, unless people read it."""


def stored_gb(problem: Problem, columns: Columns) -> Values | None:
    """GB of stored log-probabilities by column; None where no way to run the job stores any."""
    if all(variant.stored_bytes is None for variant in problem.variants):
        return None
    return by_variant(columns, problem, lambda variant, size: bytes_to_gb((variant.stored_bytes or {}).get(size, 0.0)))


class KeptBytes(NamedTuple):
    """What is kept of one item by column: as it is stored, how, and USD of compressing it where that is cheaper."""

    stay: Stay
    way: TierMove
    cpu_usd: Values = 0.0


@once
def held_ways(columns: Columns, problem: Problem) -> dict[str, KeptBytes]:
    """Everything held and the way that charges least for it, by column."""
    sizes, steps = columns.group_size.astype(np.float64), columns.steps.astype(np.float64)
    base = base_weights_gb(problem, columns)
    texts = logged_by_column(columns, problem)
    items = stays(problem, columns.expected_hours, sizes, steps, stored_gb(problem, columns), base, texts)
    ready, shared = problem.tiers.ready[columns.zone], problem.tiers.shared[columns.zone]
    found = {}
    for item, stay in items.items():
        anywhere = item in UNREAD and not np.any(stay.later_gb)
        allowed = ready | shared if anywhere else ready
        plain = KeptBytes(stay, choose_way(problem, columns.zone, stay, allowed, moves_to=ready | shared))
        compression = compression_of(problem, item)
        if compression is not None:
            plain = _cheaper(problem, columns.zone, plain, compression, allowed, ready | shared)
        found[item] = plain
    return found


def _cheaper(
    problem: Problem,
    zone: Ints,
    plain: KeptBytes,
    compression: Squeeze,
    allowed: NDArray[np.bool_],
    moves_to: NDArray[np.bool_],
) -> KeptBytes:
    """As it is or compressed, by column: what charges less, its vCPU hours counted."""
    small = compressed_stay(plain.stay, compression.ratio)
    way = choose_way(problem, zone, small, allowed, moves_to=moves_to)
    usd = cpu_usd(problem, zone, plain.stay, compression)
    before = np.asarray(way_parts(problem, zone, plain.way, plain.stay).total)
    pays = np.asarray(way_parts(problem, zone, way, small).total) + usd < before * WORTH
    chosen = {
        name: np.where(pays, getattr(small, name), getattr(plain.stay, name))
        for name in ("gb", "written_gb", "read_gb", "later_gb", "brief_gb")
    }
    both = TierMove(*(np.where(pays, new, old) for new, old in zip(way, plain.way, strict=True)))
    return KeptBytes(replace(plain.stay, **chosen), both, np.where(pays, usd, 0.0))


@once
def held_parts(columns: Columns, problem: Problem) -> dict[str, TierCharges]:
    """Charges of everything held, each in the way that charges least; USD by column."""
    ways = held_ways(columns, problem)
    return {item: way_parts(problem, columns.zone, one.way, one.stay) for item, one in ways.items()}


def compression_usd(columns: Columns, problem: Problem) -> Values:
    """USD of compressing what is held, by column."""
    return sum((one.cpu_usd for one in held_ways(columns, problem).values()), 0.0)


class Charge(NamedTuple):
    """What is kept of one item of a plan: as it is stored, how, what is charged, and vCPU hours of compressing it."""

    stay: Stay
    route: Route
    part: TierCharges
    vcpu_hours: float = 0.0
    compressed: bool = False


def held_charges(plan: PlannedRun, problem: Problem, tariff: Tariff) -> dict[str, tuple[Stay, Route, TierCharges]]:
    """The same of a finished plan: what is held, where, and what is charged."""
    return {item: (one.stay, one.route, one.part) for item, one in charges(plan, problem, tariff).items()}


def charges(plan: PlannedRun, problem: Problem, tariff: Tariff) -> dict[str, Charge]:
    """The same with what is compressed."""
    variant, size = variant_of(plan, problem), plan.decisions.group_size or 1
    stored, base = variant.stored_bytes, bytes_to_gb(base_weights_bytes(problem, variant))
    gb = None if stored is None else bytes_to_gb(stored.get(size, 0.0))
    usable = [tier for tier in tariff.tiers if tier.ready] or list(tariff.tiers)
    shared = [tier for tier in tariff.tiers if tier.shared or tier in usable]
    free, found = free_share(problem), dict[str, Charge]()
    texts = logged(plan, problem)
    for item, stay in stays(problem, plan.time.expected_hours, size, plan.time.steps, gb, base, texts).items():
        first = shared if item in UNREAD and not stay.later_gb else usable
        route = best_route(first, shared, stay, free)
        found[item] = Charge(stay, route, route_charge(route, stay, free))
        compression = compression_of(problem, item)
        if compression is not None:
            small = compressed_stay(stay, compression.ratio)
            other = best_route(first, shared, small, free)
            part, hours = route_charge(other, small, free), float(vcpu_hours(stay, compression))
            if float(part.total) + vcpu_usd_per_hour(tariff) * hours < float(found[item].part.total) * WORTH:
                found[item] = Charge(small, other, part, hours, compressed=True)
    return found


def disk_usd(columns: Columns, problem: Problem, hours: Values) -> Floats:
    """Disks rented for ``hours`` of each run, those that CPU machines boot from included, USD by column.

    A column without GPUs stands for a bound and has no machines.
    """
    price = np.array([0.0 if tariff.disk is None else tariff.disk.usd_gb_hour for tariff in problem.tariffs])
    boots = np.stack([tariff.boot_gb() for tariff in problem.tariffs])
    scale = problem.request.job.trials / (1.0 - free_share(problem))
    scorers = np.stack([tariff.scorers_boot_gb(len(problem.variants)) for tariff in problem.tariffs])
    booted = boots[columns.zone, columns.environment] + scorers[columns.zone, columns.variant]
    gb = columns.disk_gb + np.where(columns.gpus > 0, booted, 0.0)
    return np.asarray(gb * price[columns.zone] * hours * scale)
