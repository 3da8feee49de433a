"""From a request and facts to a frozen problem. This page tells the method; each step is a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rlopt.facts import Catalog, Model, Offer
from rlopt.market.launchers import elastic, with_known_kernels
from rlopt.market.market import open_market
from rlopt.market.price_book import TariffBook, zone_tariff
from rlopt.market.recovery_options import recovery_options, waits
from rlopt.pools.builder import Builder
from rlopt.pools.checkpoints import checkpoint_of, intervals
from rlopt.pools.context import make_context
from rlopt.pools.growth import tables_of
from rlopt.pools.handover import hand_over, link_gb_s
from rlopt.pools.loading.grid import load_table
from rlopt.pools.loading.pools import with_loading
from rlopt.pools.notes import SEARCHED_GPUS, fact_notes, job_notes, left_out
from rlopt.pools.parts import pools_by_part, tables_by_part
from rlopt.pools.pricing import interruption_rates
from rlopt.pools.training.room import closest_of
from rlopt.problem import Problem
from rlopt.problem.fixed import Fixed
from rlopt.problem.tariff import TierTable, environment_rates, scorer_rates
from rlopt.request import Request
from rlopt.words import Placement
from rlopt.workloads.variants import workload_variants


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
    # the ways to run the job, the machines on offer, and what each region charges beside them
    variants, kernel_notes = with_known_kernels(request, workload_variants(request, models), catalog)
    workload, workloads = variants[0].workload, [variant.workload for variant in variants]
    gpu_limit = request.limits.max_gpus or SEARCHED_GPUS
    market = open_market(request, catalog, gpu_limit, only)
    book = TariffBook(catalog, request, workload, catalog.operations)
    tariffs = tuple(zone_tariff(book, *zone, [variant.cpu for variant in variants]) for zone in market.zones)
    stops = interruption_rates(market, catalog)

    # estimates: memory and seconds of every layout and engine, by the parts of a step
    experts = any(role.model.experts > 0 for each in workloads for role in each.roles)
    context = make_context(request, catalog, workload, market, gpu_limit, experts=experts)
    context = context if held is None else replace(context, only=held.sizes)
    apart = bool({Placement.DISAGGREGATED, Placement.ASYNC} & set(request.placements)) and workload.generates
    tables = tables_by_part(context, variants, apart)
    sync, later = hand_over(tables.training_contexts, variants)
    tables = tables if held is None else tables.kept(held)
    nearest = [table.nearest for _, table in tables.training]

    # pools: the best rows of each table with every offer's price, then with the ways to bring them their samples
    builder = Builder(context, stops, environment_rates(tariffs, len(context.instances)))
    pools = pools_by_part(builder, tables, variants, apart, scorer_rates(tariffs, len(variants)))
    bare = pools.training, pools.colocated
    loading = load_table(book, market, tariffs, variants, link_gb_s(context), bare)
    training, colocated = (with_loading(loading, part, market, builder.left_out) for part in bare)

    # what is not among them, and what a plan has to say
    excluded = left_out(tables, market, stops)
    prepares = loading is not None and loading.vcpu_seconds > 0.0 and request.job.data.prepare.host_share is None
    notes = fact_notes(request, market, catalog, excluded, prepares)
    notes += [*kernel_notes, *job_notes(request, workloads, nearest)]
    return Problem(
        request=request,
        catalog=catalog,
        workload=workload,
        variants=variants,
        models=models,
        market=market,
        operations=catalog.operations,
        tariffs=tariffs,
        tiers=TierTable.of(tariffs),
        checkpoint=checkpoint_of(request, variants, context.calibration),
        intervals=intervals(request, variants),
        training=training,
        rollout=pools.rollout,
        scoring=pools.scoring,
        colocated=colocated,
        estimates=tables_of(context, tables, builder),
        sync_seconds=sync,
        later_seconds=later,
        staleness=context.staleness,
        exposed_share=float(context.calibration.rl["exposed_share"]),
        candidates=tables.tried(len(workload.group_sizes)),
        excluded=excluded | builder.left_out,
        warnings=(*warnings, *market.warnings, *notes),
        gpu_limit=gpu_limit,
        recovery_options=recovery_options(request),
        elastic=elastic(request, catalog),
        faults_per_node=interruption_rates(market, catalog, reclaims=False),
        wait_hours=waits(request, market, catalog),
        loading=loading,
        bare=None if loading is None else bare,
        nearest=closest_of(nearest),
    )
