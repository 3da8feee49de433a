"""What the process says to its caller in one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DONE: Final = 0
INTERNAL_FAULT: Final = 1
BAD_INPUT: Final = 2
INFEASIBLE: Final = 3
NO_PROOF: Final = 4
KEPT_OLD: Final = 5
"""Prices could not be renewed; those from before stay in use."""
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report a command that was stopped from the keyboard."""

_BY_STATUS: Final = {"optimal": DONE, "feasible": NO_PROOF, "infeasible": INFEASIBLE}


def of_plan(status: str) -> int:
    """Exit code for a plan of this status."""
    return _BY_STATUS[status]


def of_frontier(statuses: Sequence[str]) -> int:
    """Exit code for a frontier: no point at all means that nothing is feasible; one unproven point counts."""
    if not statuses:
        return INFEASIBLE
    return max(of_plan(status) for status in statuses)
