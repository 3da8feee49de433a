"""The problem of one joint column alone: its own pools and no others, so that it is put together anew in no time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlopt.problem import Columns, Ints, Problem
from rlopt.words import COLOCATED


def narrowed(problem: Problem, column: Columns) -> tuple[Problem, Columns]:
    """The problem with the pools of ``column`` (one row) alone, and the column with its row numbers there."""
    colocated = int(column.placement[0]) == COLOCATED
    first = np.asarray(column.train, dtype=np.int64)
    rollout, scoring = _rows(column.rollout, column.rollout2), _rows(column.score, column.score2)
    own = replace(
        problem,
        training=problem.training.take(slice(0, 0) if colocated else first),
        colocated=problem.colocated.take(first if colocated else slice(0, 0)),
        rollout=problem.rollout.take(rollout),
        scoring=problem.scoring.take(scoring),
        bare=None,
    )
    numbers = {
        "train": np.zeros(1, dtype=np.int64),
        "rollout": np.minimum(column.rollout, 0),
        "rollout2": np.where(column.rollout2 >= 0, 1, -1),
        "score": np.minimum(column.score, 0),
        "score2": np.where(column.score2 >= 0, 1, -1),
    }
    return own, replace(column, **numbers)


def _rows(first: Ints, second: Ints) -> Ints:
    rows = np.concatenate([first, second])
    return np.asarray(rows[rows >= 0], dtype=np.int64)
