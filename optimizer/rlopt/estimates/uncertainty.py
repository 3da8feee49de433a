"""Error bands: a log-sigma by stage kind and GPU generation. Stage errors count as fully correlated, the safe side:

the quantile of a sum is then the sum of the quantiles, so a step's confident seconds compose like its seconds.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import GENERATIONS, Floats, Ints
from rlopt.estimates.calibration import Calibration


def sigma(kind: str, generation: Ints, moe: bool, calibration: Calibration) -> Floats:
    """One log-sigma of a stage's seconds, shape of ``generation``. ``kind`` is update or generation."""
    table, measured = calibration.bands[kind], calibration.bands["measured"]
    known = float(table["moe"] if moe else table["dense"])
    values = np.array([known if name in measured else max(known, float(table["unmeasured"])) for name in GENERATIONS])
    return values[generation]
