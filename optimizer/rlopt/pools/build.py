"""From a request and facts to a frozen problem: market, estimates, priced pools, tariffs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rlopt.facts import Catalog, Model, Offer
from rlopt.market.launchers import elastic, with_known_kernels
from rlopt.market.market import open_market
from rlopt.market.price_book import TariffBook, zone_tariff
from rlopt.market.recovery_options import notes as recovery_notes
from rlopt.market.recovery_options import recovery_options, waits
from rlopt.pools.builder import Builder, Setting, join_pools
from rlopt.pools.checkpoints import checkpoint_of, intervals
from rlopt.pools.context import Context, context_of, make_context
from rlopt.pools.growth import tables_of
from rlopt.pools.handover import hand_over, link_gb_s
from rlopt.pools.loading.grid import load_table
from rlopt.pools.loading.pools import with_loading
from rlopt.pools.notes import acting_notes, misfit_notes
from rlopt.pools.pricing import stop_rates
from rlopt.pools.sampling.table import SamplingTable, sampling_tables
from rlopt.pools.scoring.table import ScoringTable, scoring_table
from rlopt.pools.training.closest import closest_of
from rlopt.pools.training.table import TrainingTable, training_table
from rlopt.problem import Floats, Ints, Market, Pools, Problem
from rlopt.problem.fixed import EVERYTHING, FixedSizes
from rlopt.problem.tariff import TierTable, environment_rates, scorer_rates
from rlopt.request import Request
from rlopt.words import Placement, StageKind
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant, workload_variants

SEARCHED_GPUS = 512
"""Pools are searched up to this many GPUs where the request sets no limit; a plan then says so."""
T = TypeVar("T", TrainingTable, SamplingTable)


@dataclass(frozen=True, slots=True)
class Fixed:
    """Part of a configuration that is given, not searched: which estimated rows may become pools at all.

    Each function gives the row numbers to keep of a table; ``gpus`` are those of each row's pool, shape (rows,).
    """

    training: Callable[[TrainingTable, Ints], Ints]
    sampling: Callable[[SamplingTable, Ints], Ints]
    only: FixedSizes = EVERYTHING
    """What alone is estimated."""


def _kept(context: Context, table: T, choose: Callable[[T, Ints], Ints]) -> T:
    """The rows of a table that ``choose`` keeps."""
    return table.take(
        choose(table, np.asarray(table.nodes * context.hardware.gpus_per_node[table.topology], dtype=np.int64))
    )


def _alone(workload: Workload, own: Sequence[str]) -> Workload:
    """The roles of ``own`` and their scoring passes, alone."""
    return replace(
        workload,
        roles=tuple(role for role in workload.roles if role.name in own),
        stages=tuple(stage for stage in workload.stages if stage.kind == StageKind.SCORE and stage.role in own),
        evaluation=None,
    )


def build_problem(
    request: Request,
    catalog: Catalog,
    models: Mapping[str, Model],
    warnings: Sequence[str] = (),
    held: Fixed | None = None,
    only: Callable[[Offer], bool] | None = None,
) -> Problem:
    """Freeze everything a search needs, of all configurations or of those ``held``, on offers that ``only`` lets pass.

    Raises MissingFactError, NotSupportedError.
    """
    variants, kernel_notes = with_known_kernels(request, workload_variants(request, models), catalog)
    workload = variants[0].workload
    gpu_limit = request.limits.max_gpus or SEARCHED_GPUS
    market = open_market(request, catalog, gpu_limit, only)
    operations = catalog.operations
    book = TariffBook(catalog, request, workload, operations)
    scorers = [variant.cpu for variant in variants]
    tariffs = tuple(zone_tariff(book, *zone, scorers) for zone in market.zones)
    scoring_rates = scorer_rates(tariffs, len(variants))
    experts = any(role.model.experts > 0 for variant in variants for role in variant.workload.roles)
    context = make_context(request, catalog, workload, market, gpu_limit, experts=experts)
    context = context if held is None else replace(context, only=held.only)
    stops = stop_rates(market, catalog)
    builder = Builder(context, stops, environment_rates(tariffs, len(context.instances)))
    apart = bool({Placement.DISAGGREGATED, Placement.ASYNC} & set(request.placements)) and workload.generates
    sampling = sampling_tables(context, variants, apart) if workload.generates else {}
    tables, trained = _training_tables(context, variants)
    sync, later = hand_over({n: tables[rows[0]][0] for n, rows in enumerate(trained) if rows}, variants)
    if held is not None:
        tables = [(here, _kept(here, table, held.training)) for here, table in tables]
        sampling = {number: (here, _kept(here, table, held.sampling)) for number, (here, table) in sampling.items()}
    scored = _scoring_tables(context, variants) if apart else {}
    training: list[Pools] = []
    colocated: list[Pools] = []
    rollout: list[Pools] = []
    scoring: list[Pools] = []
    for number, variant in enumerate(variants):
        for at in trained[number]:
            here, table = tables[at]
            for size, steps in variant.steps.items():
                way = Setting(number, size, steps, table.update_precision)
                if variant.cpu is not None:
                    seconds = variant.cpu.seconds(variant.workload, size)
                    way = replace(way, cpu_seconds=seconds, cpu_usd_per_hour=scoring_rates[:, number])
                if not workload.generates:
                    colocated.append(builder.training(at, here, table, way, alone=True))
                elif (
                    Placement.COLOCATED in request.placements and not variant.own and variant.runs(Placement.COLOCATED)
                ):
                    colocated.append(builder.colocated(at, here, table, way))
                if apart and variant.runs_apart:
                    training.append(builder.training(at, here, table, way, alone=False))
    scoring_tables = list(scored.values())
    for number, variant in enumerate(variants):
        if variant.own and _scoring_key(variant) in scored:  # none without any offer
            at = list(scored).index(_scoring_key(variant))
            here, passes = scoring_tables[at]
            scoring += [builder.scoring(at, here, passes, size, number) for size in variant.steps]
    if apart:
        options = range(len(context.instances))
        for at, (number, (here, found)) in enumerate(sampling.items()):
            ways = [(size, option) for size in workload.group_sizes for option in options]
            rollout += [builder.rollout(at, here, found, number, *way) for way in ways]
    bare = join_pools(training), join_pools(colocated)
    loading = load_table(book, market, tariffs, variants, link_gb_s(context), bare)
    loaded = [with_loading(loading, pools, market, builder.left_out) for pools in bare]
    every: list[TrainingTable | SamplingTable | ScoringTable] = [table for _, table in tables]
    every += [table for _, table in scoring_tables]
    every += [table for _, table in sampling.values()]
    prepares = loading is not None and loading.vcpu_seconds > 0.0 and request.job.data.prepare.host_share is None
    excluded, notes = _left_out(every, request, market, stops, catalog, prepares=prepares)
    excluded |= builder.left_out
    notes += kernel_notes
    notes += acting_notes(request, [variant.workload for variant in variants])
    notes += misfit_notes([table for _, table in tables], request, workload)
    sizes = len(workload.group_sizes)
    return Problem(
        request=request,
        catalog=catalog,
        workload=workload,
        variants=variants,
        models=models,
        market=market,
        operations=operations,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        checkpoint=checkpoint_of(request, variants),
        intervals=intervals(request, variants),
        training=loaded[0],
        rollout=join_pools(rollout),
        scoring=join_pools(scoring),
        colocated=loaded[1],
        estimates=tables_of(context, tables, list(sampling.values()), scoring_tables, builder),
        sync_seconds=sync,
        later_seconds=later,
        staleness=context.staleness,
        exposed_share=float(context.calibration.rl["exposed_share"]),
        candidates=sum(table.tried for _, table in tables) * sizes
        + sum(table.tried for _, table in scoring_tables)
        + sum(table.tried * 2 for _, table in sampling.values()),
        excluded=excluded,
        warnings=(*warnings, *market.warnings, *notes),
        gpu_limit=gpu_limit,
        recovery_options=recovery_options(request),
        elastic=elastic(request, catalog),
        faults_per_node=stop_rates(market, catalog, reclaims=False),
        wait_hours=waits(request, market, catalog),
        loading=loading,
        bare=None if loading is None else bare,
        nearest=closest_of([table for _, table in tables]),
    )


def _training_tables(
    context: Context, variants: Sequence[Variant]
) -> tuple[list[tuple[Context, TrainingTable]], list[list[int]]]:
    """Tables of every structure, scoring and update precision, and which of them serve each variant.

    A variant whose models score elsewhere has them neither in memory nor in time; structures met twice are estimated
    once, and stand twice where what samples on the same pool differs.
    """
    request, tables = context.request, list[tuple[Context, TrainingTable]]()
    known: dict[Hashable, list[TrainingTable]] = {}
    serving: dict[Hashable, list[int]] = {}
    found = []
    for variant in variants:
        here = context_of(context, variant.training, variant)
        key = (variant.structure_key, variant.once, variant.once_sequences, variant.kernels)
        if key not in known:
            offloads = here.offloads if here.in_loop else tuple(code for code in here.offloads if code < 2)
            scores = request.choices.precision.score if here.scores_frozen else ("bf16",)
            ways = [(score, update) for score in scores for update in request.choices.precision.update]
            known[key] = [table for way in ways if (table := training_table(here, offloads, *way)) is not None]
        at = (key, variant.sampler)
        if at not in serving:
            serving[at] = list(range(len(tables), len(tables) + len(known[key])))
            tables += [(here, table) for table in known[key]]
        found.append(serving[at])
    return tables, found


def _scoring_key(variant: Variant) -> Hashable:
    return _alone(variant.workload, variant.own).structure_key, variant.kernels


def _scoring_tables(context: Context, variants: Sequence[Variant]) -> dict[Hashable, tuple[Context, ScoringTable]]:
    """Tables of every set of passes that has a pool of its own."""
    found: dict[Hashable, tuple[Context, ScoringTable]] = {}
    for variant in variants:
        if variant.own and _scoring_key(variant) not in found:
            here = replace(context_of(context, _alone(variant.workload, variant.own)), kernels=variant.kernels)
            table = scoring_table(here)
            if table is not None:
                found[_scoring_key(variant)] = (here, table)
    return found


def _without_people(request: Request) -> list[str]:
    """What to say where no person is billed; nothing where the request prices an hour at 0 on purpose."""
    price, costs = request.costs.engineer_hour, request.costs
    if price is None:
        return ["people are not on the bill: give costs.engineer_hour with setup_hours or on_call_hours_per_day"]
    hours = any(costs.setup_hours.of(name) for name in request.placements) or costs.on_call_hours_per_day
    hours = hours or costs.hours_per_failure or costs.hours_per_trial or costs.waiting_people
    automatic = costs.idle.automatic is not None
    if not price.amount or hours or automatic:
        return []
    return ["people are not on the bill: costs.engineer_hour is given without setup_hours or on_call_hours_per_day"]


def _left_out(
    tables: Sequence[TrainingTable | SamplingTable | ScoringTable],
    request: Request,
    market: Market,
    stops: Floats,
    catalog: Catalog,
    *,
    prepares: bool,
) -> tuple[dict[str, int], list[str]]:
    """Counts of what was left out by fact, and what the plan has to say of it."""
    notes: list[str] = []
    excluded: Counter[str] = Counter(market.left_out)
    excluded["needs more memory than there is"] = sum(
        table.misfits if isinstance(table, TrainingTable) else table.tried - len(table) for table in tables
    )
    for reason, count in (
        ("no failure rate is known", int(np.isnan(stops).sum())),
        ("the GPU's peak at a wanted precision is not known", sum(table.unknown for table in tables)),
    ):
        if count:
            excluded[reason] = count
            notes.append(f"{count:,} candidates left out: {reason}")
    if request.limits.max_gpus is None:
        notes.append(f"limits.max_gpus is not set: plans of up to {SEARCHED_GPUS} GPUs were searched")
    if catalog.operations.assumed:
        assumed = (*catalog.operations.assumed, *catalog.nodes.assumed_by(prepares=prepares))
        notes.append("assumed, not measured: " + ", ".join(assumed))
    notes += _without_network(request, market)
    notes += _without_people(request)
    notes += recovery_notes(request, catalog)
    return dict(excluded), notes


def _without_network(request: Request, market: Market) -> list[str]:
    """What a floor on the simulators' bandwidth leaves out because a machine's network is not stated."""
    world = request.job.environment
    if request.floors.simulator_bandwidth is None or world is None or world.kind == "tools":
        return []
    unknown = sum(offer.shape.internode_gbps is None for offer in market.offers)
    text = (
        f"{unknown:,} offers whose network is not known: left out, floors.simulator_bandwidth cannot be shown to hold"
    )
    return [text] if unknown else []
