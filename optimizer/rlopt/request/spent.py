"""What a request takes from a run that has begun: constants of its own timings, and what is used up already."""

from __future__ import annotations

from rlopt.strict import Strict


class OwnConstants(Strict):
    """Constants fitted on a user's own timings."""

    name: str
    as_of: str
    """Day of the fit."""
    document: str
    """JSON by room, in the form of the shipped constants."""


class Spent(Strict):
    """What a run has used up: the request beside it is the rest."""

    steps: int
    """Steps that are done."""
    total_steps: int
    hours: float
    """Since the machines were asked for."""
    usd: float | None = None
    """Paid so far; None where nobody knows. Shown, not optimised: no decision changes it."""
