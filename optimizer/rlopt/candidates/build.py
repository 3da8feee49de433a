"""From a request and facts to a frozen problem: market, estimates, priced pools, tariffs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from rlopt.candidates.checkpoint import checkpoint_sizes, intervals
from rlopt.candidates.colocated import colocated_table
from rlopt.candidates.context import Context, make_context, rank
from rlopt.candidates.market import open_market
from rlopt.candidates.operations import load_operations
from rlopt.candidates.price_book import TariffBook, zone_tariff
from rlopt.candidates.pricing import price_rows, stop_rates
from rlopt.candidates.sampling import SamplingTable, sampling_table
from rlopt.candidates.tables import ColocatedRow, SamplingRow, Tables, TrainingRow
from rlopt.candidates.tariff import TierTable
from rlopt.candidates.training import TrainingTable, training_table
from rlopt.estimates import colocated_fixed_s, disaggregated_fixed_s
from rlopt.facts import Catalog, Model
from rlopt.problem import Pools, Problem
from rlopt.request import Request
from rlopt.workloads import build_workload

SEARCHED_GPUS = 512
"""Pools are searched up to this many GPUs where the request sets no limit; a plan then says so."""


def _first_of_group(group: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Index of the least value in each group."""
    order = np.lexsort((value, group))
    first = np.ones(len(order), dtype=bool)
    first[1:] = group[order][1:] != group[order][:-1]
    return order[first]


class _Builder:
    """Collects rows of all group sizes and precisions into one set of pools per kind."""

    def __init__(self, context: Context, stops: np.ndarray) -> None:
        self.context, self.stops = context, stops
        self.training_rows: list[TrainingRow] = []
        self.sampling_rows: list[SamplingRow] = []
        self.colocated_rows: list[ColocatedRow] = []

    def price(
        self,
        topology: np.ndarray,
        nodes: np.ndarray,
        host: np.ndarray,
        size: int,
        precision: str,
        estimate: int,
        times: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    ) -> Pools:
        rows = len(topology)
        names = ("seconds", "confident_seconds", "steady_seconds", "confident_steady_seconds")
        fields = dict(zip(names, times, strict=True))
        fields |= {
            "group_size": np.full(rows, size),
            "update_precision": np.full(rows, rank(precision)),
            "estimate": np.arange(estimate, estimate + rows),
        }
        return price_rows(self.context.market, self.stops, topology, nodes, host, fields)

    def training(self, number: int, table: TrainingTable, size: int, precision: str, alone: bool) -> Pools:
        """The fastest layout per machine kind, node count and offload. ``alone``: nothing samples on the pool."""
        seconds = table.seconds[(size, precision)]
        rows = np.flatnonzero(np.isfinite(seconds) & (table.layout.offload < 2))
        group = (table.topology[rows] * 4096 + table.nodes[rows]) * 4 + table.layout.offload[rows]
        rows = rows[_first_of_group(group, seconds[rows])]
        entries = [TrainingRow(number, int(row), size, precision) for row in rows]
        if alone:
            estimate = len(self.colocated_rows)
            self.colocated_rows += [ColocatedRow(entry, 0, 0, "") for entry in entries]
        else:
            estimate = len(self.training_rows)
            self.training_rows += entries
        confident = seconds[rows] * self.context.train_band[table.topology[rows]]
        return self.price(
            table.topology[rows],
            table.nodes[rows],
            table.host_gib[rows],
            size,
            precision,
            estimate,
            (seconds[rows], confident, seconds[rows], confident),
        )

    def colocated(self, number: int, table: TrainingTable, size: int, precision: str) -> Pools:
        """Training layout and engine together."""
        found = colocated_table(self.context, table, size, precision)
        estimate, rollouts = len(self.colocated_rows), self.context.request.choices.precision.rollout
        self.colocated_rows += [
            ColocatedRow(TrainingRow(number, int(row), size, precision), int(tp), int(ep), rollouts[int(p)])
            for row, tp, ep, p in zip(found.train, found.tp, found.ep, found.precision, strict=True)
        ]
        topology = table.topology[found.train]
        seconds = found.train_seconds + found.sample_seconds
        confident = found.train_seconds * self.context.train_band[topology] + (
            found.sample_seconds * self.context.rollout_band[topology]
        )
        return self.price(
            topology,
            table.nodes[found.train],
            table.host_gib[found.train],
            size,
            precision,
            estimate,
            (seconds, confident, seconds, confident),
        )

    def rollout(self, table: SamplingTable, size: int) -> Pools:
        """Per machine kind and node count the engines that are best in step or out of step."""
        group = table.topology * 4096 + table.nodes
        rows = np.union1d(
            _first_of_group(group, table.seconds[size]), _first_of_group(group, table.steady_seconds[size])
        )
        rows = rows[np.isfinite(table.seconds[size][rows])]
        estimate = len(self.sampling_rows)
        self.sampling_rows += [SamplingRow(int(row), size) for row in rows]
        band = self.context.rollout_band[table.topology[rows]]
        seconds, steady = table.seconds[size][rows], table.steady_seconds[size][rows]
        return self.price(
            table.topology[rows],
            table.nodes[rows],
            np.zeros(len(rows)),
            size,
            "bf16",
            estimate,
            (seconds, seconds * band, steady, steady * band),
        )


def join_pools(parts: Sequence[Pools]) -> Pools:
    """All rows of ``parts``; an empty set where there are none."""
    names = [field.name for field in fields(Pools)]
    if parts:
        return Pools(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    kinds: dict[str, Any] = dict.fromkeys(names, np.float64) | {"spot": np.bool_}
    kinds |= dict.fromkeys(("offer", "nodes", "gpus", "zone", "group_size", "update_precision", "estimate"), np.int64)
    return Pools(**{name: np.zeros(0, dtype=kind) for name, kind in kinds.items()})


def build_problem(
    request: Request, catalog: Catalog, models: Mapping[str, Model], warnings: Sequence[str] = ()
) -> Problem:
    """Freeze everything a search needs. Raises MissingFactError, NotSupportedError."""
    workload = build_workload(request, models)
    gpu_limit = request.limits.max_gpus or SEARCHED_GPUS
    market = open_market(request, catalog, gpu_limit)
    operations = load_operations()
    book = TariffBook(catalog, request, workload, operations)
    context = make_context(request, catalog, workload, market, gpu_limit)
    stops = stop_rates(market, catalog)
    builder = _Builder(context, stops)
    generates = workload.generates
    offloads = context.offloads if generates else tuple(code for code in context.offloads if code < 2)
    tables = [
        table
        for score in (request.choices.precision.score if workload.of_kind("forward") else ("bf16",))
        if (table := training_table(context, offloads, score)) is not None
    ]
    sampling = sampling_table(context) if generates else None
    training, colocated, rollout = [], [], []
    separate = {"disaggregated", "async"} & set(request.placements)
    for number, table in enumerate(tables):
        for size in workload.group_sizes:
            for precision in request.choices.precision.update:
                if not generates:
                    colocated.append(builder.training(number, table, size, precision, alone=True))
                    continue
                if "colocated" in request.placements:
                    colocated.append(builder.colocated(number, table, size, precision))
                if separate:
                    training.append(builder.training(number, table, size, precision, alone=False))
    if sampling is not None and separate:
        rollout = [builder.rollout(sampling, size) for size in workload.group_sizes]
    policy = context.shapes["policy"]
    apart = disaggregated_fixed_s(policy, context.calibration)
    fixed = colocated_fixed_s(policy, context.calibration) if generates else 0.0
    notes = [*warnings, *market.warnings]
    excluded: Counter[str] = Counter(market.left_out)
    excluded["needs more memory than there is"] = sum(table.misfits for table in tables) + (
        sampling.tried - len(sampling) if sampling is not None else 0
    )
    for reason, count in (
        ("no failure rate is known", int(np.isnan(stops).sum())),
        (
            "the GPU's peak at a wanted precision is not known",
            sum(table.unknown for table in tables) + (sampling.unknown if sampling is not None else 0),
        ),
    ):
        if count:
            excluded[reason] = count
            notes.append(f"{count:,} candidates left out: {reason}")
    if request.limits.max_gpus is None:
        notes.append(f"limits.max_gpus is not set: plans of up to {SEARCHED_GPUS} GPUs were searched")
    if operations.assumed:
        notes.append("assumed, not measured: " + ", ".join(operations.assumed))
    if request.costs.engineer_hour is None or (
        not any(request.costs.setup_hours.of(name) for name in request.placements)
        and not request.costs.on_call_hours_per_day
    ):
        notes.append("people are not on the bill: give costs.engineer_hour with setup_hours or on_call_hours_per_day")
    tariffs = tuple(zone_tariff(book, *zone) for zone in market.zones)
    tried = sum(table.tried for table in tables) * len(workload.group_sizes) * len(request.choices.precision.update)
    return Problem(
        request=request,
        catalog=catalog,
        workload=workload,
        models=models,
        market=market,
        operations=operations,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        checkpoint=checkpoint_sizes(request, workload),
        intervals=intervals(request, workload),
        training=join_pools(training),
        rollout=join_pools(rollout),
        colocated=join_pools(colocated),
        estimates=Tables(
            context, tables, sampling, builder.training_rows, builder.sampling_rows, builder.colocated_rows
        ),
        sync_seconds=(fixed, apart, apart),
        staleness=context.staleness,
        exposed_share=float(context.calibration.rl["exposed_share"]),
        candidates=tried + (sampling.tried * 2 if sampling is not None else 0),
        excluded=dict(excluded),
        warnings=tuple(notes),
        gpu_limit=gpu_limit,
    )
