"""Find every joint column that can be the answer: incumbents first, then bounds, then exact prices.

1. Incumbents: the pools on the staircase of rate against seconds, paired and priced exactly.
2. Bounds: a training pool stays when with some step of the rollout staircase it could still matter; then rollout
   pools against the staircase of the training pools that stayed; then the pairs of what is left.
3. Exact prices: every checkpoint interval and tier of the pairs that stayed.

What is dropped is counted by the argument that excluded it. With ``reductions=False`` nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlopt.candidates.joint import join, options
from rlopt.costs import column_costs
from rlopt.problem import ASYNC, COLOCATED, DISAGGREGATED, PLACEMENTS, Columns, Ints, Pools, Problem
from rlopt.rules import Rule
from rlopt.studies.bounds import Bounds
from rlopt.studies.prune import Prune, Stairs, pareto_index

CHUNK = 40_000
MOST_BARRED = 500
MOST_KEPT = 4_000
FIRST_LOOK = 24


@dataclass(slots=True)
class Search:
    """One pass over a problem. ``kept`` are feasible columns that can matter, ``barred`` cheap ones over a limit."""

    problem: Problem
    bounds: Bounds
    rules: Sequence[Rule]
    prune: Prune
    reductions: bool = True
    kept: list[Columns] = field(default_factory=list)
    barred: list[Columns] = field(default_factory=list)

    def run(self) -> Columns:
        """All columns for the program: those kept and the barred ones that would undercut them."""
        placements = self.problem.request.placements
        groups = list(self._groups()) if len(self.problem.rollout) else []
        modes = [m for m in (DISAGGREGATED, ASYNC) if PLACEMENTS[m] in placements]
        if self.reductions:
            self._first_look(groups, modes, COLOCATED if "colocated" in placements else None)
        if "colocated" in placements and len(self.problem.colocated):
            self._colocated()
        for zone, size, train, rollout in groups:
            for placement in modes:
                self._pairs(placement, zone, size, train, rollout)
        return self._collect()

    def _within_pool_rules(self, placement: int, train: Ints, rollout: Ints) -> NDArray[np.bool_]:
        """Which pairs keep the rules that look at the pools alone: no interval or tier can mend the others."""
        sizes = (self.problem.colocated if placement == COLOCATED else self.problem.training).group_size[train]
        first = np.zeros(int(sizes.max(initial=0)) + 1, dtype=np.int64)
        for size, grid in self.problem.intervals.items():
            first[size : size + 1] = grid[0]
        columns = join(self.problem, placement, train, rollout, first[sizes], np.zeros(len(train), dtype=np.int64))
        kept = np.ones(len(train), dtype=bool)
        for rule in self.rules:
            if rule.of_pools and rule.amount is not None:
                fine = rule.admits(rule.amount(columns, self.problem))
                self.prune.excluded[rule.key] += int((kept & ~fine).sum())
                kept &= fine
        return kept

    def _quick_tiers(self) -> NDArray[np.bool_] | None:
        """Tiers whose restore alone does not break the recovery floor, shape (zones, tiers); None without one."""
        limits = [rule.limit for rule in self.rules if rule.key == "floors.checkpoints.recovery_time"]
        return self.problem.tiers.restore_hours * 60.0 <= min(limits) if limits else None

    def price(self, placement: int, train: Ints, rollout: Ints, screen: bool = False) -> None:
        """Price pairs exactly, learn from the feasible ones and keep what can matter.

        ``screen`` drops the pairs that break a rule of their pools first, instead of showing them to the solver.
        """
        quick = self._quick_tiers()
        if screen and len(train):
            kept = self._within_pool_rules(placement, train, rollout)
            train, rollout = train[kept], rollout[kept]
        for start in range(0, len(train), CHUNK // 16):
            part = slice(start, start + CHUNK // 16)
            columns = options(self.problem, placement, train[part], rollout[part], quick if screen else None)
            searched = columns.gpus <= self.problem.gpu_limit  # both pools together, with reductions or without
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
                self.barred.append(self._cheapest(columns.take(~admitted & stay), MOST_BARRED))
            else:
                self.kept.append(columns)

    def _cheapest(self, columns: Columns, most: int) -> Columns:
        return columns if len(columns) <= most else columns.take(np.argpartition(columns.usd, most)[:most])

    def _groups(self) -> Iterator[tuple[int, int, Ints, Ints]]:
        """Training and rollout rows that may be paired: one zone, one group size."""
        training, rollout = self.problem.training, self.problem.rollout
        width = int(max(training.group_size.max(initial=0), rollout.group_size.max(initial=0))) + 1
        left, right = training.zone * width + training.group_size, rollout.zone * width + rollout.group_size
        left_order, right_order = np.argsort(left, kind="stable"), np.argsort(right, kind="stable")
        keys = np.intersect1d(left, right)
        left_at = np.searchsorted(left[left_order], np.stack([keys, keys + 1]))
        right_at = np.searchsorted(right[right_order], np.stack([keys, keys + 1]))
        for n, key in enumerate(keys):
            yield (
                int(key // width),
                int(key % width),
                left_order[left_at[0, n] : left_at[1, n]],
                right_order[right_at[0, n] : right_at[1, n]],
            )

    def _first_look(
        self, groups: Sequence[tuple[int, int, Ints, Ints]], modes: Sequence[int], colocated: int | None
    ) -> None:
        """Price the most promising columns, so that the bounds have something to beat."""
        problem = self.problem
        if colocated is not None and len(problem.colocated):
            rows = np.concatenate(self._classes(problem.colocated, np.arange(len(problem.colocated))))
            cost, hours = self._colocated_bounds(problem.colocated.take(rows))
            fine = rows[self.prune.keep(cost, hours, count=False)]
            cost = self._colocated_bounds(problem.colocated.take(fine))[0]
            self.price(COLOCATED, fine[np.argsort(cost, kind="stable")[: FIRST_LOOK * 8]], fine)
        picks: dict[int, list[tuple[float, int, int]]] = {m: [] for m in modes}
        for zone, size, train, rollout in groups:
            for u in self._classes(problem.training, train):
                for v in self._classes(problem.rollout, rollout):
                    if not len(u) or not len(v):
                        continue
                    a, b = problem.training.take(u), problem.rollout.take(v)
                    rate = a.usd_per_hour[:, None] + b.usd_per_hour[None, :]
                    for m in modes:
                        sampling, confident = b.times(m)
                        cost = self.bounds.cost(m, zone, size, rate, a.seconds[:, None], sampling[None, :])
                        hours = self.bounds.hours(m, size, a.confident_seconds[:, None], confident[None, :])
                        score = np.where(self.prune.keep(cost, hours, count=False), cost, np.inf)
                        if self.prune.goal == "time":
                            score = np.where(np.isfinite(score), hours, np.inf)
                        best = np.argsort(score, axis=None, kind="stable")[:FIRST_LOOK]
                        rows, cols = np.unravel_index(best, score.shape)
                        picks[m] += [
                            (float(score[i, j]), int(u[i]), int(v[j]))
                            for i, j in zip(rows, cols, strict=True)
                            if np.isfinite(score[i, j])
                        ]
        for m, found in picks.items():
            chosen = sorted(found)[: 20 * FIRST_LOOK]
            if chosen:
                self.price(m, np.array([u for _, u, _ in chosen]), np.array([v for _, _, v in chosen]))

    def _classes(self, pools: Pools, rows: Ints) -> list[Ints]:
        """Staircase pools among all rows and among those never reclaimed (a share floor may need them)."""
        found = []
        for part in (rows, rows[~pools.spot[rows]]):
            found.append(part[pareto_index(pools.usd_per_hour[part], pools.seconds[part])])
        return found if len(found[0]) != len(found[1]) or bool((found[0] != found[1]).any()) else found[:1]

    def _colocated_bounds(self, pools: Pools) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        none = np.zeros(len(pools))
        cost = self.bounds.cost(COLOCATED, pools.zone, pools.group_size, pools.usd_per_hour, pools.seconds, none)
        return cost, self.bounds.hours(COLOCATED, pools.group_size, pools.confident_seconds, none)

    def _colocated(self) -> None:
        rows = np.arange(len(self.problem.colocated))
        if self.reductions:
            cost, hours = self._colocated_bounds(self.problem.colocated)
            rows = rows[self.prune.keep(cost, hours)]
            rows = rows[np.argsort(cost[rows], kind="stable")]
            for start in range(0, len(rows), 512):  # cheapest first: each part sharpens the bound for the next
                part = rows[start : start + 512]
                self.price(COLOCATED, part[self.prune.keep(cost[part], hours[part], count=start > 0)], part)
            return
        self.price(COLOCATED, rows, rows)

    def _pairs(self, placement: int, zone: int, size: int, train: Ints, rollout: Ints) -> None:
        problem, bounds = self.problem, self.bounds
        if self.reductions:
            train = self._survivors(placement, zone, size, problem.training, train, problem.rollout, rollout)
            if len(train):
                rollout = self._survivors(placement, zone, size, problem.rollout, rollout, problem.training, train)
        if not len(train) or not len(rollout):
            return
        b = problem.rollout.take(rollout)
        rows = max(1, CHUNK * 4 // len(rollout))
        for start in range(0, len(train), rows):
            part = train[start : start + rows]
            a = problem.training.take(part)
            stay = np.ones((len(part), len(rollout)), dtype=bool)
            if self.reductions:
                sampling, confident = b.times(placement)
                cost = bounds.cost(
                    placement,
                    zone,
                    size,
                    a.usd_per_hour[:, None] + b.usd_per_hour[None, :],
                    a.seconds[:, None],
                    sampling[None, :],
                )
                hours = bounds.hours(placement, size, a.confident_seconds[:, None], confident[None, :])
                stay = self.prune.keep(cost, hours)
                over = a.gpus[:, None] + b.gpus[None, :] > problem.gpu_limit
                self.prune.excluded["limits.max_gpus"] += int((stay & over).sum())
                stay &= ~over
            i, j = np.nonzero(stay)
            self.price(placement, part[i], rollout[j], screen=self.reductions)

    def _survivors(
        self, placement: int, zone: int, size: int, pools: Pools, rows: Ints, others: Pools, other_rows: Ints
    ) -> Ints:
        """Rows that could matter with some step of the others' staircase."""
        other = others.take(other_rows)
        stairs = Stairs.of(other.usd_per_hour, *other.times(placement))
        mine = pools.take(rows)
        seconds, confident = mine.times(placement)
        cost = self.bounds.cost(
            placement, zone, size, mine.usd_per_hour[:, None] + stairs.usd_per_hour, seconds[:, None], stairs.seconds
        )
        hours = self.bounds.hours(placement, size, confident[:, None], stairs.confident_seconds)
        stay = self.prune.keep(cost, hours, count=False).any(axis=1)
        self.prune.excluded["pools bounded by a known plan or a limit"] += int((~stay).sum())
        return rows[stay]

    def _collect(self) -> Columns:
        feasible = [part for part in self.kept if len(part)]
        if not self.reductions:
            return Columns.join(feasible) if feasible else self._none()
        kept = self._unique(Columns.join(feasible)) if feasible else self._none()
        kept = kept.take(kept.usd <= self.prune.ceiling(kept.confident_hours))
        if self.prune.goal == "cost":
            kept = self._cheapest(kept, MOST_KEPT)
        barred = [part for part in self.barred if len(part)]
        rest = self._unique(Columns.join(barred)) if barred else self._none()
        rest = self._cheapest(rest.take(rest.usd <= self.prune.ceiling(rest.confident_hours)), MOST_BARRED)
        return Columns.join([kept, rest])

    def _none(self) -> Columns:
        return options(self.problem, COLOCATED, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def _unique(self, columns: Columns) -> Columns:
        key = np.stack([columns.placement, columns.train, columns.rollout, columns.interval_steps, columns.tier])
        return columns.take(np.sort(np.unique(key, axis=1, return_index=True)[1]))
