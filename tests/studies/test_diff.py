"""Two plans side by side: every decision that differs is named, and the money adds up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.answers.plan import Plan
from rlopt.reports.layout import to_text
from rlopt.reports.text.diff import choices, difference_markdown, difference_report
from rlopt.studies.diff import difference
from tests.reports import plans
from tests.reports.golden import check_golden
from tests.reports.test_explain import SOLVER_WORDS


def _leaves(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(tree, dict):
        return [leaf for key, part in tree.items() for leaf in _leaves(part, (*path, key))]
    return [path]


def _changed(plan: Plan, path: tuple[str | int, ...], value: Any) -> Plan:
    document = plan.model_dump(mode="json")
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return Plan.model_validate(document)


def test_a_plan_does_not_differ_from_itself() -> None:
    for plan in (plans.optimal(), plans.infeasible(), plans.feasible()):
        found = difference(plan, plan)
        assert (found.lines, found.decisions, found.pools) == ([], [], [])
        assert found.more_usd in (0.0, None)
    assert "the same plan" in to_text(*difference_report(difference(plans.optimal(), plans.optimal())), width=80)


def test_money_adds_up_to_the_difference_of_the_totals() -> None:
    a, b = plans.optimal(), plans.faster()
    assert a.cost is not None
    assert b.cost is not None
    found = difference(a, b)
    assert sum(line.more_usd for line in found.lines) == pytest.approx(b.cost.total_usd - a.cost.total_usd, abs=1e-9)
    assert found.more_usd == pytest.approx(b.cost.total_usd - a.cost.total_usd, abs=1e-9)
    back = difference(b, a)
    assert back.more_usd == pytest.approx(-(found.more_usd or 0.0))
    assert {line.item: line.more_usd for line in back.lines} == {line.item: -line.more_usd for line in found.lines}


def test_every_decision_that_differs_is_named() -> None:
    plan = plans.optimal()
    document = plan.model_dump(mode="json")
    checked = 0
    for path in _leaves(document["decisions"], ("decisions",)):
        old = document
        for step in path:
            old = old[step]
        new: Any = old + 1 if isinstance(old, int | float) and not isinstance(old, bool) else f"other {old}"
        if isinstance(old, bool | list) or path[-1] in ("seconds", "recovery_minutes"):
            continue
        try:
            other = _changed(plan, path, new)
        except ValueError:
            continue
        assert [one.key for one in difference(plan, other).decisions] == [".".join(map(str, path))]
        checked += 1
    assert checked >= 6


@given(gpus=st.integers(1, 512), price=st.floats(0.1, 500.0), offer=st.text(min_size=1, max_size=12))
def test_what_differs_of_a_machine_is_named(gpus: int, price: float, offer: str) -> None:
    plan = plans.optimal()
    pool = plan.pools[0]
    other = pool.model_copy(update={"gpus": gpus, "usd_per_hour": price, "offer": offer})
    found = difference(plan, plan.model_copy(update={"pools": [other, *plan.pools[1:]]}))
    changed = {"gpus": gpus != pool.gpus, "usd_per_hour": price != pool.usd_per_hour, "offer": offer != pool.offer}
    assert {one.key for one in found.pools} == {
        f"pools.{pool.name}.{key}" for key, differs in changed.items() if differs
    }


def test_a_pool_that_only_one_has_is_named_whole() -> None:
    plan = plans.optimal()
    found = difference(plan, plan.model_copy(update={"pools": plan.pools[:1]}))
    gone = {one.key.split(".")[1] for one in found.pools}
    assert gone == {pool.name for pool in plan.pools[1:]}
    assert all(one.b is None for one in found.pools)


@pytest.mark.parametrize("width", [60, 100])
def test_a_difference_reads_as_kept(width: int) -> None:
    found = difference(plans.optimal(), plans.faster(), ("plan.json", "faster.json"))
    check_golden(f"diff_{width}.txt", to_text(*difference_report(found), width=width))


def test_a_difference_reads_as_kept_in_markdown() -> None:
    found = difference(plans.optimal(), plans.faster(), ("plan.json", "faster.json"))
    text = difference_markdown(found)
    check_golden("diff.md", text)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows if "B - A" in row or "$" in row}) == 1


def test_without_a_plan_there_is_nothing_to_compare() -> None:
    found = difference(plans.optimal(), plans.infeasible())
    assert found.more_usd is None
    text = to_text(*difference_report(found), width=80)
    assert "B has no plan" in text
    assert "rlopt explain says what would help" in text
    assert "Money" not in text + difference_markdown(found), "a bill beside none adds up to nothing"
    assert not SOLVER_WORDS.search(text + difference_markdown(found))


def test_what_only_one_side_decides_is_one_row() -> None:
    plan = plans.optimal()
    assert plan.decisions is not None
    zeros = dict.fromkeys(("vcpus", "nodes", "mb_s", "paid_mb_s", "paid_iops"), 0)
    load = {"store": "object", **zeros, "units": 2, "gb": 10.0}
    other = _changed(plan, ("decisions", "load"), {**load, "stall_seconds": 1.0})
    found = difference(plan, other)
    assert {one.key for one in found.decisions} == {f"decisions.load.{key}" for key in load}
    assert choices(found.decisions) == [("load", "none", "store object, units 2, gb 10")]
