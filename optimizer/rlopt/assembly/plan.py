"""A chosen joint column in domain words: the plan, with its bill and the prices it rests on."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from rlopt.answers.plan import (
    Binding,
    CatalogUsed,
    Cost,
    Decisions,
    ErrorBand,
    LoggingDecision,
    Plan,
    PlanProvenance,
    PrecisionDecision,
    SolverSummary,
    StageTime,
    Time,
)
from rlopt.assembly import decisions as decided
from rlopt.assembly import loading as decided_load
from rlopt.assembly.bottlenecks import idle_notes
from rlopt.assembly.cpu_pools import cpu_pools
from rlopt.assembly.first_last import first_and_last
from rlopt.assembly.memory_and_storage import host_warnings, storage_gib
from rlopt.assembly.per_point import per_point
from rlopt.assembly.phases import phase_notes, phase_prices, phases_used
from rlopt.assembly.pools import chosen_pools, pool_of, spare_pools
from rlopt.assembly.prices import price_warnings, prices_used, reclaim_warnings, request_warnings
from rlopt.assembly.screening import screening
from rlopt.assembly.usage import usage_of
from rlopt.assembly.worst_case import with_worst
from rlopt.columns.lead_time import pilot_runs
from rlopt.columns.pace import as_predicted
from rlopt.costs import bill
from rlopt.costs.operations import decision as release_decision
from rlopt.problem import Columns, Problem
from rlopt.rules import rules_of
from rlopt.units import seconds_to_hours
from rlopt.words import Placement, Precision, StageKind


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf(confidence)


def build_plan(columns: Columns, j: int, problem: Problem, solver: SolverSummary, status: str) -> Plan:
    """The plan of joint column ``j``; its bill comes from the costs' arithmetic, not from the objective."""
    request, zone, placement = problem.request, int(columns.zone[j]), Placement.at(int(columns.placement[j]))
    details = chosen_pools(columns, j, problem)
    pools = [pool_of(one, problem) for one in details]
    stages = decided_load.stage(columns, j, problem, pools[0].name)
    stages += [
        StageTime(
            stage=s.stage,
            pool=one.name,
            seconds=s.seconds,
            utilization=s.utilization,
            model=s.model,
            limited_by=s.limited_by,
        )
        for one in details
        for s in one.detail.stages
    ]
    overhead = float(problem.overhead(int(columns.placement[j]), columns.variant[j]))
    engines = [pool.name for pool in pools if StageKind.SAMPLE in pool.roles] or [pools[-1].name]
    stages.append(StageTime(stage="transfer", pool=engines[0], seconds=overhead, model="policy"))
    environment = int(columns.environment[j])
    stages += decided.cpu_stages(columns, j, problem)
    number = int(columns.variant[j])
    variant = problem.variants[number]
    pools += spare_pools(columns, j, pools[0], problem)
    pools += cpu_pools(columns, j, problem)
    expected, confident = float(columns.expected_hours[j]), float(columns.confident_hours[j])
    wait = float(columns.wait_hours[j]) if request.limits.deadline_from == "request" else 0.0
    pilots = request.job.pilots
    own = (confident - wait) / (1.0 + pilot_runs(problem) if pilots is not None and pilots.before_deadline else 1.0)
    error = math.log(own / expected)
    if request.limits.robust.time > 1.0:  # the band is the model's own, without the worst case on top
        error = math.log(as_predicted(problem, columns.take(slice(j, j + 1))) / expected)
    confidence = request.limits.confidence
    z = _quantile(confidence)
    generates = problem.workload.generates
    checkpoint = decided.checkpoint(columns, j, problem)
    scores = [one.detail.score_precision for one in details if one.detail.score_precision]
    rollouts = [one.detail.rollout_precision for one in details if one.detail.rollout_precision]
    named = dict.fromkeys([*(use.tier for use in checkpoint.tiers), *(move.to for move in checkpoint.moves)])
    prices = prices_used(pools, zone, environment, number, named, problem)
    later = (*decided_load.mount_prices(columns, j, problem), *phase_prices(variant, problem))
    prices += [price for price in later if price not in prices]
    unmeasured = {
        pool.gpu: one.detail.band
        for pool, one in zip(pools, details, strict=False)
        if pool.gpu and not one.detail.measured
    }
    notes = [f"no measurement of {gpu}: times ±{band:.0%} (80 % of cases)" for gpu, band in sorted(unmeasured.items())]
    newest = max((p.as_of for p in problem.catalog.provenance if p.as_of), default="")
    plan = Plan(
        status=status,
        solver=solver,
        cost=None,
        job=request.job.name,
        time=Time(
            expected_hours=expected,
            confidence=confidence,
            confident_hours=confident,
            deadline_hours=None if request.limits.deadline is None else seconds_to_hours(request.limits.deadline),
            step_seconds=float(columns.step_seconds[j]),
            steps=int(columns.steps[j]),
            stages=stages,
            failure_free_hours=float(columns.failure_free_hours[j]),
            startup_hours=problem.operations.overhead_hours,
            once_hours=float(columns.once_hours[j]),
            saving_hours=decided.saving_hours(columns, j, problem),
            divergence_hours=float(columns.divergence_hours[j]),
            waiting_hours=float(columns.wait_hours[j]),
            waiting_counts=request.limits.deadline_from == "request",
            pilot_hours=confident - wait - own,
            **first_and_last(columns, j, problem),
        ),
        decisions=Decisions(
            placement=placement,
            group_size=int(columns.group_size[j]) if generates else None,
            precision=PrecisionDecision(
                rollout=rollouts[0] if rollouts else None,
                score=min(scores, key=lambda name: Precision(name).rank, default=None),
                update=details[0].detail.precision,
            ),
            staleness=int(columns.staleness[j]),
            checkpoint=checkpoint,
            logging=LoggingDecision(
                text_log_rate=request.floors.text_log_rate or 0.0, kept_in=request.job.text_log.kept_in
            ),
            data=decided.data(variant, problem),
            models=variant.models,
            kernels=decided.kernels(variant, problem),
            scoring=variant.scored_on,
            environment=decided.environment(environment, problem),
            load=decided_load.load(columns, j, problem),
            operations=release_decision(columns, j, problem),
            action_head=variant.action_head,
            screening=screening(variant, [one.detail for one in details], int(columns.group_size[j]), problem),
            recovery=decided.recovery(columns, j, problem),
        ),
        pools=pools,
        binding=[],
        relaxations=[],
        warnings=[
            *notes,
            *host_warnings(pools),
            *decided_load.notes(columns, j, problem),
            *problem.warnings,
            *problem.tariffs[zone].warnings,
            *price_warnings(prices, pools, newest),
            *reclaim_warnings(pools, problem.catalog),
            *phase_notes(variant, problem, [*notes, *problem.warnings]),
        ],
        provenance=PlanProvenance(
            catalogs=[CatalogUsed(name=p.name, as_of=p.as_of) for p in problem.catalog.provenance],
            prices=prices,
            calibration=problem.request.calibration_name,
            error_band=ErrorBand(
                time=error / z if z > 1e-9 else 0.0,
                memory=max(one.detail.memory_margin for one in details),
            ),
        ),
        currency=request.costs.currency,
        exchange_rates={name: money.amount for name, money in request.costs.exchange_rates.items()},
        phases=phases_used(variant, problem),
        tags=dict(request.job.tags),
        reasons=[str(reason) for reason in request.reasons],
    )
    billed = _with_bill(with_worst(plan, columns, j, problem, build_plan), problem)
    return billed.model_copy(update={"usage": usage_of(billed, variant, details[0].detail, problem)})


def _with_bill(plan: Plan, problem: Problem) -> Plan:
    lines = bill(plan, problem)
    cost = Cost(total_usd=math.fsum(line.usd for line in lines), lines=lines)
    each = per_point(cost.total_usd, problem.request.job.target)
    priced = plan.model_copy(update={"cost": cost, "storage_gib": storage_gib(plan, problem), "per_point": each})
    more = [*request_warnings(plan, problem), *idle_notes(plan, problem)]
    priced = priced.model_copy(update={"warnings": [*plan.warnings, *more]})
    if priced.decisions is None:
        return priced
    storage = {line.item.split()[0]: line.usd for line in lines if line.dimension == "storage"}
    tiers = [
        use.model_copy(update={"usd": sum(storage.get(role, 0.0) for role in use.roles)})
        for use in priced.decisions.checkpoint.tiers
    ]
    checkpoint = priced.decisions.checkpoint.model_copy(update={"tiers": tiers})
    decided_all = {"checkpoint": checkpoint, "storage": decided.kept(priced, problem)}
    decisions: dict[str, Any] = {"decisions": priced.decisions.model_copy(update=decided_all)}
    priced = priced.model_copy(update=decisions)
    binding = [
        Binding(constraint=rule.key, value=rule.measure(priced, problem), limit=rule.limit, unit=rule.unit)
        for rule in rules_of(problem)
        if rule.relaxable and rule.binds(priced, problem)
    ]
    return priced.model_copy(update={"binding": binding})
