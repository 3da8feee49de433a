"""The provably cheapest plan for a reinforcement-learning post-training job, the whole bill included.

>>> import rlopt
>>> request = rlopt.load("constraints.yaml")        # doctest: +SKIP
>>> plan = rlopt.solve(request).require()           # doctest: +SKIP
>>> plan.cost.total_usd                             # doctest: +SKIP

Names are looked up when first used, so that ``import rlopt`` (and ``rlopt --help``) costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rlopt.answers.explanation import Explanation
    from rlopt.answers.plan import Frontier, Plan
    from rlopt.api import explain, frontier, load, solve
    from rlopt.errors import (
        Complaint,
        InfeasibleError,
        InputError,
        MissingFactError,
        NotSupportedError,
        RloptError,
        SolverError,
    )
    from rlopt.request import Request

_HOME = {
    "load": "rlopt.api",
    "solve": "rlopt.api",
    "frontier": "rlopt.api",
    "explain": "rlopt.api",
    "Request": "rlopt.request",
    "Plan": "rlopt.answers.plan",
    "Frontier": "rlopt.answers.plan",
    "Explanation": "rlopt.answers.explanation",
    "Complaint": "rlopt.errors",
    "RloptError": "rlopt.errors",
    "InputError": "rlopt.errors",
    "InfeasibleError": "rlopt.errors",
    "MissingFactError": "rlopt.errors",
    "NotSupportedError": "rlopt.errors",
    "SolverError": "rlopt.errors",
}

__all__ = [
    "Complaint",
    "Explanation",
    "Frontier",
    "InfeasibleError",
    "InputError",
    "MissingFactError",
    "NotSupportedError",
    "Plan",
    "Request",
    "RloptError",
    "SolverError",
    "__version__",
    "explain",
    "frontier",
    "load",
    "solve",
]


def __getattr__(name: str) -> object:
    """Fetch a public name from its room on first use."""
    if name not in _HOME:
        message = f"module 'rlopt' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, fetched already or not."""
    return sorted(__all__)
