"""Find every joint column that can be the answer: incumbents first, then bounds, then exact prices.

1. Incumbents: the pools on the staircase of rate against seconds, paired and priced exactly.
2. Bounds: training pools against the staircase of the others, then the pools beside them against the staircase of
   the training pools that stayed, then the pairs of what is left.
3. Mixed pools: once pools of one offer have given an incumbent, pairs of offers that could still beat it.
4. Exact prices: every checkpoint interval and tier of the pairs that stayed.

What is dropped is counted by the argument that excluded it. With ``reductions=False`` nothing is dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rlopt.columns.hours import Checkpointing
from rlopt.columns.joint import join, options
from rlopt.columns.side_pools import alone, every_side_pools
from rlopt.costs import column_costs
from rlopt.problem import Columns, Ints, Pools, Problem, SidePools
from rlopt.rules import Rule
from rlopt.search.bounds import Bounds, Group
from rlopt.search.could_win import CouldWin
from rlopt.search.dominance import undominated
from rlopt.search.group_bounds import nearest, open_groups
from rlopt.search.incumbents import Served, promising_colocated, promising_pairs, served_groups
from rlopt.search.mixed_search import MixedSearch
from rlopt.search.pool_limits import keeping
from rlopt.search.prune import Prune, Stairs, least_of, unique
from rlopt.words import ASYNC, COLOCATED, DISAGGREGATED, Placement, PoolRole

CHUNK = 40_000
MOST_BARRED = 500
MOST_KEPT = 4_000
SECONDS_WITHOUT_PLAN = 10.0  # for mixed pools where no plan of single offers is known: limits alone can prune
MANY = 100_000  # mixed pools of one group that are worth comparing among each other before they are paired


@dataclass(slots=True)
class Search:
    """One pass over a problem. ``kept`` are feasible columns that can matter, ``barred`` cheap ones over a limit."""

    problem: Problem
    bounds: Bounds
    rules: Sequence[Rule]
    prune: Prune
    reductions: bool = True
    quick: bool = False
    """Whether the most promising columns are enough."""
    ends: float = math.inf
    """When the search gives up (`time.perf_counter`); ``stopped`` then says that there is no proof."""
    stopped: bool = False
    kept: list[Columns] = field(default_factory=list)
    barred: list[Columns] = field(default_factory=list)

    @property
    def could_win(self) -> CouldWin:
        """The test of pools against staircases."""
        return CouldWin(self.bounds, self.prune)

    def run(self) -> Columns:
        """All columns for the program: those kept and the barred ones that would undercut them."""
        placements = self.problem.request.placements
        colocated = Placement.COLOCATED in placements and len(self.problem.colocated) > 0
        groups = list(served_groups(self.problem)) if len(self.problem.rollout) else []
        modes = [m for m in (DISAGGREGATED, ASYNC) if Placement.at(m) in placements]
        if self.reductions:
            if colocated:
                self.price(COLOCATED, promising_colocated(self.could_win, self._colocated_bounds), None)
            for placement, train, beside in promising_pairs(
                self.could_win, nearest(self.bounds, self.prune, modes, groups), modes
            ):
                self.price(placement, train, beside)
        if self.quick:
            return self._collect()
        if colocated:
            self._colocated()
        for placement in modes:
            for served in self._open(placement, groups):
                self._alone(placement, served)
        if self.reductions:
            self._mixes(groups, modes)
        return self._collect()

    def _mixes(self, groups: Sequence[Served], modes: Sequence[int]) -> None:
        """Pools mixed of two offers, beside all others."""
        if not self.problem.request.choices.mixed_pools:
            return
        if self.prune.blind:
            self.ends = min(self.ends, time.perf_counter() + SECONDS_WITHOUT_PLAN)
        self.prune.strict = True
        for placement in modes:
            for served in self._open(placement, groups, mixed=True):
                self._mixed(placement, served)
        self.prune.strict = False

    def _open(self, placement: int, groups: Sequence[Served], mixed: bool = False) -> Iterator[Served]:
        return open_groups(self.bounds, self.prune, placement, groups, mixed) if self.reductions else iter(groups)

    def _within_pool_rules(self, placement: int, train: Ints, support: SidePools | None) -> NDArray[np.bool_]:
        """Which pairs keep the rules that look at the pools alone: no interval or tier can mend the others."""
        pools = self.problem.colocated if placement == COLOCATED else self.problem.training
        width = int(pools.group_size.max(initial=0)) + 1
        first = np.ones((len(self.problem.variants), width), dtype=np.int64)
        for (variant, size), grid in self.problem.intervals.items():
            if size < width:
                first[variant, size] = grid[0]
        interval = first[pools.variant[train], pools.group_size[train]]
        columns = join(self.problem, placement, train, support, Checkpointing.first(interval))
        kept = np.ones(len(train), dtype=bool)
        for rule in self.rules:
            if rule.scope.of_pools and rule.amount is not None:
                fine = rule.admits(rule.amount(columns, self.problem))
                self.prune.excluded[rule.key] += int((kept & ~fine).sum())
                kept &= fine
        return kept

    def _quick_tiers(self) -> NDArray[np.bool_] | None:
        """Tiers whose restore alone does not break the recovery floor, shape (zones, tiers); None without one."""
        limits = [rule.limit for rule in self.rules if rule.key == "floors.checkpoints.recovery_time"]
        return self.problem.tiers.restore_hours * 60.0 <= min(limits) if limits else None

    def price(self, placement: int, train: Ints, support: SidePools | None, screen: bool = False) -> None:
        """Price pairs exactly, learn from the feasible ones and keep what can matter.

        ``screen`` drops the pairs that break a rule of their pools first, instead of showing them to the solver.
        """
        quick = self._quick_tiers()
        if screen and len(train):
            kept = self._within_pool_rules(placement, train, support)
            train, support = train[kept], None if support is None else support.take(kept)
        for start in range(0, len(train), CHUNK // 16):
            if self._over():
                return
            part = slice(start, start + CHUNK // 16)
            beside = None if support is None else support.take(part)
            tiers, excluded = quick if screen else None, self.prune.excluded
            columns = options(self.problem, placement, train[part], beside, tiers, excluded)
            searched = columns.gpus <= self.problem.gpu_limit  # all pools together, with reductions or without
            self.prune.excluded["limits.max_gpus"] += int((~searched).sum())
            columns = columns.take(searched)
            if not len(columns):
                continue
            columns = columns.with_cost(column_costs(columns, self.problem))
            admitted = np.ones(len(columns), dtype=bool)
            for rule in self.rules:
                if rule.amount is None:
                    continue
                fine = rule.admits(rule.amount(columns, self.problem))
                if rule.name != "choice":
                    self.prune.excluded[rule.key] += int((admitted & ~fine).sum())
                admitted &= fine
            self.prune.learn(columns.take(admitted))
            if self.reductions:
                stay = columns.usd <= self.prune.ceiling(columns.confident_hours)
                self.kept.append(columns.take(admitted & stay))
                self.barred.append(least_of(columns.take(~admitted & stay), MOST_BARRED))
            else:
                self.kept.append(columns)

    def _colocated_bounds(self, pools: Pools) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        none = np.zeros(len(pools))
        group = Group(pools.zone, pools.variant, pools.group_size)
        cost = self.bounds.cost(COLOCATED, group, pools.rate, pools.times.in_step.median, none)
        cost = np.maximum(cost, self.bounds.committed(COLOCATED, group, pools.committed_usd))
        return cost, self.bounds.hours(COLOCATED, group, pools.times.in_step.confident, none)

    def _colocated(self) -> None:
        rows = np.arange(len(self.problem.colocated))
        if self.reductions:
            cost, hours = self._colocated_bounds(self.problem.colocated)
            rows = rows[self.prune.keep(cost, hours)]
            rows = rows[np.argsort(cost[rows], kind="stable")]
            for start in range(0, len(rows), 512):  # cheapest first: each part sharpens the bound for the next
                part = rows[start : start + 512]
                cost, hours = self._colocated_bounds(self.problem.colocated.take(part))
                self.price(COLOCATED, part[self.prune.keep(cost, hours, count=start > 0)], None)
            return
        self.price(COLOCATED, rows, None)

    def _alone(self, placement: int, served: Served) -> None:
        """Every pool of one offer beside every training pool, less what the bounds exclude."""
        problem = self.problem
        if self._over():
            return
        if not self.reductions:
            self._pairs(placement, served.group, served.train, every_side_pools(problem, served.rollout, served.score))
            return
        train = served.train
        scored = None if served.score is None else alone(problem, PoolRole.SCORE, served.score)
        rollout = alone(problem, PoolRole.SAMPLE, served.rollout)
        others = self._stairs(placement, rollout, scored)
        train = train[self._stay(placement, served.group, problem.training.take(train), others)]
        if not len(train):
            return
        mine = self._stairs(placement, problem.training.take(train), None)
        beside = rollout
        if scored is not None:
            beside = MixedSearch(self.could_win, lambda some: some).product(
                placement, served.group, rollout, scored, mine
            )
        beside = beside.take(self._stay(placement, served.group, beside, mine))
        beside = self._undominated(placement, train, beside)
        self._pairs(placement, served.group, train, beside)

    def _mixed(self, placement: int, served: Served) -> None:
        """Pools mixed of two offers, as far as they could beat what is known."""
        if self._over():
            return
        problem = self.problem
        excluded, blind = self.prune.excluded, self.prune.blind  # blind: only rules say which pools are worth mixing
        kept = keeping(problem, placement, served, self.rules, excluded) if blind else served
        if kept is None:
            return
        served, train = kept, kept.train
        thin = partial(undominated, problem, placement, train, rules=self.rules)
        mixes = MixedSearch(self.could_win, thin, self._share(), self._over)
        beside = mixes.supports(placement, served.group, train, served.rollout, served.score)
        if not len(beside) or self._over():
            return
        if len(beside) > MANY:
            beside = self._undominated(placement, train, beside)
        stairs = Stairs.of(beside.rate, *beside.times.at(placement).both)
        train = train[self._stay(placement, served.group, problem.training.take(train), stairs)]
        self._pairs(placement, served.group, train, beside)

    def _over(self) -> bool:
        """Whether time is up: the search is then no proof."""
        self.stopped = self.stopped or time.perf_counter() > self.ends
        return self.stopped

    def _undominated(self, placement: int, train: Ints, beside: SidePools) -> SidePools:
        kept = undominated(self.problem, placement, train, beside, self.rules)
        self.prune.excluded["dominated by other pools"] += len(beside) - len(kept)
        return kept

    def _share(self) -> float:
        """Share of a mixed pool's throughput that the rules in force keep from reclaims."""
        return max((rule.limit for rule in self.rules if rule.key == "floors.on_demand_share"), default=0.0)

    def _stairs(self, placement: int, pools: Pools | SidePools, scored: SidePools | None) -> Stairs:
        """Bounding steps of pools, with the quickest and the cheapest scoring beside them."""
        seconds, confident = pools.times.at(placement).both
        rate = pools.rate
        if scored is not None and len(scored):
            more, late = scored.times.at(placement).both
            rate = rate + float(scored.rate.min())
            if placement != ASYNC:
                seconds, confident = seconds + float(more.min()), confident + float(late.min())
        return Stairs.of(rate, seconds, confident)

    def _stay(self, placement: int, group: Group, pools: Pools | SidePools, stairs: Stairs) -> NDArray[np.bool_]:
        """Which pools could matter with some step of the others' staircase; the rest are counted."""
        fine = self.could_win.of(placement, group, pools, stairs)
        self.prune.excluded["pools bounded by a known plan or a limit"] += int((~fine).sum())
        return fine

    def _pairs(self, placement: int, group: Group, train: Ints, beside: SidePools) -> None:
        problem, bounds = self.problem, self.bounds
        if not len(train) or not len(beside):
            return
        sampling, confident = beside.times.at(placement).both
        rows = max(1, CHUNK * 4 // len(beside))
        for start in range(0, len(train), rows):
            if self._over():
                return
            part = train[start : start + rows]
            a = problem.training.take(part)
            stay = np.ones((len(part), len(beside)), dtype=bool)
            if self.reductions:
                rate = a.rate[:, None] + beside.rate[None, :]
                cost = bounds.cost(placement, group, rate, a.times.in_step.median[:, None], sampling[None, :])
                committed = a.committed_usd[:, None] + beside.committed_usd[None, :]
                cost = np.maximum(cost, bounds.committed(placement, group, committed))
                hours = bounds.hours(placement, group, a.times.in_step.confident[:, None], confident[None, :])
                stay = self.prune.keep(cost, hours)
                over = a.gpus[:, None] + beside.gpus[None, :] > problem.gpu_limit
                self.prune.excluded["limits.max_gpus"] += int((stay & over).sum())
                stay &= ~over
            i, j = np.nonzero(stay)
            self.price(placement, part[i], beside.take(j), screen=self.reductions)

    def _collect(self) -> Columns:
        feasible = [part for part in self.kept if len(part)]
        if not self.reductions:
            return Columns.join(feasible) if feasible else self._none()
        kept = unique(Columns.join(feasible)) if feasible else self._none()
        kept = kept.take(kept.usd <= self.prune.ceiling(kept.confident_hours))
        if self.prune.goal == "cost":
            kept = least_of(kept, MOST_KEPT)
        barred = [part for part in self.barred if len(part)]
        rest = unique(Columns.join(barred)) if barred else self._none()
        rest = least_of(rest.take(rest.usd <= self.prune.ceiling(rest.confident_hours)), MOST_BARRED)
        return Columns.join([kept, rest])

    def _none(self) -> Columns:
        return options(self.problem, COLOCATED, np.zeros(0, dtype=np.int64), None)
