"""The bill, dimension by dimension. A new cost is one new module and one row in the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlopt.answers.plan import BillLine, PlannedRun
from rlopt.costs import cache, compute, data, logging, network, operations, storage
from rlopt.costs.contract import CostDimension
from rlopt.problem import Columns, Problem

COSTS: tuple[CostDimension, ...] = (compute, storage, network, cache, logging, operations, data)


def column_costs(columns: Columns, problem: Problem) -> NDArray[np.float64]:
    """Total USD of each joint column, shape (columns,)."""
    total = np.zeros(len(columns))
    if not len(columns):  # there may be no offer, and so no tariff to read
        return total
    for cost in COSTS:
        for usd in cost.terms(columns, problem).values():
            total += usd
    return total


def bill(plan: PlannedRun, problem: Problem) -> list[BillLine]:
    """Every line of a finished plan's bill, from its own numbers."""
    return [line for cost in COSTS for line in cost.lines(plan, problem)]


__all__ = ["COSTS", "bill", "column_costs"]
