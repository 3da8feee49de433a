"""The objective of each cost alone, as an LP text: of the plain problem, and of one with everything on the bill."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rlopt.costs import COSTS, column_costs
from rlopt.problem import Problem
from rlopt.search.formulate import formulate
from tests.costs.golden import matches
from tests.costs.hand import columns_of, hand_problem
from tests.costs.rich import rich_problem

FOLDER = Path(__file__).parent / "golden"
PROBLEMS = {"": hand_problem, "-rich": lambda: rich_problem(acting=True)}


def objective(problem: Problem, cost: ModuleType, path: Path) -> None:
    columns = columns_of(problem)
    usd = np.sum(list(cost.terms(columns, problem).values()), axis=0)
    assert usd.shape == (len(columns),)
    matches(formulate(columns.with_cost(usd), problem, "cost", []), path)


@pytest.mark.parametrize("which", PROBLEMS)
@pytest.mark.parametrize("cost", COSTS, ids=lambda module: module.DIMENSION)
def test_the_objective_of_a_cost(cost: ModuleType, which: str) -> None:
    objective(PROBLEMS[which](), cost, FOLDER / f"{cost.DIMENSION}{which}.lp")


def test_the_objective_is_the_sum_of_all_costs() -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    total = sum(np.sum(list(cost.terms(columns, problem).values()), axis=0) for cost in COSTS)
    assert column_costs(columns, problem) == pytest.approx(total, rel=1e-12)
    assert formulate(columns, problem).objective == pytest.approx(total, rel=1e-12)


def test_every_cost_has_its_golden_text_and_no_text_is_left_over() -> None:
    wanted = {f"{cost.DIMENSION}{which}" for cost in COSTS for which in PROBLEMS}
    assert {path.stem for path in FOLDER.glob("*.lp")} == wanted
    for cost in COSTS:
        assert "+" in (FOLDER / f"{cost.DIMENSION}-rich.lp").read_text(encoding="utf-8").split("Subject", 1)[0]
