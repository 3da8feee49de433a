"""Storage: data, base weights and checkpoints, by tier, over the run and the time they are kept after it.

USD = GB · price [USD/GB/h] · hours held / (1 - free share); a copy deleted before the tier's minimum duration is
billed for the minimum. Recent copies turn over: keep + 1 stand while one is saved. History accrues evenly, so it is
held half the run on average.
"""

from __future__ import annotations

import math

import numpy as np

from rlopt.costs.contract import Terms, runs
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Floats, Ints, Problem
from rlopt.units import HOURS_PER_MONTH, SECONDS_PER_MINUTE, bytes_to_gb, seconds_to_hours

DIMENSION = "storage"


def copies(problem: Problem, steps: int) -> tuple[int, int, int]:
    """Copies at their peak: recent (keep + 1 while saving), best (likewise) and history."""
    floor = problem.request.floors.checkpoints
    recent = 1 if floor.keep_recent is None else floor.keep_recent
    best, every = floor.keep_best or 0, floor.history_every
    return recent + 1, best + 1 if best else 0, steps // every if every else 0


def copies_by_column(columns: Columns, problem: Problem) -> Floats:
    """`copies` of every column, shape (columns, 3)."""
    steps, inverse = np.unique(columns.steps, return_inverse=True)
    table = np.array([copies(problem, int(value)) for value in steps], dtype=np.float64).reshape(-1, 3)
    counted: Floats = table[inverse]
    return counted


def base_weights_bytes(problem: Problem) -> float:
    """bf16 weights of every model that the job loads, each once."""
    names = {id(role.model): role.model.params for role in problem.workload.roles}
    return 2.0 * sum(names.values())


def free_share(problem: Problem) -> float:
    """Share of bought storage that stays free."""
    return problem.request.floors.free_storage or 0.0


def ready_usd_per_gb(problem: Problem, zone: Ints, hours: Floats) -> Floats:
    """Cheapest USD per GB to hold bytes that stay at hand for ``hours``; zone and hours of shape (columns,)."""
    tiers = problem.tiers
    price = tiers.usd_gb_hour[zone] * np.maximum(hours[:, None], tiers.min_hours[zone])
    cheapest: Floats = np.min(np.where(tiers.ready[zone], price, np.inf), axis=1)
    return cheapest


def recovery_minutes(problem: Problem, zone: Ints, size_bytes: float, nodes: Floats) -> Floats:
    """Minutes to read ``size_bytes`` back to ``nodes`` nodes from each tier, shape (columns, tiers)."""
    tiers = problem.tiers
    seconds = bytes_to_gb(size_bytes) / (tiers.gb_s_per_node[zone] * nodes[:, None])
    minutes: Floats = tiers.restore_hours[zone] * 60.0 + seconds / SECONDS_PER_MINUTE
    return minutes


def best_tier_usd(
    problem: Problem, zone: Ints, hours: Floats, nodes: Floats, kept_hours: float, recent: Ints
) -> tuple[Floats, Ints]:
    """Cheapest tier for a best copy that the recovery floor allows: USD per GB and tier number, shape (columns,).

    Where no tier meets the floor the copy stands beside the recent ones (``recent``: their tier numbers).
    """
    tiers = problem.tiers
    floor = problem.request.floors.checkpoints.recovery_time
    limit = math.inf if floor is None else floor / SECONDS_PER_MINUTE
    price = tiers.usd_gb_hour[zone] * np.maximum(hours[:, None] + kept_hours, tiers.min_hours[zone])
    slow = recovery_minutes(problem, zone, problem.checkpoint.weights_bytes, nodes) > limit
    barred = np.where(slow, np.inf, price)
    chosen = np.where(np.isfinite(barred).any(axis=1), np.argmin(barred, axis=1), recent)
    paid: Floats = price[np.arange(len(hours)), chosen]
    return paid, chosen


def history_tier_usd(problem: Problem, zone: Ints, hours: Floats, kept_hours: float) -> tuple[Floats, Ints]:
    """Cheapest tier for history copies, held half the run on average: USD per GB of one and tier number."""
    tiers = problem.tiers
    price = tiers.usd_gb_hour[zone] * np.maximum(hours[:, None] / 2.0 + kept_hours, tiers.min_hours[zone])
    chosen = np.argmin(price, axis=1)
    paid: Floats = price[np.arange(len(hours)), chosen]
    return paid, chosen


def recent_usd_per_gb(problem: Problem, columns: Columns, peak: Floats, kept_hours: float) -> Floats:
    """USD per GB of one resumable copy for the recent copies of a run, shape (columns,)."""
    price = problem.tiers.usd_gb_hour[columns.zone, columns.tier]
    least = problem.tiers.min_hours[columns.zone, columns.tier]
    saves = np.ceil(columns.steps / columns.interval_steps)
    keep, hours = peak - 1.0, columns.expected_hours
    life = keep * hours / np.maximum(saves, 1.0)
    early = np.maximum(saves - keep, 0.0) * np.maximum(least - life, 0.0)
    final = keep * np.maximum(least - kept_hours, 0.0)
    usd: Floats = price * (peak * hours + keep * kept_hours + early + final)
    return usd


def terms(columns: Columns, problem: Problem) -> Terms:
    """Checkpoints by role, dataset and base weights, USD by column."""
    request, zone, hours = problem.request, columns.zone, columns.expected_hours
    kept = seconds_to_hours(request.costs.keep_for.checkpoints)
    kept_data = seconds_to_hours(request.costs.keep_for.dataset)
    trials, scale = request.job.trials, 1.0 / (1.0 - free_share(problem))
    state, weights = bytes_to_gb(problem.checkpoint.resumable_bytes), bytes_to_gb(problem.checkpoint.weights_bytes)
    peaks = copies_by_column(columns, problem)
    best = best_tier_usd(problem, zone, hours, columns.nodes.astype(np.float64), kept, columns.tier)[0]
    history = history_tier_usd(problem, zone, hours, kept)[0]
    data = ready_usd_per_gb(problem, zone, hours * trials + kept_data)
    base = ready_usd_per_gb(problem, zone, hours * trials)
    return {
        "recent checkpoints": recent_usd_per_gb(problem, columns, peaks[:, 0], kept) * (state * trials * scale),
        "best checkpoints": best * peaks[:, 1] * (weights * trials * scale),
        "history checkpoints": history * peaks[:, 2] * (weights * trials * scale),
        "dataset": data * (bytes_to_gb(problem.request.dataset_bytes) * scale),
        "base weights": base * (bytes_to_gb(base_weights_bytes(problem)) * scale),
    }


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """One line a role of checkpoint, the dataset and the base weights; tiers as the plan's decisions say."""
    if plan.time is None or plan.decisions is None:
        return []
    request, hours, steps = problem.request, plan.time.expected_hours, plan.time.steps
    trials, free = request.job.trials, free_share(problem)
    kept = seconds_to_hours(request.costs.keep_for.checkpoints)
    zone = problem.market.zones.index((plan.pools[0].provider, plan.pools[0].region))
    tiers = {tier.name: tier for tier in problem.tariffs[zone].tiers}
    peak_recent, peak_best, peak_history = copies(problem, steps)
    state, weights = bytes_to_gb(problem.checkpoint.resumable_bytes), bytes_to_gb(problem.checkpoint.weights_bytes)
    saves = math.ceil(steps / plan.decisions.checkpoint.interval_steps)
    where = {role: tiers[use.tier] for use in plan.decisions.checkpoint.tiers for role in use.roles}
    tail = f" / (1 - {free:g} kept free)" + runs(trials)
    found = []

    def add(item: str, kind: str, usd: float, basis: str) -> None:
        found.append(
            BillLine.model_validate(
                {"dimension": "storage", "item": item, "kind": kind, "usd": usd, "basis": basis + tail}
            )
        )

    tier = where["recent"]
    keep = peak_recent - 1
    early = max(saves - keep, 0) * max(tier.min_hours - keep * hours / max(saves, 1), 0.0)
    gb_hours = state * (peak_recent * hours + keep * kept + early + keep * max(tier.min_hours - kept, 0.0))
    add(
        "recent checkpoints",
        "elastic",
        gb_hours * tier.usd_gb_hour / (1.0 - free) * trials,
        f"{tier.name}: {state:.2f} GB x ({peak_recent} copies x {hours:.3f} h + {keep} kept {kept:g} h + "
        f"{early:.1f} h of minimum duration) x {tier.usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month",
    )
    if peak_best:
        tier = where["best"]
        held = max(hours + kept, tier.min_hours)
        add(
            "best checkpoints",
            "elastic",
            weights * peak_best * held * tier.usd_gb_hour / (1.0 - free) * trials,
            f"{tier.name}: {peak_best} x {weights:.2f} GB x {held:.2f} h x "
            f"{tier.usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month",
        )
    if peak_history:
        tier = where["history"]
        held = max(hours / 2.0 + kept, tier.min_hours)
        add(
            "history checkpoints",
            "elastic",
            weights * peak_history * held * tier.usd_gb_hour / (1.0 - free) * trials,
            f"{tier.name}: {peak_history} x {weights:.2f} GB x {held:.2f} h on average x "
            f"{tier.usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month",
        )
    usable = [tier for tier in tiers.values() if tier.ready] or list(tiers.values())
    kept_data = seconds_to_hours(request.costs.keep_for.dataset)
    for item, gb, held in (
        ("dataset", bytes_to_gb(problem.request.dataset_bytes), hours * trials + kept_data),
        ("base weights", bytes_to_gb(base_weights_bytes(problem)), hours * trials),
    ):
        tier = min(usable, key=lambda t: t.usd_gb_hour * max(held, t.min_hours))
        usd = gb * tier.usd_gb_hour * max(held, tier.min_hours) / (1.0 - free)
        found.append(
            BillLine(
                dimension="storage",
                item=item,
                kind="fixed",
                usd=usd,
                basis=f"{tier.name}: {gb:.4g} GB x {max(held, tier.min_hours):.2f} h x "
                f"{tier.usd_gb_hour * HOURS_PER_MONTH:.5f} USD/GB/month / (1 - {free:g} kept free)",
            )
        )
    return found
