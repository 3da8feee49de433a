"""Averages over a run whose lengths change: the run in equal parts, each at the length of its middle.

    average of f over the run = sum over i of f(SHARES[i]) / PARTS,    SHARES[i] = (i + 1/2) / PARTS

The midpoint rule. What takes longer the longer responses are only rises over the run, or only falls: cut into parts,
its average lies between those of the parts' ends, so the rule is off by at most |f(1) - f(0)| / (2 PARTS), whatever
steps f has (one micro-batch more, one sequence fewer at once), and of a smooth f by max |f''| / (24 PARTS²). Rules of
higher order gain nothing at steps.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rlopt.table import Floats

PARTS: Final = 16
SHARES: Final = (np.arange(PARTS) + 0.5) / PARTS
"""Share of the run that is done at each point, shape (PARTS,)."""


def averaged(values: Floats) -> Floats:
    """Average over the run of values at its points, shape (..., points) to (...); of a single point that itself."""
    return np.asarray(values[..., 0] if values.shape[-1] == 1 else values.mean(axis=-1))
