"""Operations: what failures cost, machines idle before release, and people.

loss = (expected - failure-free hours) · rate · trials; idle = idle hours · rate · trials;
people = (setup hours of the placement + on-call hours a day · days) · hourly price
"""

from __future__ import annotations

import numpy as np

from rlopt.costs.contract import Terms, runs
from rlopt.plan import BillLine, Plan
from rlopt.problem import PLACEMENTS, Columns, Problem
from rlopt.units import HOURS_PER_DAY

DIMENSION = "operations"


def engineer_usd(problem: Problem) -> float:
    """USD of one engineer hour; 0 where the request gives none."""
    price = problem.request.costs.engineer_hour
    return 0.0 if price is None else problem.request.costs.usd(price)


def idle_hours(problem: Problem) -> float:
    """Least hours that machines stand idle after a run."""
    return problem.operations.idle_minutes / 60.0


def setup_hours(problem: Problem, placement: str) -> float:
    """Engineer hours to set a placement up; 0 where the request gives none."""
    return problem.request.costs.setup_hours.of(placement)


def terms(columns: Columns, problem: Problem) -> Terms:
    """Loss to failures, idle machines and people, USD by column."""
    trials = problem.request.job.trials
    rate = columns.usd_per_hour - columns.committed_usd_per_hour + columns.cpu_usd_per_hour
    setup = np.array([setup_hours(problem, name) for name in PLACEMENTS])
    on_call = problem.request.costs.on_call_hours_per_day or 0.0
    price = engineer_usd(problem)
    return {
        "loss to failures": (columns.expected_hours - columns.failure_free_hours) * rate * trials,
        "idle before release": rate * (problem.operations.idle_minutes / 60.0 * trials),
        "setup": setup[columns.placement] * price,
        "on call": columns.expected_hours * (trials * on_call / HOURS_PER_DAY * price),
    }


def lines(plan: Plan, problem: Problem) -> list[BillLine]:
    """Loss to failures, idle machines and people of a finished plan."""
    if plan.time is None or plan.decisions is None:
        return []
    trials = problem.request.job.trials
    rate = sum(pool.usd_per_hour for pool in plan.pools if pool.pricing != "reserved")
    lost = plan.time.expected_hours - plan.time.failure_free_hours
    stops = sum(pool.failures_per_hour for pool in plan.pools) * plan.time.expected_hours
    idle = problem.operations.idle_minutes
    found = [
        BillLine(
            dimension="operations",
            item="loss to failures",
            kind="hidden",
            usd=lost * rate * trials,
            basis=f"{lost:.4f} h lost to {stops:.3f} expected stops x {rate:.4f} USD/h{runs(trials)}",
        ),
        BillLine(
            dimension="operations",
            item="idle before release",
            kind="hidden",
            usd=idle / 60.0 * rate * trials,
            basis=f"{idle:g} min x {rate:.4f} USD/h{runs(trials)}",
        ),
    ]
    price = engineer_usd(problem)
    setup = setup_hours(problem, plan.decisions.placement)
    on_call = problem.request.costs.on_call_hours_per_day or 0.0
    if price and setup:
        found.append(
            BillLine(
                dimension="operations",
                item="setup",
                kind="hidden",
                usd=setup * price,
                basis=f"{setup:g} engineer hours x {price:g} USD/h",
            )
        )
    if price and on_call:
        days = plan.time.expected_hours * trials / 24.0
        found.append(
            BillLine(
                dimension="operations",
                item="on call",
                kind="hidden",
                usd=days * on_call * price,
                basis=f"{days:.3f} days x {on_call:g} engineer hours a day x {price:g} USD/h",
            )
        )
    return found
