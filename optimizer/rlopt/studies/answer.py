"""A chosen joint column in domain words: the plan, with its bill and the prices it rests on."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from rlopt.candidates.detail import PoolDetail
from rlopt.costs import bill
from rlopt.costs.storage import best_tier_usd, copies, history_tier_usd
from rlopt.plan import (
    Binding,
    CatalogUsed,
    CheckpointDecision,
    Cost,
    Decisions,
    ErrorBand,
    LayoutChoice,
    LoggingDecision,
    Memory,
    Plan,
    PlanProvenance,
    Pool,
    PrecisionDecision,
    SolverSummary,
    StageTime,
    TierUse,
    Time,
)
from rlopt.problem import ASYNC, COLOCATED, PLACEMENTS, Columns, Pools, Problem
from rlopt.rules import rules_of
from rlopt.studies.prices import price_warnings, prices_used
from rlopt.units import bytes_to_gib, seconds_to_hours


def _pool(name: str, pools: Pools, row: int, detail: PoolDetail, problem: Problem) -> Pool:
    offer = problem.market.offers[int(pools.offer[row])]
    return Pool(
        name=name,
        roles=list(detail.roles),
        serves=list(detail.serves),
        provider=offer.provider,
        region=offer.region,
        zone=offer.zone,
        instance_type=offer.shape.instance_type,
        gpu=offer.shape.device,
        gpus_per_node=offer.shape.gpus,
        nodes=int(pools.nodes[row]),
        gpus=int(pools.gpus[row]),
        pricing=offer.pricing,
        usd_per_hour=float(pools.usd_per_hour[row]),
        layout=LayoutChoice.model_validate(dict(detail.layout)),
        precision=detail.precision,
        offer=offer.id,
        failures_per_hour=float(pools.failures_per_hour[row]),
        memory=Memory(
            needed_gib=detail.needed_gib,
            capacity_gib=detail.capacity_gib,
            host_gib=detail.host_gib,
            stage=detail.peak_stage,
            parts=dict(detail.parts),
        ),
    )


def _details(columns: Columns, j: int, problem: Problem) -> list[tuple[str, Pools, int, PoolDetail]]:
    if columns.placement[j] == COLOCATED:
        row = int(columns.train[j])
        name = "main" if problem.workload.generates else "train"
        return [
            (name, problem.colocated, row, problem.estimates.colocated_detail(int(problem.colocated.estimate[row])))
        ]
    u, v = int(columns.train[j]), int(columns.rollout[j])
    return [
        ("train", problem.training, u, problem.estimates.training_detail(int(problem.training.estimate[u]))),
        (
            "rollout",
            problem.rollout,
            v,
            problem.estimates.rollout_detail(int(problem.rollout.estimate[v]), bool(columns.placement[j] == ASYNC)),
        ),
    ]


def _cpu_pools(zone: int, problem: Problem) -> list[Pool]:
    return [
        Pool(
            name=cpu.name,
            roles=["environment"] if cpu.name == "environment" else ["control"],
            serves=[],
            provider=cpu.provider,
            region=cpu.region,
            zone=None,
            instance_type=cpu.instance_type,
            gpu=None,
            gpus_per_node=0,
            nodes=cpu.nodes,
            gpus=0,
            pricing="on_demand",
            usd_per_hour=cpu.usd_per_hour,
            layout=None,
            precision=None,
            memory=None,
            offer=cpu.offer,
        )
        for cpu in problem.tariffs[zone].cpu_pools
    ]


def _checkpoint(columns: Columns, j: int, problem: Problem) -> CheckpointDecision:
    """Tiers of the recent, best and history copies as the cost terms chose them, each tier's copies at their peak."""
    zone, tier = int(columns.zone[j]), int(columns.tier[j])
    tiers = problem.tariffs[zone].tiers
    hours, nodes = columns.expected_hours[j : j + 1], columns.nodes[j : j + 1].astype(float)
    zones = columns.zone[j : j + 1]
    kept = seconds_to_hours(problem.request.costs.keep_for.checkpoints)
    recent, best, history = copies(problem, int(columns.steps[j]))
    best_tier = int(best_tier_usd(problem, zones, hours, nodes, kept, columns.tier[j : j + 1])[1][0])
    history_tier = int(history_tier_usd(problem, zones, hours, kept)[1][0])
    state, weights = problem.checkpoint.resumable_bytes, problem.checkpoint.weights_bytes
    uses = [(tier, "recent", recent, state)]
    uses += [(best_tier, "best", best, weights)] if best else []
    uses += [(history_tier, "history", history, weights)] if history else []
    found = []
    for number in dict.fromkeys(use[0] for use in uses):
        here = [use for use in uses if use[0] == number]
        size = sum(count * size for _, _, count, size in here)
        found.append(
            TierUse(
                tier=tiers[number].name,
                copies=sum(count for _, _, count, _ in here),
                usd=0.0,
                gib=bytes_to_gib(size),
                roles=[role for _, role, _, _ in here],
            )
        )
    return CheckpointDecision(
        interval_steps=int(columns.interval_steps[j]), tiers=found, recovery_minutes=float(columns.recovery_minutes[j])
    )


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf(confidence)


def build_plan(columns: Columns, j: int, problem: Problem, solver: SolverSummary, status: str) -> Plan:
    """The plan of joint column ``j``; its bill comes from the costs' arithmetic, not from the objective."""
    request, zone, placement = problem.request, int(columns.zone[j]), PLACEMENTS[int(columns.placement[j])]
    details = _details(columns, j, problem)
    pools = [_pool(name, table, row, detail, problem) for name, table, row, detail in details]
    stages = [
        StageTime(stage=s.stage, pool=name, seconds=s.seconds, utilization=s.utilization, model=s.model)
        for name, _, _, detail in details
        for s in detail.stages
    ]
    overhead = problem.sync_seconds[int(columns.placement[j])]
    stages.append(StageTime(stage="transfer", pool=pools[-1].name, seconds=overhead, model="policy"))
    pools += _cpu_pools(zone, problem)
    expected, confident = float(columns.expected_hours[j]), float(columns.confident_hours[j])
    confidence = request.limits.confidence
    z = _quantile(confidence)
    generates = problem.workload.generates
    checkpoint = _checkpoint(columns, j, problem)
    scores = [d.score_precision for _, _, _, d in details if d.score_precision]
    rollouts = [d.rollout_precision for _, _, _, d in details if d.rollout_precision]
    prices = prices_used(pools, zone, checkpoint.tiers, problem)
    unmeasured = {
        pool.gpu: detail.band
        for pool, (_, _, _, detail) in zip(pools, details, strict=False)
        if pool.gpu and not detail.measured
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
        ),
        decisions=Decisions(
            placement=placement,
            group_size=int(columns.group_size[j]) if generates else None,
            precision=PrecisionDecision(
                rollout=rollouts[0] if rollouts else None,
                score=scores[0] if scores else None,
                update=details[0][3].precision,
            ),
            staleness=int(columns.staleness[j]),
            checkpoint=checkpoint,
            logging=LoggingDecision(text_log_rate=request.floors.text_log_rate or 0.0),
            environment=None
            if problem.workload.tools is None
            else {"kind": "tools", "instances": problem.workload.tools.instances},
        ),
        pools=pools,
        binding=[],
        relaxations=[],
        warnings=[*notes, *problem.warnings, *problem.tariffs[zone].warnings, *price_warnings(prices, pools, newest)],
        provenance=PlanProvenance(
            catalogs=[CatalogUsed(name=p.name, as_of=p.as_of) for p in problem.catalog.provenance],
            prices=prices,
            calibration="catalogs/calibration",
            error_band=ErrorBand(
                time=math.log(confident / expected) / z if z > 1e-9 else 0.0,
                memory=max(d.memory_margin for _, _, _, d in details),
            ),
        ),
        currency=request.costs.currency,
        exchange_rates={name: money.amount for name, money in request.costs.exchange_rates.items()},
        reasons=[str(reason) for reason in request.reasons],
    )
    return _with_bill(plan, problem)


def _with_bill(plan: Plan, problem: Problem) -> Plan:
    lines = bill(plan, problem)
    priced = plan.model_copy(update={"cost": Cost(total_usd=math.fsum(line.usd for line in lines), lines=lines)})
    if priced.decisions is None:
        return priced
    storage = {line.item.split()[0]: line.usd for line in lines if line.dimension == "storage"}
    tiers = [
        use.model_copy(update={"usd": sum(storage.get(role, 0.0) for role in use.roles)})
        for use in priced.decisions.checkpoint.tiers
    ]
    checkpoint = priced.decisions.checkpoint.model_copy(update={"tiers": tiers})
    decisions: dict[str, Any] = {"decisions": priced.decisions.model_copy(update={"checkpoint": checkpoint})}
    priced = priced.model_copy(update=decisions)
    binding = [
        Binding(constraint=rule.key, value=rule.measure(priced, problem), limit=rule.limit, unit=rule.unit)
        for rule in rules_of(problem)
        if rule.relaxable and rule.binds(priced, problem)
    ]
    return priced.model_copy(update={"binding": binding})
