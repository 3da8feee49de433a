"""The twin principle for money: every cost has algebra (`terms`) and arithmetic (`lines`).

`terms` prices joint columns and makes the program's objective; `lines` prices a finished plan and makes its bill.
The audit compares the two and never meets a solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlopt.plan import BillLine, Plan
from rlopt.problem import Columns, Problem

Terms = Mapping[str, NDArray[np.float64]]


def runs(trials: float) -> str:
    """The factor of a basis for tuning trials: nothing for a single run, else `` x 3 runs``."""
    return "" if trials == 1 else f" x {trials:g} runs"


class Cost(Protocol):
    """A module of this package: one dimension of the bill."""

    DIMENSION: str

    def terms(self, columns: Columns, problem: Problem) -> Terms:
        """USD by item, shape (columns,) each."""
        ...

    def lines(self, plan: Plan, problem: Problem) -> list[BillLine]:
        """The same in arithmetic, with a basis a person can recompute. Uses the plan's own numbers."""
        ...
