"""What a configuration costs and takes, whether it fits, what it breaks, and what the optimum changes.

What is stated is held exactly, also where a search would not look; the rest takes its cheapest value. Limits that the
configuration does not keep are lifted, as few as possible, and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rlopt.answers.configuration import Configuration
from rlopt.answers.evaluation import Broken, ConfigurationEvaluation, StageNeed
from rlopt.answers.plan import Plan
from rlopt.columns.joint import pool_rows
from rlopt.errors import NotSupportedError
from rlopt.facts import Catalog
from rlopt.problem import Columns, Problem
from rlopt.problem.detail import PoolDetail
from rlopt.request import Request
from rlopt.rules import rules_of
from rlopt.studies.cheapest import cheapest, find, solve_column
from rlopt.studies.configuration.broken_limits import broken as keys_broken
from rlopt.studies.configuration.fixed_problem import Build, held, narrowed, stated_rules
from rlopt.studies.configuration.published_request import without
from rlopt.studies.configuration.remedies import Tried
from rlopt.studies.configuration.shortfall import misfit
from rlopt.studies.configuration.sources import said
from rlopt.studies.configuration.user_machines import UserMachines, admitting, machines_of
from rlopt.studies.configuration.widened_request import asked
from rlopt.studies.diff import difference
from rlopt.words import ASYNC, COLOCATED

__all__ = ["PricedConfiguration", "evaluate", "price"]


@dataclass(frozen=True, slots=True)
class PricedConfiguration:
    """A configuration as the cheapest plan that is one; ``plan`` None where none is."""

    problem: Problem
    plan: Plan | None
    memory: tuple[StageNeed, ...]
    broken: tuple[str, ...]
    outside: tuple[str, ...]
    machines: UserMachines


def price(
    config: Configuration, request: Request, catalog: Catalog, build: Build, backend: str = "pulp"
) -> PricedConfiguration:
    """Hold a configuration and price it. Raises InputError where it contradicts itself, the request or the catalogs."""
    machines = machines_of(config, request, catalog)
    question = asked(config, request, machines)
    problem = _built(config, question.request, machines, build)
    more = stated_rules(problem, config)
    broken = keys_broken(problem, more) if _any(problem) else None
    if broken is None:
        return PricedConfiguration(problem, None, (), (), question.outside, machines)
    if broken:
        problem = _built(config, without(question.request, broken), machines, build)
        more = stated_rules(problem, config)
    found = find(problem, "cost", [*rules_of(problem), *more])
    plan, column = solve_column(problem, found, "cost", backend)
    if column is None:
        return PricedConfiguration(problem, None, (), broken, question.outside, machines)
    return PricedConfiguration(problem, plan, _memory(column, problem), broken, question.outside, machines)


def _built(config: Configuration, request: Request, machines: UserMachines, build: Build) -> Problem:
    ids = machines.all
    try:
        problem = build(request, machines.catalog, lambda offer: offer.id in ids, held(config, machines))
    except NotSupportedError as error:
        size = config.decisions.group_size
        if size is None or size in request.group_sizes:
            raise
        message = f"no number of steps is known for group size {size}"
        raise config.wrong(None, "group_size", message, str(error.message), "name a size of job.convergence") from None
    return narrowed(problem, config, machines)


def _any(problem: Problem) -> bool:
    return bool(len(problem.colocated) or (len(problem.training) and len(problem.rollout)))


def _details(column: Columns, problem: Problem) -> list[tuple[str, PoolDetail]]:
    """Every pool of a column (one row) by its name."""
    estimates, placement = problem.estimates, int(column.placement[0])
    found = []
    for pools, row in pool_rows(column, 0, problem):
        at = int(pools.estimate[row])
        if placement == COLOCATED:
            found.append(("main" if problem.workload.generates else "train", estimates.colocated_detail(at)))
        elif pools is problem.training:
            found.append(("train", estimates.training_detail(at)))
        elif pools is problem.rollout:
            found.append(("rollout", estimates.rollout_detail(at, placement == ASYNC)))
        else:
            found.append(("score", estimates.scoring_detail(at)))
    return found


def _memory(column: Columns, problem: Problem) -> tuple[StageNeed, ...]:
    """Every stage of every pool of the plan's column (one row)."""
    return tuple(
        StageNeed(
            pool=name,
            stage=stage,
            needed_gib=sum(parts.values()),
            capacity_gib=detail.capacity_gib,
            parts={part: float(value) for part, value in parts.items()},
        )
        for name, detail in _details(column, problem)
        for stage, parts in detail.by_stage.items()
    )


def evaluate(
    problem: Problem, config: Configuration, build: Build, name: str, backend: str = "pulp"
) -> ConfigurationEvaluation:
    """Evaluate a configuration of the problem's job beside its optimum. Raises InputError for one that cannot be."""
    request, catalog = problem.request, problem.catalog
    found = price(config, request, catalog, build, backend)
    optimum = _optimum(problem, found.machines, build, backend)
    outside = [key for key in found.outside if key not in found.broken]
    notes = [*config.notes, *found.machines.notes]
    if config.ignored:
        notes.append(f"not held, so the request's word counts or none does: {', '.join(config.ignored)}")
    common: Mapping[str, Any] = {"name": name, "optimum": optimum, "notes": notes}
    if found.plan is None:

        def attempt(one: Configuration, wider: Request) -> Tried | None:
            tried = price(one, wider, catalog, build, backend)
            return None if tried.plan is None else (tried.plan, _broken_keys(tried))

        why, memory = misfit(found.problem, config, found.machines, request, attempt)
        stated = said(config, None)[0]
        return ConfigurationEvaluation(fits=False, misfit=why, memory=memory, stated=stated, outside=outside, **common)
    stated, taken = said(config, found.plan)
    choices = [key for key in outside if key.startswith("choices.")]
    return ConfigurationEvaluation(
        fits=True,
        memory=list(found.memory),
        stated=stated,
        taken=taken,
        breaks=_breaks(problem, found),
        outside=choices,
        plan=found.plan,
        difference=difference(found.plan, optimum, (name, "the optimum")) if optimum.pools else None,
        **common,
    )


def _broken_keys(found: PricedConfiguration) -> tuple[str, ...]:
    """Limits and floors that a priced configuration does not keep."""
    return tuple(dict.fromkeys((*(key for key in found.outside if key.startswith("limits.")), *found.broken)))


def _breaks(problem: Problem, found: PricedConfiguration) -> list[Broken]:
    """Limits and floors of the request that the configuration's plan exceeds, each with both numbers."""
    assert found.plan is not None
    plan, rows = found.plan, list[Broken]()
    asked_of = {rule.key: rule for rule in rules_of(problem)}
    for key in _broken_keys(found):
        rule = asked_of.get(key)
        if rule is None:
            rows.append(Broken(constraint=key, value=None, limit=None, unit=""))
            continue
        value = rule.measure(plan, found.problem)
        rows.append(Broken(constraint=key, value=float(value), limit=rule.limit, unit=rule.unit))
    return rows


def _optimum(problem: Problem, machines: UserMachines, build: Build, backend: str) -> Plan:
    """The cheapest plan of the request; machines with a price of the configuration's are among its choices."""
    request = problem.request.replaced("objective", "cost")
    if not machines.own:
        return cheapest(replace(problem, request=request), backend)
    mine = machines.own
    allowed = {offer.id for offer in problem.market.offers} | mine
    wide = admitting(request, machines)
    return cheapest(build(wide, machines.catalog, lambda offer: offer.id in allowed, None), backend)
