"""Budgets: one amount, or a map by dimension of the bill."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rlopt.request import Budgets, Limits, Request
from rlopt.units import Money
from tests.request.jobs import JOB

PARTS = ("compute", "storage", "network", "cache", "logging", "operations", "data")
AMOUNTS = st.one_of(st.none(), st.floats(0, 1e9).map(lambda amount: Money(amount, "USD")))


def request(budget: object) -> Request:
    costs = {"exchange_rates": {"CNY": "0.14 USD"}}
    return Request.model_validate({"job": JOB, "limits": {"budget": budget}, "costs": costs})


def test_an_amount_is_the_total() -> None:
    found = request("250 CNY")
    assert found.limits.budget == Money(250.0, "CNY")
    assert found.budget_usd == pytest.approx(35)
    assert found.budgets_usd == {}


def test_a_map_by_dimension() -> None:
    assert tuple(Budgets.model_fields) == ("total", *PARTS)
    found = request({"total": "100 USD", "storage": "5 USD", "cache": "10 CNY", "data": None})
    assert found.budget_usd == 100
    assert found.budgets_usd == {"storage": 5.0, "cache": pytest.approx(1.4)}
    only = request({"logging": "3 USD"})
    assert only.budget_usd is None
    assert only.budgets_usd == {"logging": 3.0}


@given(total=AMOUNTS, parts=st.dictionaries(st.sampled_from(PARTS), AMOUNTS))
def test_both_forms_survive_json_and_replacing_the_total(total: Money | None, parts: dict[str, Money | None]) -> None:
    for budget in (total, {"total": total, **parts}):
        found = request(budget)
        again = Request.model_validate_json(found.model_dump_json(by_alias=True))
        assert again.limits == found.limits
        for new in (Money(7.0, "USD"), None):
            changed = found.replaced("limits.budget", new)
            assert changed.budget_usd == (None if new is None else 7.0)
            assert changed.budgets_usd == found.budgets_usd


def test_single_dimensions_replaced() -> None:
    found = request("9 USD").replaced("limits.budget.storage", Money(2.0, "USD"))
    assert (found.budget_usd, found.budgets_usd) == (9.0, {"storage": 2.0})
    back = found.replaced("limits.budget.storage", None)
    assert back.limits.budget == Money(9.0, "USD")
    whole = found.replaced("limits.budget", Budgets(cache=Money(1.0, "USD")))
    assert (whole.budget_usd, whole.budgets_usd) == (None, {"cache": 1.0})
    with pytest.raises(KeyError):
        found.replaced("limits.budget.storrage", None)


@pytest.mark.parametrize("budget", [5, "5", [5], {"storrage": "5 USD"}, {"storage": 5}, True])
def test_what_is_no_budget(budget: object) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate({"budget": budget}, context={"written": True})
