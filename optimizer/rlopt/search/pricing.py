"""Exact prices of the pairs that no bound excluded: what is learnt from them, and the columns that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join, options
from rlopt.costs import column_costs
from rlopt.problem import Columns, Ints, Problem, SidePools
from rlopt.rules import Rule
from rlopt.search.bounds import Bounds
from rlopt.search.clock import TimeLimit
from rlopt.search.could_win import CouldWin
from rlopt.search.dominance import undominated
from rlopt.search.groups import Group
from rlopt.search.prune import Prune
from rlopt.search.staircase import Stairs
from rlopt.table import group_ids
from rlopt.words import COLOCATED

PAIRS_BOUNDED, PAIRS_PRICED = 160_000, 2_500
"""Pairs that are bounded, and that are priced, at once."""
MOST_BARRED = 500
MOST_KEPT = 4_000


@dataclass(slots=True)
class Pricing:
    """One search under way. ``kept`` are feasible columns that can matter, ``barred`` cheap ones over a limit."""

    problem: Problem
    bounds: Bounds
    rules: Sequence[Rule]
    prune: Prune
    time: TimeLimit
    reductions: bool = True
    """Whether what cannot be the answer is left out; else all is kept."""
    kept: list[Columns] = field(default_factory=list)
    barred: list[Columns] = field(default_factory=list)

    def could_win(self, placement: int, group: Group, stairs: Stairs) -> CouldWin:
        """The test of pools in one group against what stands beside them."""
        return CouldWin(self.bounds, self.prune, placement, group, stairs)

    def undominated(self, placement: int, train: Ints, beside: SidePools) -> SidePools:
        """Side pools of one group that no other beats in everything; the others are counted."""
        kept = undominated(self.problem, placement, train, beside, self.rules)
        self.prune.excluded["dominated by other pools"] += len(beside) - len(kept)
        return kept

    def pairs(self, placement: int, group: Group, train: Ints, beside: SidePools) -> None:
        """Price every training pool of a group with every side pool, less the pairs that their bounds exclude."""
        if not len(train) or not len(beside):
            return
        rows = max(1, PAIRS_BOUNDED // len(beside))
        for start in range(0, len(train), rows):
            if self.time.over():
                return
            part = train[start : start + rows]
            stay = np.ones((len(part), len(beside)), dtype=bool)
            if self.reductions:
                stay = self._stay(placement, group, part, beside)
            i, j = np.nonzero(stay)
            self.price(placement, part[i], beside.take(j), screen=self.reductions)

    def _stay(self, placement: int, group: Group, train: Ints, beside: SidePools) -> NDArray[np.bool_]:
        """Which pairs could matter, shape (training pools, side pools)."""
        trained = self.problem.training.take(train)
        cost, hours = self.bounds.of_pairs(placement, group, trained, beside)
        committed = trained.committed_usd[:, None] + beside.committed_usd[None, :]
        cost = np.maximum(cost, self.bounds.committed(placement, group, committed))
        stay = self.prune.keep(cost, hours)
        over = trained.gpus[:, None] + beside.gpus[None, :] > self.problem.gpu_limit
        self.prune.excluded["limits.max_gpus"] += int((stay & over).sum())
        return stay & ~over

    def price(self, placement: int, train: Ints, beside: SidePools | None = None, screen: bool = False) -> None:
        """Price pairs exactly, learn from the feasible ones and keep what can matter.

        ``beside`` is None where one pool does it all. ``screen`` drops the pairs that break a rule of their pools
        first, instead of showing them to the solver.
        """
        tiers = self._quick_tiers() if screen else None
        if screen and len(train):
            kept = self._within_pool_rules(placement, train, beside)
            train, beside = train[kept], None if beside is None else beside.take(kept)
        for start in range(0, len(train), PAIRS_PRICED):
            if self.time.over():
                return
            part = slice(start, start + PAIRS_PRICED)
            others = None if beside is None else beside.take(part)
            columns = options(self.problem, placement, train[part], others, tiers, self.prune.excluded)
            searched = columns.gpus <= self.problem.gpu_limit  # all pools together, with reductions or without
            self.prune.excluded["limits.max_gpus"] += int((~searched).sum())
            columns = columns.take(searched)
            if len(columns):
                self._keep(columns.with_cost(column_costs(columns, self.problem)))

    def _keep(self, columns: Columns) -> None:
        """Take priced columns into account, and keep those that can matter."""
        admitted = np.ones(len(columns), dtype=bool)
        for rule in self.rules:
            fine = rule.kept_by(columns, self.problem)
            if rule.amount is not None and rule.name != "choice":
                self.prune.excluded[rule.key] += int((admitted & ~fine).sum())
            admitted &= fine
        self.prune.learn(columns.take(admitted))
        if self.reductions:
            stay = columns.usd <= self.prune.ceiling(columns.confident_hours)
            self.kept.append(columns.take(admitted & stay))
            self.barred.append(least_of(columns.take(~admitted & stay), MOST_BARRED))
        else:
            self.kept.append(columns)

    def _within_pool_rules(self, placement: int, train: Ints, beside: SidePools | None) -> NDArray[np.bool_]:
        """Which pairs keep the rules that look at the pools alone: no interval or tier can mend the others."""
        pools = self.problem.colocated if placement == COLOCATED else self.problem.training
        width = int(pools.group_size.max(initial=0)) + 1
        first = np.ones((len(self.problem.variants), width), dtype=np.int64)
        for (variant, size), grid in self.problem.intervals.items():
            if size < width:
                first[variant, size] = grid[0]
        interval = first[pools.variant[train], pools.group_size[train]]
        columns = join(self.problem, placement, train, beside, Checkpointing.first(interval))
        kept = np.ones(len(train), dtype=bool)
        for rule in self.rules:
            if rule.scope.of_pools:
                fine = rule.kept_by(columns, self.problem)
                self.prune.excluded[rule.key] += int((kept & ~fine).sum())
                kept &= fine
        return kept

    def _quick_tiers(self) -> NDArray[np.bool_] | None:
        """Tiers whose restore alone does not break the recovery floor, shape (zones, tiers); None without one."""
        limits = [rule.limit for rule in self.rules if rule.key == "floors.checkpoints.recovery_time"]
        return self.problem.tiers.restore_hours * 60.0 <= min(limits) if limits else None

    def columns(self) -> Columns:
        """All columns for the program: those kept and the barred ones that would undercut them."""
        if not self.reductions:
            return self._joined(self.kept)
        kept = unique(self._joined(self.kept))
        kept = kept.take(kept.usd <= self.prune.ceiling(kept.confident_hours))
        if self.prune.goal == "cost":
            kept = least_of(kept, MOST_KEPT)
        rest = unique(self._joined(self.barred))
        rest = least_of(rest.take(rest.usd <= self.prune.ceiling(rest.confident_hours)), MOST_BARRED)
        return Columns.join([kept, rest])

    def _joined(self, parts: Sequence[Columns]) -> Columns:
        some = [part for part in parts if len(part)]
        return Columns.join(some) if some else options(self.problem, COLOCATED, np.zeros(0, dtype=np.int64), None)


def least_of(columns: Columns, most: int) -> Columns:
    """The ``most`` cheapest columns."""
    return columns if len(columns) <= most else columns.take(np.argpartition(columns.usd, most)[:most])


def unique(columns: Columns) -> Columns:
    """Each column once."""
    pools = (columns.train, columns.rollout, columns.rollout2, columns.score, columns.score2)
    ids = group_ids(columns.placement, *pools, columns.interval_steps, columns.tier, columns.recovery)
    return columns.take(np.sort(np.unique(ids, return_index=True)[1]))
