"""How much slower than the model says a run may be, with its limits kept all the same."""

from __future__ import annotations

from typing import Annotated

from rlopt.request.values.kinds import Number
from rlopt.strict import Strict


class Robust(Strict):
    """Limits that must hold in a worse case than the predicted one; the bill that is minimised stays the predicted."""

    time: Annotated[float, Number(1.0, 10.0, example="1.3")] = 1.0
    """Deadline and budgets hold even if every step takes this many times what is predicted; 1 changes nothing."""
