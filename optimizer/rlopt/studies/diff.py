"""How one plan differs from another, decision by decision; its money adds up to the difference of the totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlopt.answers.difference import Change, Difference, LineChange, Side
from rlopt.answers.plan import FoundPlan, Plan, Pool

OUTCOMES = ("memory", "failures_per_hour", "lost_per_hour", "faults_per_hour", "disk_gib")
"""Fields of a pool that follow from what was chosen: they are no decisions."""
RESULTS = (
    "gib",
    "usd",
    "hours",
    "seconds",
    "stored_gb",
    "traffic_gb",
    "update_seconds",
    "recovery_minutes",
    "stall_seconds",
)
"""The same of decisions: ends of keys that are what came of them."""


def difference(a: Plan, b: Plan, names: tuple[str, str] = ("A", "B")) -> Difference:
    """Compare two plans, whatever their status."""
    lines, hours = _lines(a, b), None
    if isinstance(a, FoundPlan) and isinstance(b, FoundPlan):
        hours = a.time.confident_hours, b.time.confident_hours
    decided = [_decided(plan) for plan in (a, b)]
    pools = [flat({pool.name: chosen(pool) for pool in plan.pools}, "pools") for plan in (a, b)]
    return Difference(
        a=_side(a, names[0]),
        b=_side(b, names[1]),
        more_usd=None if hours is None else sum(line.more_usd for line in lines),
        more_hours=None if hours is None else hours[1] - hours[0],
        lines=sorted((one for one in lines if one.more_usd != 0.0), key=lambda one: -abs(one.more_usd)),
        decisions=_changes(decided[0], decided[1]),
        pools=_changes(pools[0], pools[1]),
    )


def _side(plan: Plan, name: str) -> Side:
    if not isinstance(plan, FoundPlan):
        return Side(name=name, status=plan.status, total_usd=None, expected_hours=None, confident_hours=None)
    return Side(
        name=name,
        status=plan.status,
        total_usd=plan.cost.total_usd,
        expected_hours=plan.time.expected_hours,
        confident_hours=plan.time.confident_hours,
    )


def _decided(plan: Plan) -> dict[str, Any]:
    return flat(plan.decisions.model_dump(mode="json"), "decisions") if isinstance(plan, FoundPlan) else {}


def _lines(a: Plan, b: Plan) -> list[LineChange]:
    sums: dict[tuple[Any, str], list[float]] = {}
    for side, plan in enumerate((a, b)):
        for line in plan.cost.lines if isinstance(plan, FoundPlan) else ():
            sums.setdefault((line.dimension, line.item), [0.0, 0.0])[side] += line.usd
    return [
        LineChange(dimension=dimension, item=item, a_usd=one, b_usd=other, more_usd=other - one)
        for (dimension, item), (one, other) in sums.items()
    ]


def chosen(pool: Pool) -> dict[str, Any]:
    """What was chosen of a pool, without what came of it."""
    return {key: value for key, value in pool.model_dump(mode="json").items() if key not in (*OUTCOMES, "name")}


def flat(tree: Any, path: str) -> dict[str, Any]:
    """Leaves by dotted key; a list of plain values is a leaf."""
    if isinstance(tree, Mapping):
        return {key: leaf for name, part in tree.items() for key, leaf in flat(part, f"{path}.{name}").items()}
    if isinstance(tree, list) and any(isinstance(part, Mapping) for part in tree):
        return {key: leaf for i, part in enumerate(tree) for key, leaf in flat(part, f"{path}[{i}]").items()}
    return {path: tree}


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    keys = [key for key in dict.fromkeys((*a, *b)) if key.rpartition(".")[2] not in RESULTS]
    return [Change(key=key, a=a.get(key), b=b.get(key)) for key in keys if a.get(key) != b.get(key)]
