"""What a configuration costs and takes, whether it fits, what it breaks, and what the optimum changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rlopt.answers.configuration import Configuration
from rlopt.answers.evaluation import Broken, ConfigurationEvaluation
from rlopt.answers.plan import FoundPlan, Plan
from rlopt.problem import Problem
from rlopt.rules import rules_of
from rlopt.studies.cheapest import cheapest
from rlopt.studies.configuration.price import PricedConfiguration, price
from rlopt.studies.configuration.remedies import remedies
from rlopt.studies.configuration.shortfall import misfit
from rlopt.studies.configuration.sources import sources_of
from rlopt.studies.configuration.user_machines import UserMachines, admitting
from rlopt.studies.diff import difference
from rlopt.studies.problem import part_of


def evaluate(problem: Problem, config: Configuration, name: str, backend: str = "pulp") -> ConfigurationEvaluation:
    """Evaluate a configuration of the problem's job beside its optimum. Raises InputError for one that cannot be."""
    found = price(problem, config, backend=backend)
    optimum = _optimum(problem, found.machines, backend)
    outside = [key for key in found.outside if key not in found.broken]
    notes = [*config.notes, *found.machines.notes]
    if config.ignored:
        notes.append(f"not held, so the request's word counts or none does: {', '.join(config.ignored)}")
    common: Mapping[str, Any] = {"name": name, "optimum": optimum, "notes": notes}
    if found.plan is None:
        why, memory = misfit(found.problem, config, found.machines)
        why = why.model_copy(update={"remedies": remedies(problem, config, why.pool, backend)})
        stated = sources_of(config, None)[0]
        return ConfigurationEvaluation(fits=False, misfit=why, memory=memory, stated=stated, outside=outside, **common)
    stated, taken = sources_of(config, found.plan)
    choices = [key for key in outside if key.startswith("choices.")]
    return ConfigurationEvaluation(
        fits=True,
        memory=list(found.memory),
        stated=stated,
        taken=taken,
        breaks=_breaks(problem, found, found.plan),
        outside=choices,
        plan=found.plan,
        difference=difference(found.plan, optimum, (name, "the optimum")) if isinstance(optimum, FoundPlan) else None,
        **common,
    )


def _breaks(problem: Problem, found: PricedConfiguration, plan: FoundPlan) -> list[Broken]:
    """Limits and floors of the request that the configuration's plan exceeds, each with both numbers."""
    rows = list[Broken]()
    asked_of = {rule.key: rule for rule in rules_of(problem)}
    for key in found.breaks:
        rule = asked_of.get(key)
        if rule is None:
            rows.append(Broken(constraint=key, value=None, limit=None, unit=""))
            continue
        value = rule.measure(plan, found.problem)
        rows.append(Broken(constraint=key, value=float(value), limit=rule.limit, unit=rule.unit))
    return rows


def _optimum(problem: Problem, machines: UserMachines, backend: str) -> Plan:
    """The cheapest plan of the request; machines with a price of the configuration's are among its choices."""
    request = problem.request.replaced("objective", "cost")
    if not machines.own:
        return cheapest(replace(problem, request=request), backend)
    mine = machines.own
    allowed = {offer.id for offer in problem.market.offers} | mine
    wide = admitting(request, machines)
    return cheapest(part_of(problem, wide, lambda offer: offer.id in allowed, catalog=machines.catalog), backend)
