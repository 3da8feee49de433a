"""Error bands: a log-sigma by stage kind and GPU generation, from errors out of sample.

Errors are log-normal. Stage errors of one step count as fully correlated, the safe side: the quantile of a
sum is then the sum of the quantiles, so a step's confident seconds compose like its seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from rlopt.estimates.arrays import Floats, Ints
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import GENERATIONS

SAME_BAND = {"generate": "generation", "forward": "update", "save": "transfer"}
"""Stage kinds that share another's band."""


def sigma(kind: str, generation: Ints, moe: bool, calibration: Calibration) -> Floats:
    """One log-sigma of a stage's seconds, shape of ``generation``.

    ``kind`` is update, forward, generation (generate), transfer, save or environment. A GPU generation
    without measurements of its own gets the error of leaving one GPU out, where that is wider.
    """
    table, measured = calibration.bands[SAME_BAND.get(kind, kind)], calibration.bands["measured"]
    known = float(table["moe"] if moe else table["dense"])
    values = np.array([known if name in measured else max(known, float(table["unmeasured"])) for name in GENERATIONS])
    return np.asarray(values[generation])


def combine(seconds: Sequence[Floats | float], sigmas: Sequence[Floats | float]) -> Floats:
    """Log-sigma of a sum of stages: their sigmas weighted by their share of the time (fully correlated)."""
    total = np.sum(np.broadcast_arrays(*seconds), axis=0)
    weighted = np.sum(np.broadcast_arrays(*[np.asarray(s) * g for s, g in zip(seconds, sigmas, strict=True)]), axis=0)
    return np.asarray(np.divide(weighted, total, out=np.zeros(np.shape(total)), where=np.asarray(total) > 0.0))


def quantile(sigmas: Floats | float, confidence: float) -> Floats:
    """Factor exp(z σ) between the median and the ``confidence`` quantile."""
    return np.asarray(np.exp(NormalDist().inv_cdf(confidence) * np.asarray(sigmas)))
