"""Explanations as text: each sentence says what, how much and what to do, and none speaks of solvers."""

from __future__ import annotations

import re

import pytest

from rlopt.answers.explanation import Explanation
from rlopt.reports.layout import to_text
from rlopt.reports.text.explain import explanation_report
from tests.reports import explanations, plans
from tests.reports.golden import check_golden

SOLVER_WORDS = re.compile(r"\b(dual|slack|IIS|shadow price|simplex|column|row|MIP|relaxation|infeasib\w*)\b", re.I)


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("name", ["of_plan", "of_no_plan"])
def test_explanations_read_as_kept(name: str, width: int) -> None:
    text = to_text(*explanation_report(getattr(explanations, name)()), width=width)
    check_golden(f"explain_{name}_{width}.txt", text)
    assert not SOLVER_WORDS.search(text)


def test_a_plan_that_nothing_holds_says_so() -> None:
    text = to_text(*explanation_report(Explanation(plan=plans.optimal())), width=100)
    assert "nothing: no limit or floor is reached" in text
    assert "there was nothing else to choose from" in text


def test_an_explanation_survives_its_json() -> None:
    for found in (explanations.of_plan(), explanations.of_no_plan()):
        assert Explanation.model_validate_json(found.model_dump_json(by_alias=True)) == found
