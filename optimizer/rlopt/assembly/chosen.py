"""What was chosen: a joint column with its problem, and with the plan that it became.

A plan tells of machines, tiers and ways to run the job in words; here they stand as numbers, so that nothing has to
find them again by name.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlopt.answers.plan import FoundPlan
from rlopt.columns.joint import pool_rows
from rlopt.problem import Columns, Pools, Problem
from rlopt.problem.detail import PoolDetail
from rlopt.problem.tariff import Tariff
from rlopt.words import ASYNC, COLOCATED, Placement
from rlopt.workloads.variants import Variant


@dataclass(frozen=True, slots=True)
class ChosenPool:
    """One pool with GPUs: its candidate, what it does, and its part of the samples where the pool is mixed."""

    name: str
    pools: Pools
    row: int
    detail: PoolDetail
    share: float | None = None


@dataclass(frozen=True, slots=True)
class ChosenColumn:
    """A joint column of a problem; ``column`` has one row."""

    problem: Problem
    column: Columns

    @classmethod
    def of(cls, problem: Problem, columns: Columns, j: int) -> ChosenColumn:
        """Row ``j`` of some columns."""
        return cls(problem, columns.take(slice(j, j + 1)))

    @property
    def variant_number(self) -> int:
        """Which way to run the job it is."""
        return int(self.column.variant[0])

    @property
    def variant(self) -> Variant:
        """The way to run the job."""
        return self.problem.variants[self.variant_number]

    @property
    def placement(self) -> Placement:
        """How its pools share a step."""
        return Placement.at(int(self.column.placement[0]))

    @property
    def group_size(self) -> int:
        """Responses to one prompt."""
        return int(self.column.group_size[0])

    @property
    def zone(self) -> int:
        """Number of the place that its pools stand in."""
        return int(self.column.zone[0])

    @property
    def tariff(self) -> Tariff:
        """Prices of that place."""
        return self.problem.tariffs[self.zone]

    @property
    def environment(self) -> int:
        """Which of the numbers of environment instances it runs."""
        return int(self.column.environment[0])

    @property
    def instances(self) -> int:
        """Copies of the environment; 0 where the job has none."""
        counts = self.problem.workload.instances
        return counts[self.environment] if counts else 0

    @property
    def rows(self) -> list[tuple[Pools, int]]:
        """Its pools with GPUs as table and row number, the one that trains first."""
        return pool_rows(self.column, 0, self.problem)

    def pools(self) -> list[ChosenPool]:
        """Its pools with GPUs, told in detail, the one that trains first."""
        problem, column, first = self.problem, self.column, int(self.column.train[0])
        estimates = problem.estimates
        if self.placement.code == COLOCATED:
            name = "main" if problem.workload.generates else "train"
            detail = estimates.colocated_detail(int(problem.colocated.estimate[first]))
            return [ChosenPool(name, problem.colocated, first, detail)]
        detail = estimates.training_detail(int(problem.training.estimate[first]))
        found = [ChosenPool("train", problem.training, first, detail)]
        asynchronous = self.placement.code == ASYNC
        for name, pools, index, second, split in (
            ("rollout", problem.rollout, column.rollout, column.rollout2, column.split),
            ("score", problem.scoring, column.score, column.score2, column.score_split),
        ):
            rows = [int(part[0]) for part in (index, second) if part[0] >= 0]
            mixed = len(rows) > 1
            shares = [float(split[0]), 1.0 - float(split[0])] if mixed else [1.0]
            for number, (row, share) in enumerate(zip(rows, shares, strict=False), start=1):
                estimate = int(pools.estimate[row])
                detail = (
                    estimates.rollout_detail(estimate, asynchronous, share)
                    if pools is problem.rollout
                    else estimates.scoring_detail(estimate, share)
                )
                named = f"{name}-{number}" if mixed else name
                found.append(ChosenPool(named, pools, row, detail, share if mixed else None))
        return found


@dataclass(frozen=True, slots=True)
class Chosen(ChosenColumn):
    """The same with its plan."""

    plan: FoundPlan
