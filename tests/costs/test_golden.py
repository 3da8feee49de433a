"""The objective of each cost alone, as an LP text."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rlopt.costs import COSTS, column_costs
from rlopt.formulate import formulate
from tests.costs.golden import matches
from tests.costs.hand import columns_of, hand_problem

FOLDER = Path(__file__).parent / "golden"


@pytest.mark.parametrize("cost", COSTS, ids=lambda module: module.DIMENSION)
def test_the_objective_of_a_cost(cost: ModuleType) -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    usd = np.sum(list(cost.terms(columns, problem).values()), axis=0)
    assert usd.shape == (len(columns),)
    matches(formulate(columns.with_cost(usd), problem, "cost", []), FOLDER / f"{cost.DIMENSION}.lp")


def test_the_objective_is_the_sum_of_all_costs() -> None:
    problem = hand_problem()
    columns = columns_of(problem)
    total = sum(np.sum(list(cost.terms(columns, problem).values()), axis=0) for cost in COSTS)
    assert column_costs(columns, problem) == pytest.approx(total, rel=1e-12)
    assert formulate(columns, problem).objective == pytest.approx(total, rel=1e-12)


def test_every_cost_has_its_golden_text_and_no_text_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.lp")} == {cost.DIMENSION for cost in COSTS}
