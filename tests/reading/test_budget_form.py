"""Budgets where files and changes meet: an amount is short for the total, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlopt.errors import Complaint
from rlopt.reading.files.budget_form import alike
from rlopt.reading.request_file import load_request

Load = Callable[..., Any]
Complain = Callable[..., tuple[Complaint, ...]]

FORMS = st.one_of(
    st.none(),
    st.just("5 USD"),
    st.dictionaries(st.sampled_from(["total", "storage", "data"]), st.just("1 USD"), min_size=1),
)


def test_changes_by_dimension_and_of_the_total(bases: dict[str, str], load: Load) -> None:
    text = bases["grpo"]  # budget: 100 USD
    found = load(text, "limits.budget.storage=5 USD")
    assert (found.budget_usd, found.budgets_usd) == (100.0, {"storage": 5.0})
    found = load(text, "limits.budget.storage=5 USD", "limits.budget=20000 USD")
    assert (found.budget_usd, found.budgets_usd) == (20000.0, {"storage": 5.0})
    found = load(text, "limits.budget.total=7 USD")
    assert (found.budget_usd, found.budgets_usd) == (7.0, {})
    found = load(text, "limits.budget={storage: 5 USD}")
    assert (found.budget_usd, found.budgets_usd) == (None, {"storage": 5.0})
    assert load(text, "limits.budget=null").limits.budget is None
    assert load(bases["sft"], "limits.budget.data=1 USD").budgets_usd == {"data": 1.0}


@pytest.mark.parametrize(
    ("below", "above", "total", "parts"),
    [
        ("9 USD", "{storage: 5 USD}", 9.0, {"storage": 5.0}),
        ("{storage: 5 USD, total: 9 USD}", "7 USD", 7.0, {"storage": 5.0}),
        ("{storage: 5 USD}", "{cache: 1 USD}", None, {"storage": 5.0, "cache": 1.0}),
        ("9 USD", "7 USD", 7.0, {}),
        ("{storage: 5 USD}", "null", None, {}),
    ],
)
def test_a_file_over_another(
    below: str,
    above: str,
    total: float | None,
    parts: dict[str, float],
    write: Callable[..., Path],
    bases: dict[str, str],
) -> None:
    write(f"limits: {{budget: {below}}}\n", "house.yaml")
    text = bases["grpo"].replace("version: 1", "version: 1\nextends: [house.yaml]")
    found = load_request(write(text.replace("budget: 100 USD", f"budget: {above}")))
    assert (found.budget_usd, found.budgets_usd) == (total, parts)


def test_a_dimension_keeps_its_line(bases: dict[str, str], complain: Complain) -> None:
    text = bases["grpo"].replace("budget: 100 USD", "budget:\n    total: 100 USD\n    storage: 5")
    (found,) = complain(text)
    assert (found.line, found.key) == (16, "limits.budget.storage")


@given(below=FORMS, above=FORMS)
def test_two_forms_become_alike_and_nothing_else_changes(below: Any, above: Any) -> None:
    old, new = {"limits": {"budget": below, "a": 1}}, {"limits": {"budget": above}, "b": 2}
    left, right = alike(old, new)
    kinds = {type(tree["limits"]["budget"]) for tree in (left, right)} - {type(None)}
    assert len(kinds) <= 1
    assert (left["limits"]["a"], right["b"]) == (1, 2)
    assert alike(left, right) == (left, right)
