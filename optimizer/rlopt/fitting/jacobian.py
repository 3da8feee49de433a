"""A fit's derivatives by differences, moving constants together that no row shares.

Constants of different engines, devices or models never meet in one row, so one evaluation differentiates all of
them (Curtis, Powell and Reid, 1974): a few dozen evaluations instead of one per constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rlopt.estimates.codes import Floats

STEP = 1e-4
"""Step of a constant's logarithm."""


def colours(touched: Sequence[NDArray[np.bool_]]) -> list[list[int]]:
    """Greedy groups of constants whose rows do not overlap."""
    groups: list[list[int]] = []
    taken: list[NDArray[np.bool_]] = []
    for number, rows in enumerate(touched):
        for place, used in enumerate(taken):
            if not np.any(used & rows):
                groups[place].append(number)
                taken[place] = used | rows
                break
        else:
            groups.append([number])
            taken.append(rows.copy())
    return groups


def differences(
    values: Callable[[Floats], Floats], x: Floats, touched: Sequence[NDArray[np.bool_]], groups: Sequence[Sequence[int]]
) -> Floats:
    """Derivative of every row's value by every constant, shape (rows, constants)."""
    base = values(x)
    found = np.zeros((len(base), len(x)))
    for group in groups:
        moved = x.copy()
        moved[list(group)] += STEP
        change = (values(moved) - base) / STEP
        for number in group:
            found[touched[number], number] = change[touched[number]]
    return found
