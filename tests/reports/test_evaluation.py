"""Evaluations as text: whether it fits, what it takes, what it breaks, what the optimum changes."""

from __future__ import annotations

import pytest

from rlopt.answers.evaluation import ConfigurationEvaluation
from rlopt.reports.layout import to_text
from rlopt.reports.text.evaluation import evaluation_report, headline
from tests.reports import evaluations, plans
from tests.reports.golden import check_golden
from tests.reports.test_explain import SOLVER_WORDS


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("name", ["of_fit", "of_misfit"])
def test_evaluations_read_as_kept(name: str, width: int) -> None:
    text = to_text(*evaluation_report(getattr(evaluations, name)()), width=width)
    check_golden(f"evaluation_{name}_{width}.txt", text)
    assert not SOLVER_WORDS.search(text)


def test_an_evaluation_survives_its_json() -> None:
    for found in (evaluations.of_fit(), evaluations.of_misfit()):
        assert ConfigurationEvaluation.model_validate_json(found.model_dump_json(by_alias=True)) == found


def test_it_keeps_what_it_should_only_where_it_fits_and_breaks_nothing() -> None:
    fit = evaluations.of_fit()
    assert not fit.keeps
    assert fit.model_copy(update={"breaks": []}).keeps
    assert not evaluations.of_misfit().keeps


def test_the_headline_says_why_the_optimum_costs_more_where_it_does() -> None:
    found = evaluations.of_fit()
    assert found.difference is not None
    dearer = found.model_copy(update={"difference": found.difference.model_copy(update={"more_usd": 12.5})})
    assert headline(dearer).endswith(
        "The cheapest plan which keeps the limits costs $12.50 more and is done 10.2 h later."
    )
    outside = dearer.model_copy(update={"breaks": []})
    assert "which the choices of the request allow costs $12.50 more" in headline(outside)
    assert "fewer sizes of pools" in headline(outside.model_copy(update={"outside": []}))


def test_where_the_request_has_no_plan_the_headline_says_so() -> None:
    found = evaluations.of_fit().model_copy(update={"optimum": plans.infeasible(), "difference": None})
    assert headline(found).endswith("Within the limits of the request there is no plan.")
    text = to_text(
        *evaluation_report(evaluations.of_misfit().model_copy(update={"optimum": plans.infeasible()})), width=100
    )
    assert "What would make it fit" in text
