"""Lower bounds on the cost and hours of joint columns, from rates and seconds alone.

cost  >= fixed(placement, zone, K) + rate · trials · (start-up + idle + useful hours)
hours >= start-up + useful hours at the confidence quantile

``fixed`` is what storage, network, logging and people cost at the least: every cost term at zero rate, no failures
and the shortest conceivable run. All terms rise with the hours, so the sum stays below the true cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rlopt.candidates.joint import compose
from rlopt.costs import column_costs
from rlopt.problem import PLACEMENTS, Columns, Floats, Ints, Problem
from rlopt.units import SECONDS_PER_HOUR

MANY_NODES = 10**6


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one problem. ``fixed`` has shape (placements, zones, largest K + 1), ``steps`` (largest K + 1,).

    ``zone`` and ``size`` may be one number or arrays that broadcast with the seconds.
    """

    problem: Problem
    fixed: Floats
    cpu: Floats
    steps: Floats

    @staticmethod
    def of(problem: Problem) -> Bounds:
        """Precompute the fixed part for every placement, zone and group size."""
        cpu = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])
        sizes = sorted(problem.workload.steps)
        # a search may leave the recovery floor out, and then the best copies stand in a tier that it would bar
        loose = replace(problem, request=problem.request.replaced("floors.checkpoints.recovery_time", None))
        fixed = np.full((len(PLACEMENTS), len(problem.tariffs), max(sizes, default=0) + 1), np.inf)
        for size in sizes:
            table = _choices(problem, size)
            if not len(table):
                continue
            # the placement adds the same to every interval and tier: find the least of those once
            usd = column_costs(_idle(problem, table), loose)
            order = np.lexsort((usd, table[:, 1]))
            least = table[order[np.unique(table[order, 1], return_index=True)[1]]]
            for placement in range(len(PLACEMENTS)):
                least[:, 0] = placement
                fixed[placement, least[:, 1], size] = column_costs(_idle(problem, least), loose)
        steps = np.array([problem.workload.steps.get(size, 0) for size in range(fixed.shape[2])], dtype=np.float64)
        return Bounds(problem, fixed, cpu, steps)

    def cost(
        self, placement: int, zone: int | Ints, size: int | Ints, usd_per_hour: Floats, train: Floats, sample: Floats
    ) -> Floats:
        """Least USD of columns in one zone and group size, shape of the broadcast inputs."""
        problem, operations = self.problem, self.problem.operations
        step = compose(placement, train, sample, problem)
        useful = self.steps[size] * step / SECONDS_PER_HOUR
        hours = operations.overhead_hours + operations.idle_minutes / 60.0 + useful
        hourly = (usd_per_hour + self.cpu[zone]) * problem.request.job.trials
        return np.asarray(self.fixed[placement, zone, size] + hourly * hours, dtype=np.float64)

    def hours(self, placement: int, size: int | Ints, train: Floats, sample: Floats) -> Floats:
        """Least confident hours, shape of the broadcast inputs."""
        problem = self.problem
        step = compose(placement, train, sample, problem)
        return problem.operations.overhead_hours + self.steps[size] * step / SECONDS_PER_HOUR


def _choices(problem: Problem, size: int) -> np.ndarray:
    """Every (placement 0, zone, group size, interval, tier), shape (rows, 5)."""
    tiers = np.array([len(tariff.tiers) for tariff in problem.tariffs], dtype=np.int64)
    intervals = np.array(problem.intervals[size], dtype=np.int64)
    zone = np.repeat(np.arange(len(tiers)), tiers)
    tier = np.arange(len(zone)) - np.repeat(np.cumsum(tiers) - tiers, tiers)
    count = len(intervals)
    return np.stack(
        [
            np.zeros(len(zone) * count, dtype=np.int64),
            np.repeat(zone, count),
            np.full(len(zone) * count, size),
            np.tile(intervals, len(zone)),
            np.repeat(tier, count),
        ],
        axis=1,
    )


def _idle(problem: Problem, table: np.ndarray) -> Columns:
    """Columns that cost nothing by the hour and run no longer than start-up: the least of every other cost."""
    size = len(table)
    ints, floats = np.zeros(size, dtype=np.int64), np.zeros(size)
    least = np.full(size, problem.operations.overhead_hours)
    return Columns(
        placement=table[:, 0],
        zone=table[:, 1],
        train=ints,
        rollout=ints,
        group_size=table[:, 2],
        steps=np.array([problem.workload.steps[int(k)] for k in table[:, 2]], dtype=np.int64),
        update_precision=ints,
        staleness=ints,
        interval_steps=table[:, 3],
        tier=table[:, 4],
        gpus=ints,
        spot_gpus=ints,
        nodes=np.full(size, MANY_NODES),
        usd_per_hour=floats,
        cpu_usd_per_hour=floats,
        step_seconds=floats,
        failure_free_hours=least,
        expected_hours=least,
        confident_hours=least,
        failures_per_hour=floats,
        recovery_minutes=floats,
        usd=floats,
    )
