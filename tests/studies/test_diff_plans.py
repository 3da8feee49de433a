"""Differences of solved plans: nothing that was decided stays unnamed, and the money adds up, also as it is shown."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import pytest

from rlopt.answers.plan import Plan
from rlopt.reports.text.diff import choices, money
from rlopt.studies.cheapest import cheapest
from rlopt.studies.diff import difference
from tests.oracle.problems import random_problem
from tests.reports import plans, rich_plans

FOLLOWS = {
    "memory",
    "failures_per_hour",
    "lost_per_hour",
    "faults_per_hour",
    "disk_gib",
    "gib",
    "usd",
    "hours",
    "seconds",
    "stored_gb",
    "traffic_gb",
    "update_seconds",
    "recovery_minutes",
    "stall_seconds",
}
"""What came of decisions: the only keys that may differ without being named."""


@lru_cache(maxsize=1)
def solved() -> list[Plan]:
    """Plans of small random problems, and those made by hand that have every kind of decision."""
    found = [cheapest(random_problem(seed, mixes=seed % 3 == 0)) for seed in range(40)]
    kept = [plan for plan in found if plan.cost is not None]
    rich = [make() for name, make in vars(rich_plans).items() if _makes_a_plan(name, make)]
    assert len(kept) > 10
    assert rich
    return [*kept, plans.optimal(), *rich, plans.faster()]


def _makes_a_plan(name: str, make: Any) -> bool:
    made = callable(make) and not name.startswith("_") and getattr(make, "__module__", "") == rich_plans.__name__
    return bool(made and not make.__code__.co_argcount and isinstance(make(), Plan))


def _leaves(tree: Any, path: str) -> dict[str, Any]:
    """Every value by its key; lists of plain values are one."""
    if isinstance(tree, dict):
        return {key: leaf for name, part in tree.items() for key, leaf in _leaves(part, f"{path}.{name}").items()}
    if isinstance(tree, list) and any(isinstance(part, dict) for part in tree):
        return {key: leaf for i, part in enumerate(tree) for key, leaf in _leaves(part, f"{path}[{i}]").items()}
    return {path: tree}


def _decided(plan: Plan) -> dict[str, Any]:
    document = plan.model_dump(mode="json")
    pools = {pool["name"]: {k: v for k, v in pool.items() if k != "name"} for pool in document["pools"]}
    found = _leaves(document["decisions"] or {}, "decisions") | _leaves(pools, "pools")
    return {
        key: value
        for key, value in found.items()
        if not FOLLOWS & {part.partition("[")[0] for part in key.split(".")[1:] if part}
    }


def _usd(cell: str) -> float:
    return float(cell.replace("$", "").replace(",", "").replace("+", ""))


@pytest.mark.parametrize("turned", [False, True])
def test_every_decision_that_differs_is_named_with_both_values(turned: bool) -> None:
    named = 0
    for a, b in pairwise(solved()[:: -1 if turned else 1]):
        before, after = _decided(a), _decided(b)
        differs = {
            key: (before.get(key), after.get(key)) for key in {*before, *after} if before.get(key) != after.get(key)
        }
        found = difference(a, b)
        changes = [*found.decisions, *found.pools]
        assert {one.key: (one.a, one.b) for one in changes} == differs
        rows = {row[0] for row in (*choices(found.decisions), *choices(found.pools))}
        for one in changes:  # shown by itself, or in the row of its pool or group
            key = one.key.partition(".")[2]
            assert rows & {key, key.partition(".")[0]}, key
        named += len(differs)
    assert named > 200


def test_money_adds_up_to_the_difference_of_the_totals_also_as_it_is_shown() -> None:
    for a, b in pairwise(solved()):
        assert a.cost is not None
        assert b.cost is not None
        more = b.cost.total_usd - a.cost.total_usd
        found = difference(a, b)
        assert found.more_usd == pytest.approx(more, abs=1e-6)
        assert sum(line.more_usd for line in found.lines) == pytest.approx(more, abs=1e-6)
        for side, plan in (("a_usd", a), ("b_usd", b)):
            billed = {line.item for line in found.lines}
            rest = sum(line.usd for line in plan.cost.lines if line.item not in billed) if plan.cost else 0.0
            total = plan.cost.total_usd if plan.cost else 0.0
            assert sum(getattr(line, side) for line in found.lines) + rest == pytest.approx(total, abs=1e-6)
        *rows, last = money(found)
        cells = [_usd(row[3]) for row in rows]
        assert sum(cells) == pytest.approx(_usd(last[3]), abs=0.005 * (len(cells) + 2))
