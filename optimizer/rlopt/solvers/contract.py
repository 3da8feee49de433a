"""What every solver backend promises: a program in, an outcome with its proof out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rlopt.program import Program

Termination = Literal["optimal", "infeasible", "time_limit", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Why the search stopped, what it found and what it proved.

    ``values`` is the best solution (shape (variables,)) or None; ``objective`` is recomputed from the integral
    values in double precision; ``bound`` is the solver's proven lower bound, -inf where it gave none.
    """

    termination: Termination
    values: NDArray[np.float64] | None
    objective: float | None
    bound: float
    seconds: float
    engine: str
    root_bound: float | None = None


class Backend(Protocol):
    """A module that translates a program for one solver. Nothing else imports a solver."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """What requests and plans call it."""
        ...

    def available(self) -> bool:
        """Whether the solver can be imported on this machine."""
        ...

    def solve_once(self, program: Program, time_limit: float | None) -> Outcome:
        """Solve to a proof at a relative gap below 1e-7, or stop at ``time_limit`` seconds.

        Raises SolverError when the solver itself fails; its own exceptions never leave the module.
        """
        ...
