"""Every kind of report in Chinese, of the plans that the other tests of reports use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.console import RenderableType

from rlopt import language
from rlopt.language.catalogue import catalogue
from rlopt.reports.layout import to_text
from rlopt.reports.text.evaluation import evaluation_report
from rlopt.reports.text.explain import explanation_report
from rlopt.reports.text.frontier import frontier_report
from rlopt.reports.text.plan import plan_report
from rlopt.reports.wrapping import breaks
from tests.language.heard import english_left, listening
from tests.reports import evaluations, explanations, plans, rich_plans

MADE_UP = (
    "costs.engineer_hour is not set [see docs]",
    "the failure rate is not known",
    "operations: failures",
    "failures (",
    "weights to the reader",
    "× 1 trial",
    "× 1 month",
    "same region: free",
    "fitted to 212 published steps",
    "another one is no slower and no dearer",
    "extra epochs",
    "set-up",
    "price list",
    "nobody reads the logs",
    "job.trainable: lora_rank",
    "release",
)
"""Texts of those plans that no program ever writes, or that somebody wrote."""

REPORTS: dict[str, Callable[[], Sequence[RenderableType]]] = {
    "optimal": lambda: plan_report(plans.optimal()),
    "feasible": lambda: plan_report(plans.feasible()),
    "infeasible": lambda: plan_report(plans.infeasible()),
    "nothing found": lambda: plan_report(plans.nothing_found()),
    "mixed": lambda: plan_report(rich_plans.mixed()),
    "acting": lambda: plan_report(rich_plans.acting()),
    "explain": lambda: explanation_report(explanations.of_plan()),
    "explain no plan": lambda: explanation_report(explanations.of_no_plan()),
    "evaluate": lambda: evaluation_report(evaluations.of_fit()),
    "evaluate misfit": lambda: evaluation_report(evaluations.of_misfit()),
    "frontier": lambda: frontier_report(plans.frontier()),
}


@pytest.mark.parametrize("name", REPORTS)
def test_no_english_is_left(name: str) -> None:
    with listening() as heard:
        to_text(*REPORTS[name]())
    left = [line for line in english_left(heard) if not any(words in line for words in MADE_UP)]
    assert not left, "\n".join(left)
    assert len(heard) > 3


@pytest.mark.parametrize(
    ("name", "width"), [("optimal", 60), ("optimal", 100), ("evaluate", 60), ("evaluate", 100), ("explain", 100)]
)
def test_lines_fit_and_tables_stand(name: str, width: int) -> None:
    with language.use("zh"):
        lines = to_text(*REPORTS[name](), width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert not any(line.lstrip().startswith(("，", "。", "；", "）")) for line in lines)


def test_the_bill_ends_in_line() -> None:
    with language.use("zh"):
        lines = to_text(*plan_report(plans.optimal())).split("\n\n")
    bill = next(part for part in lines if part.startswith("账单")).splitlines()
    rows = [line for line in bill if line.startswith(("  计算  ", "  运维  ", "  存储  ", "  合计  "))]
    amounts = [line[: line.index(amount) + len(amount)] for line in rows for amount in line.split()[1:2]]
    assert len({cell_len(line) for line in amounts}) == 1


def test_words_and_numbers_are_not_cut() -> None:
    text = "成本为 1234.56 USD，由 aws/us-east-1/s3/standard 存放。"
    for width in range(26, 60):
        cuts = [0, *breaks(text, width), len(text)]
        lines = [text[start:end] for start, end in pairwise(cuts)]
        assert "".join(lines) == text
        assert all(cell_len(line.rstrip()) <= width for line in lines)
        for whole in ("1234.56", "aws/us-east-1/s3/standard"):
            assert any(whole in line for line in lines)


def test_an_english_report_never_reads_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(of: str) -> None:
        raise AssertionError(of)

    monkeypatch.setattr("rlopt.language.catalogue.catalogue", never)
    to_text(*plan_report(plans.optimal()))
    assert catalogue is not never
