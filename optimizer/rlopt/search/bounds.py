"""Lower bounds on the cost and hours of joint columns, from rates and seconds alone.

cost  >= fixed(placement, zone, variant, K) + rate · ((runs + pilots) · (start-up + useful hours) + trials · idle)
hours >= start-up + useful hours at the confidence quantile

``fixed`` is what storage, network, logging and people cost at the least: every cost term at zero rate, no failures
and the shortest conceivable run. All terms rise with the hours, so the sum stays below the true cost. Reserved offers
bill at least their hours, but not while they stand idle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from rlopt.columns.hours import pilot_runs, within_deadline
from rlopt.costs import column_costs
from rlopt.costs.operations import idle_hours
from rlopt.pools.run_points import compose
from rlopt.problem import Columns, Floats, Pools, Problem, SidePools
from rlopt.program import FEASIBILITY
from rlopt.rules import Rule
from rlopt.search.groups import Group
from rlopt.units import SECONDS_PER_HOUR
from rlopt.words import COLOCATED, Placement

MANY_NODES = 10**6


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one problem.

    ``fixed`` has shape (placements, zones, variants, largest K + 1), ``steps`` (variants, largest K + 1). Groups may
    be of single numbers or of arrays that broadcast with the seconds.
    """

    problem: Problem
    fixed: Floats
    cpu: Floats
    steps: Floats
    idle_hours: float
    compute_usd: float = math.inf
    """Budget for machines: what costs more of them is out."""

    @staticmethod
    def of(problem: Problem, rules: Sequence[Rule] = ()) -> Bounds:
        """Precompute the fixed part for every placement, zone, variant and group size.

        It is infinite where some of ``rules`` bars every interval, tier and recovery option, whatever the pools.
        """
        cpu = np.array([tariff.cpu_usd_per_hour for tariff in problem.tariffs])
        most = max((size for variant in problem.variants for size in variant.steps), default=0)
        # a search may leave the recovery floor out, and then the best copies stand in a tier that it would bar
        loose = replace(problem, request=problem.request.replaced("floors.checkpoints.recovery_time", None))
        fixed = np.full((len(Placement), len(problem.tariffs), len(problem.variants), most + 1), np.inf)
        steps = np.zeros((len(problem.variants), most + 1))
        for number, variant in enumerate(problem.variants):
            for size, count in variant.steps.items():
                steps[number, size] = count
                table = _open(problem, loose, _choices(problem, number, size), rules)
                if not len(table):
                    continue
                # the placement adds the same to every interval and tier: find the least of those once
                usd = column_costs(_idle(problem, table), loose)
                order = np.lexsort((usd, table[:, 1]))
                least = table[order[np.unique(table[order, 1], return_index=True)[1]]]
                for placement in range(len(Placement)):
                    least[:, 0] = placement
                    fixed[placement, least[:, 1], number, size] = column_costs(_idle(problem, least), loose)
        idle = 0.0 if np.any(problem.market.term_hours) else idle_hours(problem)
        machines = min((rule.limit for rule in rules if rule.key == "limits.budget.compute"), default=math.inf)
        return Bounds(problem, fixed, cpu, steps, idle, machines)

    def cost(self, placement: int, group: Group, usd_per_hour: Floats, train: Floats, sample: Floats) -> Floats:
        """Least USD of columns in one group, shape of the broadcast inputs."""
        problem, operations = self.problem, self.problem.operations
        step = compose(placement, train, sample, problem)
        useful = self.steps[group.variant, group.size] * step / SECONDS_PER_HOUR
        hours = operations.overhead_hours + useful
        rate = usd_per_hour + self.cpu[group.zone]
        hourly = rate * problem.request.billed_runs
        fixed = self.fixed[placement, group.zone, group.variant, group.size]
        dear = hourly * hours > self.compute_usd * (1.0 + FEASIBILITY)
        beside = rate * (self.idle_hours * problem.request.job.trials + hours * pilot_runs(problem))
        return np.asarray(np.where(dear, np.inf, fixed + hourly * hours + beside), dtype=np.float64)

    def of_colocated(self, pools: Pools) -> tuple[Floats, Floats]:
        """Least USD and least confident hours of pools that do it all, shape (pools,)."""
        none = np.zeros(len(pools))
        group = Group(pools.zone, pools.variant, pools.group_size)
        cost = self.cost(COLOCATED, group, pools.rate, pools.times.in_step.median, none)
        cost = np.maximum(cost, self.committed(COLOCATED, group, pools.committed_usd))
        return cost, self.hours(COLOCATED, group, pools.times.in_step.confident, none)

    def of_pairs(self, placement: int, group: Group, train: Pools, beside: SidePools) -> tuple[Floats, Floats]:
        """The same of every pair in one group, reserved offers by the hour; shape (training pools, side pools)."""
        rate = train.rate[:, None] + beside.rate[None, :]
        median, confident = beside.times.at(placement).both
        cost = self.cost(placement, group, rate, train.times.in_step.median[:, None], median[None, :])
        return cost, self.hours(placement, group, train.times.in_step.confident[:, None], confident[None, :])

    def committed(self, placement: int, group: Group, usd: Floats) -> Floats:
        """Least USD of columns whose reserved offers bill ``usd`` at least, shape of the broadcast inputs."""
        return np.asarray(self.fixed[placement, group.zone, group.variant, group.size] + usd, dtype=np.float64)

    def hours(self, placement: int, group: Group, train: Floats, sample: Floats) -> Floats:
        """Least confident hours, shape of the broadcast inputs."""
        problem = self.problem
        step = compose(placement, train, sample, problem)
        useful = self.steps[group.variant, group.size] * step / SECONDS_PER_HOUR
        return np.asarray(within_deadline(problem, problem.operations.overhead_hours + useful, 0.0))


def _open(problem: Problem, loose: Problem, table: np.ndarray, rules: Sequence[Rule]) -> np.ndarray:
    """The rows of ``table`` that every rule of a group admits in some placement."""
    if not len(table):
        return table
    admitted = np.zeros(len(table), dtype=bool)
    for placement in range(len(Placement)):
        columns = _idle(problem, np.column_stack([np.full(len(table), placement), table[:, 1:]]))
        fine = np.ones(len(table), dtype=bool)
        for rule in rules:
            if rule.scope.of_group:
                fine &= rule.kept_by(columns, loose)
        admitted |= fine
    return np.asarray(table[admitted])


def _choices(problem: Problem, variant: int, size: int) -> np.ndarray:
    """Every (placement 0, zone, variant, group size, interval, tier, recovery option), shape (rows, 7)."""
    tiers = np.array([len(tariff.tiers) for tariff in problem.tariffs], dtype=np.int64)
    intervals = np.array(problem.intervals[variant, size], dtype=np.int64)
    zone = np.repeat(np.arange(len(tiers)), tiers)
    tier = np.arange(len(zone)) - np.repeat(np.cumsum(tiers) - tiers, tiers)
    count = len(intervals)
    table = np.stack(
        [
            np.zeros(len(zone) * count, dtype=np.int64),
            np.repeat(zone, count),
            np.full(len(zone) * count, variant),
            np.full(len(zone) * count, size),
            np.tile(intervals, len(zone)),
            np.repeat(tier, count),
        ],
        axis=1,
    )
    recovery_options = len(problem.recovery_options)
    return np.column_stack(
        [np.repeat(table, recovery_options, axis=0), np.tile(np.arange(recovery_options), len(table))]
    )


def _idle(problem: Problem, table: np.ndarray) -> Columns:
    """Columns that cost nothing by the hour and run no longer than start-up: the least of every other cost."""
    size = len(table)
    whole, zero, one = np.zeros(size, dtype=np.int64), np.zeros(size), np.ones(size)
    absent, least = np.full(size, -1, dtype=np.int64), np.full(size, problem.operations.overhead_hours)
    nothing = {field.name: whole if field.type == "Ints" else zero for field in fields(Columns)}
    some = {
        "placement": table[:, 0],
        "zone": table[:, 1],
        "variant": table[:, 2],
        "group_size": table[:, 3],
        "interval_steps": table[:, 4],
        "tier": table[:, 5],
        "recovery": table[:, 6],
        "steps": problem.steps(table[:, 2], table[:, 3]),
        "nodes": np.full(size, MANY_NODES),
        **dict.fromkeys(("rollout", "rollout2", "score", "score2"), absent),
        **dict.fromkeys(("split", "score_split", "mixed_share"), one),
        **dict.fromkeys(("failure_free_hours", "expected_hours", "confident_hours"), least),
    }
    return Columns(**nothing | some)
