"""A chosen column in domain words: the plan, with its bill and the prices it rests on."""

from __future__ import annotations

from rlopt.answers.plan import (
    Binding,
    CatalogUsed,
    Certainty,
    ErrorBand,
    FoundPlan,
    PerPoint,
    PhaseUsed,
    PlanProvenance,
    SolverSummary,
    Status,
)
from rlopt.assembly.bill import Billed, billed, storage_gib
from rlopt.assembly.chosen import ChosenColumn
from rlopt.assembly.notes import notes_of
from rlopt.assembly.prices import prices_used
from rlopt.assembly.timing import error_band
from rlopt.assembly.usage import usage_of
from rlopt.costs.phases import phases_of
from rlopt.problem import Columns, Problem
from rlopt.request.job.metrics import Target
from rlopt.rules import rules_of


def build_plan(columns: Columns, j: int, problem: Problem, solver: SolverSummary, status: Status) -> FoundPlan:
    """The plan of joint column ``j``; its bill comes from the costs' arithmetic, not from the objective."""
    return plan_of(ChosenColumn.of(problem, columns, j), solver, status)


def plan_of(
    chosen: ChosenColumn, solver: SolverSummary, status: Status, certainty: Certainty | None = None
) -> FoundPlan:
    """The plan of a chosen column, put together from its parts."""
    problem, request = chosen.problem, chosen.problem.request
    machines = chosen.pools()
    run = billed(chosen, machines)
    prices, phases = prices_used(chosen, run), phases_used(chosen)
    return FoundPlan(
        status=status,
        solver=solver,
        cost=run.cost,
        time=run.time,
        decisions=run.decisions,
        pools=run.pools,
        binding=binding(run, problem),
        relaxations=[],
        warnings=notes_of(chosen, machines, run, prices),
        provenance=PlanProvenance(
            catalogs=[CatalogUsed(name=one.name, as_of=one.as_of) for one in problem.catalog.provenance],
            prices=prices,
            calibration=request.calibration_name,
            error_band=ErrorBand(time=error_band(chosen), memory=max(one.detail.memory_margin for one in machines)),
        ),
        job=request.job.name,
        currency=request.costs.currency,
        exchange_rates={name: money.amount for name, money in request.costs.exchange_rates.items()},
        phases=phases,
        storage_gib=storage_gib(run, problem),
        tags=dict(request.job.tags),
        per_point=per_point(run.cost.total_usd, request.job.target),
        usage=usage_of(chosen, machines[0].detail, run, {phase.name for phase in phases}),
        reasons=[str(reason) for reason in request.reasons],
        certainty=certainty,
        worst=run.worst,
    )


def binding(run: Billed, problem: Problem) -> list[Binding]:
    """Limits and floors that one unit tighter would exclude this plan."""
    return [
        Binding(constraint=rule.key, value=rule.measure(run, problem), limit=rule.limit, unit=rule.unit)
        for rule in rules_of(problem)
        if rule.relaxable and rule.binds(run, problem)
    ]


def phases_used(chosen: ChosenColumn) -> list[PhaseUsed]:
    """The phases before the job that the plan's way to run it asks for."""
    return [
        PhaseUsed(
            name=phase.name,
            model=phase.option,
            usd=phase.usd or 0.0,
            runs=phase.runs,
            expected_hours=phase.hours,
            confident_hours=phase.confident_hours,
            machines=phase.machines,
        )
        for phase in phases_of(chosen.variant, chosen.problem)
    ]


def per_point(total_usd: float, target: Target | None) -> PerPoint | None:
    """The whole bill over the points that the target moves; None without a target.

    The total holds all trials and the job's share of what is done before it, so a target that takes many trials is as
    dear as it is.
    """
    if target is None:
        return None
    return PerPoint(metric=target.metric, points=target.points, usd_per_point=total_usd / target.points)
