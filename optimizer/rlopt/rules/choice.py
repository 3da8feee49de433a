"""Exactly one joint column is chosen:  sum of x = 1."""

from __future__ import annotations

import numpy as np

from rlopt.problem import Problem
from rlopt.rules.contract import Rule

NAME = "choice"


def rules(problem: Problem) -> list[Rule]:
    """The one choice row; a plan shows it by having pools."""
    return [
        Rule(
            NAME,
            "",
            "plans",
            "==",
            1.0,
            lambda columns, _: np.ones(len(columns)),
            lambda plan, _: 1.0 if plan.pools else 0.0,
            relaxable=False,
        )
    ]
