"""Near-optimal alternatives, held against every subset of a small market solved alone."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest

from rlopt import api
from rlopt.answers.plan import Plan
from rlopt.errors import MissingFactError
from rlopt.pools.build import build_problem
from rlopt.request import Request
from rlopt.studies.alternatives import Mark, marks
from rlopt.studies.cheapest import cheapest
from tests.studies.small import asked, usd

OPEN = {
    "providers": ["gcp", "lambda"],
    "regions": "any",
    "pricing": ["on_demand", "spot"],
    "placements": ["colocated", "disaggregated"],
}
MANY = 50


def _subsets(names: list[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(names, n) for n in range(1, len(names) + 1)))


def _listed(request: Request) -> list[tuple[float, frozenset[Mark]]]:
    """The best plan of every subset of GPU types, providers and placements, cheapest first, one of each kind."""
    problem = api.problem_of(request)
    devices = sorted({offer.shape.device for offer in problem.market.offers})
    providers = sorted({offer.provider for offer in problem.market.offers})
    found: dict[frozenset[Mark], float] = {}
    for some in _subsets(devices):
        for where in _subsets(providers):
            for placements in _subsets(list(request.placements)):
                narrow = request.replaced("choices.placements", placements)
                try:
                    own = build_problem(
                        narrow,
                        problem.catalog,
                        problem.models,
                        only=lambda offer, some=some, where=where: (
                            offer.shape.device in some and offer.provider in where
                        ),
                    )
                except MissingFactError:
                    continue
                plan = cheapest(own)
                if plan.cost is not None:
                    kind = marks(plan)
                    found[kind] = min(found.get(kind, float("inf")), usd(plan))
    return sorted((value, kind) for kind, value in found.items() if kind)


def _expected(listed: list[tuple[float, frozenset[Mark]]], plan: Plan, within: float) -> list[float]:
    """Cheapest first, without those that use all that an earlier one uses."""
    kept: list[tuple[float, frozenset[Mark]]] = [(usd(plan), marks(plan))]
    for value, kind in sorted(listed, key=lambda one: one[0]):
        if value <= usd(plan) * (1 + within) and not any(kind >= other for _, other in kept):
            kept.append((value, kind))
    return [value for value, _ in kept[1:]]


def test_alternatives_are_those_of_every_subset() -> None:
    request = asked("grpo", choices=OPEN)
    plan, listed = api.solve(request, short_frontier=False), _listed(request)
    for within, least in ((0.05, 0), (0.5, 2), (5.0, 4)):
        found = api.with_alternatives(request, plan, MANY, within).alternatives
        assert [usd(other) for other in found] == pytest.approx(_expected(listed, plan, within), rel=1e-9)
        assert len(found) >= least


def test_alternatives_are_proven_other_plans_in_order() -> None:
    request = asked("grpo", choices=OPEN)
    plan = api.solve(request, short_frontier=False)
    found = api.with_alternatives(request, plan, 3, 5.0).alternatives
    assert len(found) == 3
    assert [usd(other) for other in found] == sorted(usd(other) for other in found)
    assert len({marks(other) for other in (plan, *found)}) == 4
    assert {other.status for other in found} == {"optimal"}


def test_no_alternative_stands_without_a_plan() -> None:
    request = asked("grpo", limits={"max_gpus": 8, "deadline": "1min"})
    plan = api.solve(request, short_frontier=False)
    assert api.with_alternatives(request, plan, 3).alternatives == []


def test_alternatives_of_a_job_that_does_not_generate() -> None:
    request = asked("sft", choices={"providers": ["gcp", "lambda"], "regions": "any", "placements": None})
    plan = api.solve(request, short_frontier=False)
    found = api.with_alternatives(request, plan, 2, 10.0).alternatives
    assert found
    kinds: list[Any] = [marks(other) for other in (plan, *found)]
    assert len(set(kinds)) == len(kinds)
