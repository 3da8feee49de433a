"""Network: checkpoints to a store of another provider, state read back after stops, the final weights taken out.

Inside one zone traffic is free. USD = GB · price [USD/GB].
"""

from __future__ import annotations

import math

import numpy as np

from rlopt.costs.contract import Terms
from rlopt.costs.storage import copies, copies_by_column
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem
from rlopt.units import bytes_to_gb

DIMENSION = "network"


def terms(columns: Columns, problem: Problem) -> Terms:
    """Uploads, reads after stops and the final download, USD by column."""
    state, weights = bytes_to_gb(problem.checkpoint.resumable_bytes), bytes_to_gb(problem.checkpoint.weights_bytes)
    trials, size = problem.request.job.trials, len(columns)
    upload, retrieve, final = np.zeros(size), np.zeros(size), np.zeros(size)
    saves = np.ceil(columns.steps / columns.interval_steps)
    weight_copies = copies_by_column(columns, problem)[:, 1:].sum(axis=1)
    for zone in np.unique(columns.zone):
        tariff = problem.tariffs[zone]
        rows = np.flatnonzero(columns.zone == zone)
        final[rows] = weights * tariff.egress_per_gb
        far = max(tier.upload_per_gb for tier in tariff.tiers)
        for number, tier in enumerate(tariff.tiers):
            here = rows[columns.tier[rows] == number]
            upload[here] = (saves[here] * state * tier.upload_per_gb + weight_copies[here] * weights * far) * trials
            retrieve[here] = stops(columns, here) * state * tier.retrieval_per_gb * trials
    return {"checkpoint upload": upload, "reads after stops": retrieve, "final weights": final}


def stops(columns: Columns, rows: np.ndarray) -> np.ndarray:
    """Expected stops of one run: failures per hour times expected hours."""
    return columns.failures_per_hour[rows] * columns.expected_hours[rows]


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
        BillLine(dimension="network", item="checkpoint upload", kind="elastic",
                 usd=(saves * state * tier.upload_per_gb + further * weights * far) * trials,
                 basis=f"{saves} saves x {state:.2f} GB x {tier.upload_per_gb:g} USD/GB + {further} weight copies x "
                       f"{weights:.2f} GB x {far:g} USD/GB x {trials:g} runs (0 inside the provider)"),
        BillLine(dimension="network", item="reads after stops", kind="hidden",
                 usd=expected * state * tier.retrieval_per_gb * trials,
                 basis=f"{expected:.4f} expected stops x {state:.2f} GB x {tier.retrieval_per_gb:g} USD/GB x {trials:g} runs"),
        BillLine(dimension="network", item="final weights", kind="fixed", usd=weights * tariff.egress_per_gb,
                 basis=f"{weights:.2f} GB x {tariff.egress_per_gb:g} USD/GB egress ({tariff.egress_source})"),
    ]
