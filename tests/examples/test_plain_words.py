"""No word of the solver's trade reaches the terminal: every report on every published request, and every help."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from rich.console import RenderableType

from rlopt import api
from rlopt.answers.plan import Frontier
from rlopt.cli.entry import command_line
from rlopt.reading.configuration.saved_plan import of_plan
from rlopt.reports.layout import to_text
from rlopt.reports.text.diff import difference_markdown, difference_report
from rlopt.reports.text.evaluation import evaluation_report
from rlopt.reports.text.explain import explanation_report
from rlopt.reports.text.frontier import frontier_report
from rlopt.reports.text.plan import plan_report
from rlopt.studies.diff import difference
from tests.examples import runs

WORDS = r"duals?|slacks?|IIS|shadow prices?|simplex|MIP|relax\w*|infeasib\w*|incumbents?"
TRADE, OF_HELP = (re.compile(rf"\b({words})\b", re.I) for words in (f"{WORDS}|columns?", WORDS))
"""Columns are what a file has, where a help speaks of CSV."""
KEPT = sorted((Path(__file__).parents[1] / "reports" / "golden").glob("*.*"))
QUICK = {"02": "limits.max_gpus=32", "03": "limits.max_gpus=2", "11": "limits.max_gpus=8"}
"""Requests whose explanation is asked for, made small."""


def said(*parts: RenderableType) -> str:
    """Words of the trade in a report, with what stands around them."""
    text = to_text(*parts, width=100)
    return "; ".join(text[max(hit.start() - 40, 0) : hit.end() + 40] for hit in TRADE.finditer(text))


@pytest.mark.parametrize("name", runs.NAMES)
def test_of_plans(name: str) -> None:
    assert said(*plan_report(runs.solved(name))) == ""


def test_of_differences_between_neighbours() -> None:
    plans = [runs.solved(name) for name in runs.NAMES]
    for a, b in zip(plans, [*plans[1:], plans[0]], strict=True):
        found = difference(a, b, ("a.yaml", "b.yaml"))
        assert said(*difference_report(found)) == ""
        assert not TRADE.search(difference_markdown(found))


@pytest.mark.parametrize("number", runs.INFEASIBLE)
def test_of_why_there_is_no_plan(number: str) -> None:
    assert said(*explanation_report(runs.explained(runs.name_of(number)))) == ""


@pytest.mark.parametrize("number", QUICK)
def test_of_why_a_plan_is_what_it_is(number: str) -> None:
    found = runs.explained(runs.name_of(number), QUICK[number])
    assert found.complete
    assert said(*explanation_report(found)) == ""


@pytest.mark.parametrize("number", ["03", "04", "11"])
def test_of_configurations(number: str) -> None:
    """A plan of the request itself, and half of its GPUs."""
    name = runs.name_of(number)
    config = of_plan(runs.solved(name))
    assert said(*evaluation_report(api.evaluate(runs.request(name), config))) == ""
    pool = config.pools[0].model_copy(update={"usd_per_hour": 0.0, "gpu": "L4", "gpus": 1, "nodes": 1, "offer": None})
    plain = pool.model_copy(update={"instance_type": None, "gpus_per_node": None, "layout": type(pool.layout)()})
    mine = config.model_copy(update={"pools": (plain,), "decisions": type(config.decisions)()})
    assert said(*evaluation_report(api.evaluate(runs.request(name), mine))) == ""


@pytest.mark.parametrize("number", ["06"])
def test_of_frontiers(number: str) -> None:
    found = Frontier.model_validate(runs.frontier(runs.name_of(number)))
    assert found.points
    assert said(*frontier_report(found)) == ""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_of_texts_that_are_kept(path: Path) -> None:
    """Reports that no request above has: reviews, comparisons, catalogs, validation, stress."""
    assert not TRADE.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["", *command_line.commands])
def test_of_help(name: str) -> None:
    command = command_line.commands[name] if name else command_line
    text = command.get_help(click.Context(command, info_name=name or "rlopt"))
    assert not OF_HELP.search(text)
