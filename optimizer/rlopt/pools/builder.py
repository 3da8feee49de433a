"""Pools from estimates: the best rows of each table, joined with every offer's price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rlopt.estimates.loop.run_average import averaged
from rlopt.market.launchers import elastic
from rlopt.pools.context import Context, rank
from rlopt.pools.handover import handover_seconds
from rlopt.pools.node.disk import disk_gib
from rlopt.pools.node.host import base_gib, levels, training_gib
from rlopt.pools.pricing import Needs, is_one, price_rows, spread
from rlopt.pools.rows import ColocatedRow, SamplingRow, ScoringRow, TrainingRow
from rlopt.pools.run_points import front, growth_of
from rlopt.pools.sampling.colocated import colocated_table
from rlopt.pools.sampling.seconds import with_tools
from rlopt.pools.sampling.table import SamplingTable
from rlopt.pools.scoring.table import ScoringTable
from rlopt.pools.training.table import TrainingTable, once_seconds
from rlopt.problem import UNSCORED, Floats, Ints, Pools, Seconds, Times
from rlopt.table import Table, first_of_groups, group_ids, merged
from rlopt.words import Placement, PoolRole


@dataclass(frozen=True, slots=True)
class Setting:
    """One variant at one group size and update precision."""

    variant: int
    size: int
    steps: int
    precision: str
    cpu_seconds: float = 0.0
    """Seconds of a step in which machines without GPUs score."""
    cpu_usd_per_hour: Floats | None = None
    """What those machines take by zone, shape (zones,); None without them."""

    @property
    def fields(self) -> dict[str, int]:
        """The same as fields of `Pools`."""
        return {"variant": self.variant, "group_size": self.size, "update_precision": rank(self.precision)}


class Builder:
    """Collects rows of all variants, group sizes and precisions into one set of pools per kind."""

    def __init__(self, context: Context, interruptions: Floats, environments: Floats) -> None:
        self.context, self.interruptions, self.environments = context, interruptions, environments
        self.left_out: Counter[str] = Counter()
        self.training_rows: list[TrainingRow] = []
        self.sampling_rows: list[SamplingRow] = []
        self.scoring_rows: list[ScoringRow] = []
        self.colocated_rows: list[ColocatedRow] = []

    def price(
        self, needs: Needs, estimate: int, given: Mapping[str, Any], cpu_usd_per_hour: Floats | None = None
    ) -> Pools:
        """Pools of the rows from ``estimate`` on with every offer; what ``given`` leaves out is 0."""
        rows = len(needs)
        fields = {
            "group_size": 0,
            "update_precision": 0,
            "variant": 0,
            "environment": 0,
            "precision": 0,
            "score_precision": UNSCORED,
            "once": Seconds(spread(0.0, rows), spread(0.0, rows)),
            "estimate": np.arange(estimate, estimate + rows),
            **given,
        }
        whole = ("group_size", "update_precision", "variant", "environment", "precision", "score_precision", "estimate")
        fields |= {name: np.asarray(fields[name], dtype=np.int64) for name in whole}
        fields = {name: one if isinstance(one, Table) else spread(one, rows) for name, one in fields.items()}
        environments = self.environments if "environment" in given else np.zeros_like(self.environments)
        if cpu_usd_per_hour is not None:
            environments = environments + cpu_usd_per_hour[:, None]
        return price_rows(self.context.market, self.interruptions, environments, needs, fields, self.left_out)

    def _trains(
        self, context: Context, table: TrainingTable, rows: Ints, way: Setting, more: Floats | float = 0.0
    ) -> Needs:
        """What nodes need that train in the table's ``rows``, with ``more`` GiB of host memory beside training."""
        host, nodes = training_gib(context, table, way.size)[rows] + more, table.nodes[rows]
        return Needs(table.topology[rows], nodes, host, disk_gib(context, PoolRole.TRAIN, nodes), table.host_gib[rows])

    def training(self, number: int, context: Context, table: TrainingTable, way: Setting, alone: bool) -> Pools:
        """The fastest layout per machine kind, node count and offload. ``alone``: nothing samples on the pool."""
        seconds = table.seconds[(way.size, way.precision)]
        rows = np.flatnonzero(np.isfinite(seconds) & (table.layout.offload < 2))
        needs = self._trains(context, table, rows, way)
        level = levels(context.market, table.topology[rows], needs.host_gib, needs.offload_gib)
        group = group_ids(table.topology[rows], table.nodes[rows], table.layout.offload[rows], level)
        once = once_seconds(context, table.take(rows), way.precision)
        per_step = seconds[rows] + once / max(way.steps, 1)
        points = table.points[(way.size, way.precision)][rows]
        best = first_of_groups(group, per_step)
        if points.shape[1] > 1 and not alone and Placement.ASYNC in context.request.placements:
            # beside another pool the slower one counts, and which that is may change over the run
            best = front(group, points + (once / max(way.steps, 1))[:, None])
        rows, once = rows[best], once[best]
        entries = [TrainingRow(number, int(row), way.size, way.precision) for row in rows]
        if alone:
            estimate = len(self.colocated_rows)
            self.colocated_rows += [ColocatedRow(entry, 0, 0, "") for entry in entries]
        else:
            estimate = len(self.training_rows)
            self.training_rows += entries
        band = context.train_band[table.topology[rows]]
        sent = 0.0 if alone else handover_seconds(context)[table.topology[rows]]
        points = points[best] + np.reshape(sent, (-1, 1)) + way.cpu_seconds
        given = {
            **way.fields,
            "times": Times.same(Seconds.banded(averaged(points), band), growth_of(points, band)),
            "once": Seconds.banded(once, band),
            "score_precision": _scored(context, table, way),
        }
        needs = self._trains(context, table, rows, way)
        return self.price(needs, estimate, given, way.cpu_usd_per_hour)

    def colocated(self, number: int, context: Context, table: TrainingTable, way: Setting) -> Pools:
        """Training layout and engine together."""
        once = once_seconds(context, table, way.precision)
        host = training_gib(context, table, way.size)
        found = colocated_table(context, table, way.size, way.precision, host, once / max(way.steps, 1))
        estimate, rollouts = len(self.colocated_rows), context.request.choices.precision.rollout
        self.colocated_rows += [
            ColocatedRow(
                TrainingRow(number, int(row), way.size, way.precision), int(tp), int(ep), rollouts[int(p)], int(e)
            )
            for row, tp, ep, p, e in zip(
                found.train, found.tp, found.ep, found.precision, found.environment, strict=True
            )
        ]
        topology = table.topology[found.train]
        train, once = found.train_seconds + way.cpu_seconds, once[found.train]
        band = context.train_band[topology]
        confident = train * band + found.sample_seconds * context.rollout_band[topology]
        given = {
            **way.fields,
            "times": Times.same(Seconds(train + found.sample_seconds, confident)),
            "once": Seconds.banded(once, band),
            "environment": found.environment,
            "precision": found.precision,
            "score_precision": _scored(context, table, way),
        }
        needs = self._trains(context, table, found.train, way, found.asleep_gib)
        return self.price(needs, estimate, given, way.cpu_usd_per_hour)

    def _beside(self, context: Context, kind: PoolRole, topology: Ints, nodes: Ints, size: int) -> Needs:
        """What nodes of a pool beside training need."""
        host = base_gib(context, kind, topology, nodes, size)
        return Needs.of(topology, nodes, host, disk_gib(context, kind, nodes))

    def rollout(
        self, number: int, context: Context, table: SamplingTable, variant: int, size: int, option: int
    ) -> Pools:
        """Per machine kind, node count and precision the engines that are best in step or out of step.

        ``variant`` is the first of those that sample so.
        """
        engines = table.engine_seconds[(size, option)], table.engine_async_seconds[(size, option)]
        alike = [table.topology, table.nodes, table.precision]
        per_node = context.hardware.gpus_per_node[table.topology]
        spanned = np.maximum(-(-np.maximum(table.tp, table.ep) // per_node), 1).astype(np.int64)
        if elastic(context.request, context.catalog):  # what the loss of one machine takes with it then decides too
            alike.append(spanned)
        group = group_ids(*alike)
        points = table.points[(size, option)], table.async_points[(size, option)]
        rows = np.union1d(*(map(partial(first_of_groups, group), engines)))
        if points[0].shape[1] > 1:
            rows = np.union1d(*(map(partial(front, group), points)))
        rows = rows[np.isfinite(engines[0][rows])]
        estimate = len(self.sampling_rows)
        self.sampling_rows += [SamplingRow(int(row), size, option, number) for row in rows]
        band = context.rollout_band[table.topology[rows]]
        sent = handover_seconds(context)[table.topology[rows]]
        in_step, apart = (
            with_tools(context, values[rows], size, context.instances[option], asynchronous) + sent[:, None]
            for values, asynchronous in zip(points, (False, True), strict=True)
        )
        times = Times(
            Seconds.banded(averaged(in_step), band),
            Seconds.banded(averaged(apart), band),
            growth_of(apart, band, in_step),
        )
        given = {
            "group_size": size,
            "variant": variant,
            "update_precision": rank("bf16"),
            "environment": option,
            "precision": table.precision[rows],
            "score_precision": rank(context.screened_in) if context.workload.screening else UNSCORED,
            "times": times,
            "nodes_per_replica": spanned[rows],
        }
        needs = self._beside(context, PoolRole.SAMPLE, table.topology[rows], table.nodes[rows], size)
        return self.price(needs, estimate, given)

    def scoring(self, number: int, context: Context, table: ScoringTable, size: int, variant: int) -> Pools:
        """Per machine kind, node count and precision the fastest scoring layout."""
        seconds = table.seconds[size]
        rows = np.flatnonzero(np.isfinite(seconds))
        group = group_ids(table.topology[rows], table.nodes[rows], table.precision[rows])
        points = table.points[size]
        best = front(group, points[rows]) if points.shape[1] > 1 else first_of_groups(group, seconds[rows])
        rows, estimate = rows[best], len(self.scoring_rows)
        band = context.train_band[table.topology[rows]]
        ranks = np.array([rank(name) for name in context.request.choices.precision.score], dtype=np.int64)
        self.scoring_rows += [ScoringRow(number, int(row), size) for row in rows]
        given = {
            "group_size": size,
            "variant": variant,
            "update_precision": rank("bf16"),
            "precision": table.precision[rows],
            "score_precision": ranks[table.precision[rows]],
            "times": Times.same(Seconds.banded(seconds[rows], band), growth_of(points[rows], band)),
        }
        needs = self._beside(context, PoolRole.SCORE, table.topology[rows], table.nodes[rows], size)
        return self.price(needs, estimate, given)


def _scored(context: Context, table: TrainingTable, way: Setting) -> int:
    """Rank of the least precision that anything scores in on a pool that trains."""
    scored = context.scored_in(way.precision, table.score_precision)
    return UNSCORED if scored is None else rank(scored)


def join_pools(parts: Sequence[Pools]) -> Pools:
    """All rows of ``parts``; an empty set where there are none. What is one number in all of them stays one number."""
    if parts:
        return merged(parts, _joined)
    kinds: dict[str, Any] = dict.fromkeys(Pools.__match_args__, np.float64) | {"spot": np.bool_}
    whole = ("offer", "nodes", "gpus", "zone", "group_size", "update_precision", "estimate", "variant", "environment")
    kinds |= dict.fromkeys((*whole, "precision", "score_precision", "nodes_per_replica", "load"), np.int64)
    empty: dict[str, Any] = {name: np.zeros(0, dtype=kind) for name, kind in kinds.items()}
    return Pools(**{**empty, "times": Times.same(Seconds.zero(0)), "once": Seconds.zero(0)})


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    some = [part for part in parts if len(part)] or list(parts[:1])
    if all(is_one(part) for part in some) and len({part[0] for part in some}) == 1:
        return spread(some[0][0], sum(map(len, some)))
    return np.concatenate(some)
