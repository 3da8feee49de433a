"""Compute: failure-free hours times the rate of every pool; tuning trials stand on a line of their own.

cost = rate [USD/h] · failure-free hours [h] · trials [runs]
"""

from __future__ import annotations

from rlopt.costs.contract import Terms
from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem

DIMENSION = "compute"


def terms(columns: Columns, problem: Problem) -> Terms:
    """GPU pools, CPU pools and the further trials, USD by column."""
    gpu = columns.usd_per_hour * columns.failure_free_hours
    cpu = columns.cpu_usd_per_hour * columns.failure_free_hours
    return {"gpu pools": gpu, "cpu pools": cpu, "tuning trials": (gpu + cpu) * (problem.request.job.trials - 1.0)}


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """One line a pool, and one for the trials after the first run."""
    if plan.time is None:
        return []
    hours = plan.time.failure_free_hours
    found = []
    for pool in plan.pools:
        per_node = pool.usd_per_hour / pool.nodes
        found.append(
            BillLine(
                dimension="compute",
                item=f"pool {pool.name}",
                kind="elastic" if pool.gpus else "fixed",
                usd=pool.usd_per_hour * hours,
                basis=f"{pool.nodes} x {pool.instance_type} at {per_node:.4f} USD/h x {hours:.4f} h without failures",
            )
        )
    trials = problem.request.job.trials
    if trials != 1:
        first = sum(line.usd for line in found)
        found.append(
            BillLine(
                dimension="compute",
                item="tuning trials",
                kind="hidden",
                usd=first * (trials - 1.0),
                basis=f"{first:.2f} USD a run x {trials - 1:g} further runs",
            )
        )
    return found
