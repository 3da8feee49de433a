"""Network: checkpoints to a store of another provider, state read back after stops, the final weights taken out.

Inside one zone traffic is free. USD = GB · price [USD/GB].
"""

from __future__ import annotations

import math

import numpy as np

from rlopt.costs.contract import Terms, runs
from rlopt.costs.storage import copies, copies_by_column
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem
from rlopt.units import bytes_to_gb

DIMENSION = "network"


def terms(columns: Columns, problem: Problem) -> Terms:
    """Uploads, reads after stops and the final download, USD by column."""
    state, weights = bytes_to_gb(problem.checkpoint.resumable_bytes), bytes_to_gb(problem.checkpoint.weights_bytes)
    trials, zone, tiers = problem.request.job.trials, columns.zone, problem.tiers
    saves = np.ceil(columns.steps / columns.interval_steps)
    further = copies_by_column(columns, problem)[:, 1:].sum(axis=1)
    far = np.max(np.where(np.isfinite(tiers.usd_gb_hour), tiers.upload_per_gb, 0.0), axis=1)
    egress = np.array([tariff.egress_per_gb for tariff in problem.tariffs])
    stops = columns.failures_per_hour * columns.expected_hours
    return {
        "checkpoint upload": trials
        * (saves * state * tiers.upload_per_gb[zone, columns.tier] + further * weights * far[zone]),
        "reads after stops": stops * tiers.retrieval_per_gb[zone, columns.tier] * (state * trials),
        "final weights": weights * egress[zone],
    }


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """Uploads, reads after stops and the final download of a finished plan."""
    if plan.time is None or plan.decisions is None:
        return []
    zone = problem.market.zones.index((plan.pools[0].provider, plan.pools[0].region))
    tariff = problem.tariffs[zone]
    tiers = {tier.name: tier for tier in tariff.tiers}
    checkpoint = plan.decisions.checkpoint
    tier = next(tiers[use.tier] for use in checkpoint.tiers if "recent" in use.roles)
    state, weights = bytes_to_gb(problem.checkpoint.resumable_bytes), bytes_to_gb(problem.checkpoint.weights_bytes)
    saves = math.ceil(plan.time.steps / checkpoint.interval_steps)
    trials = problem.request.job.trials
    further = sum(copies(problem, plan.time.steps)[1:])
    far = max(t.upload_per_gb for t in tariff.tiers)
    expected = sum(pool.failures_per_hour for pool in plan.pools) * plan.time.expected_hours
    return [
        BillLine(
            dimension="network",
            item="checkpoint upload",
            kind="elastic",
            usd=(saves * state * tier.upload_per_gb + further * weights * far) * trials,
            basis=f"{saves} saves x {state:.2f} GB x {tier.upload_per_gb:g} USD/GB + {further} weight copies x "
            f"{weights:.2f} GB x {far:g} USD/GB (0 inside the provider){runs(trials)}",
        ),
        BillLine(
            dimension="network",
            item="reads after stops",
            kind="hidden",
            usd=expected * state * tier.retrieval_per_gb * trials,
            basis=f"{expected:.4f} expected stops x {state:.2f} GB x {tier.retrieval_per_gb:g} USD/GB{runs(trials)}",
        ),
        BillLine(
            dimension="network",
            item="final weights",
            kind="fixed",
            usd=weights * tariff.egress_per_gb,
            basis=f"{weights:.2f} GB x {tariff.egress_per_gb:g} USD/GB to the internet"
            + (f" ({tariff.egress_note})" if tariff.egress_note else ""),
        ),
    ]
