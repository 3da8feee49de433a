"""Real jobs told in Chinese: what solve, check, explain and frontier print of them has no English left."""

from __future__ import annotations

import pytest

from rlopt import api
from rlopt.language import tr
from rlopt.reports.layout import to_text
from rlopt.reports.text.explain import explanation_report
from rlopt.reports.text.frontier import frontier_report
from rlopt.reports.text.plan import plan_report
from tests.examples import runs
from tests.language.heard import english_left, listening

GIVEN = ("'loosened or explained: ", "'a floor was loosened because: ")
"""What quotes the reason that somebody gave."""


@pytest.mark.parametrize("name", runs.NAMES)
def test_check_is_told_in_chinese(name: str) -> None:
    lines = api.check(runs.REQUESTS / f"{name}.yaml")
    with listening() as heard:
        for line in lines:
            tr(line)
    assert [text for text in english_left(heard) if not text.startswith(GIVEN)] == []


@pytest.mark.parametrize("number", ["04", "10", "14"])
def test_a_plan_is_told_in_chinese(number: str) -> None:
    plan = runs.solved(runs.name_of(number))
    with listening() as heard:
        to_text(*plan_report(plan))
    assert [text for text in english_left(heard) if not text.startswith(GIVEN)] == []


def test_an_explanation_is_told_in_chinese() -> None:
    request = runs.request(runs.name_of("04"))
    found = api.explain(request)
    with listening() as heard:
        to_text(*explanation_report(found))
    assert english_left(heard) == []


def test_a_frontier_is_told_in_chinese() -> None:
    curve = api.frontier(runs.request(runs.name_of("04")), points=3)
    with listening() as heard:
        to_text(*frontier_report(curve))
    assert english_left(heard) == []
