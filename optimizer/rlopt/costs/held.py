"""What a run keeps beside its checkpoints: data set, base weights, trajectories and stored log-probabilities.

The data set serves all runs and is kept after the last; each run reads one version of it. Trajectories are written
evenly over a run, so they are held half of it on average, and are read once for training. All of it stands at hand,
in object or file storage that needs no restoring.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlopt.candidates.tariff import Tariff, Tier
from rlopt.candidates.volumes import dataset_bytes, trajectory_bytes, version_bytes
from rlopt.costs.contract import by_variant, once, variant_of
from rlopt.costs.tiers import Parts, Stay, Values, charge, cheapest, choose, free_share, parts
from rlopt.plan import Plan
from rlopt.problem import Columns, Floats, Problem
from rlopt.units import bytes_to_gb, seconds_to_hours
from rlopt.workloads.variants import Variant

KINDS: Mapping[str, str] = {
    "dataset": "fixed",
    "base weights": "fixed",
    "trajectories": "elastic",
    "stored log-probabilities": "elastic",
}


def base_weights_bytes(problem: Problem, variant: Variant | None = None) -> float:
    """bf16 weights of every model that the job loads, each once; of a choice of models the one that is chosen.

    A reference whose log-probabilities are stored is loaded all the same, to compute them.
    """
    roles, chosen = problem.workload.roles, None if variant is None else variant.picked
    if variant is not None and chosen is not None:
        roles = (*(role for role in roles if role.name != chosen.role), *variant.workload.roles)
    names = {id(role.model): role.model.params for role in roles}
    return 2.0 * sum(names.values())


def base_weights_gb(problem: Problem, columns: Columns) -> Values:
    """GB of base weights by column; one number where no model is chosen."""
    if all(variant.picked is None for variant in problem.variants):
        return bytes_to_gb(base_weights_bytes(problem))
    return by_variant(columns, problem, lambda variant, _: bytes_to_gb(base_weights_bytes(problem, variant)))


def trajectories(problem: Problem, group_size: Values, steps: Values) -> Values:
    """Trajectories that one run samples; those reused from a cache are not sampled again."""
    generate = problem.workload.of_kind("generate")
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
) -> dict[str, Stay]:
    """What is held by item, over all runs; numbers, or arrays of shape (columns,)."""
    request, trials = problem.request, problem.request.job.trials
    kept = seconds_to_hours(request.costs.keep_for.dataset)
    version = bytes_to_gb(version_bytes(request))
    found = {
        "dataset": Stay(bytes_to_gb(dataset_bytes(request)), hours * trials + kept, read_gb=version * trials),
        "base weights": Stay(base_gb, hours * trials),
    }
    if problem.workload.acting is not None:
        sampled = trajectories(problem, group_size, steps) * trials
        drop = request.job.filter
        count = sampled * (1.0 - drop.drop if drop.before_storage else 1.0)
        gb = sampled * trajectory_gb(problem)
        found["trajectories"] = Stay(gb, hours / 2.0 + kept, gb, gb, count, count)
    if log_prob_gb is not None:
        gb = log_prob_gb * trials
        found["stored log-probabilities"] = Stay(gb, hours, gb, gb)
    return found


def stored_gb(problem: Problem, columns: Columns) -> Values | None:
    """GB of stored log-probabilities by column; None where no way to run the job stores any."""
    if all(variant.stored_bytes is None for variant in problem.variants):
        return None
    return by_variant(columns, problem, lambda variant, size: bytes_to_gb((variant.stored_bytes or {}).get(size, 0.0)))


@once
def held_parts(columns: Columns, problem: Problem) -> dict[str, Parts]:
    """Charges of everything held in the tier that charges least, USD by column."""
    sizes, steps = columns.group_size.astype(np.float64), columns.steps.astype(np.float64)
    base = base_weights_gb(problem, columns)
    items = stays(problem, columns.expected_hours, sizes, steps, stored_gb(problem, columns), base)
    found = {}
    for item, stay in items.items():
        tier = choose(problem, columns.zone, stay, problem.tiers.ready[columns.zone])
        found[item] = parts(problem, columns.zone, tier, stay)
    return found


def held_charges(plan: Plan, problem: Problem, tariff: Tariff) -> dict[str, tuple[Stay, Tier, Parts]]:
    """The same of a finished plan: what is held, where, and what is charged."""
    if plan.time is None or plan.decisions is None:
        return {}
    variant, size = variant_of(plan, problem), plan.decisions.group_size or 1
    stored, base = variant.stored_bytes, bytes_to_gb(base_weights_bytes(problem, variant))
    gb = None if stored is None else bytes_to_gb(stored.get(size, 0.0))
    usable = [tier for tier in tariff.tiers if tier.ready] or list(tariff.tiers)
    free, found = free_share(problem), {}
    for item, stay in stays(problem, plan.time.expected_hours, size, plan.time.steps, gb, base).items():
        tier = cheapest(usable, stay, free)
        found[item] = (stay, tier, charge(tier, stay, free))
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
