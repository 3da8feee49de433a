"""Backends, by name. A new solver is one new module and one row here."""

from __future__ import annotations

from rlopt.errors import SolverError
from rlopt.solvers import via_ortools, via_pulp
from rlopt.solvers.contract import Backend, Outcome
from rlopt.solvers.exact import solve

BACKENDS: tuple[Backend, ...] = (via_pulp, via_ortools)


def backend(name: str) -> Backend:
    """The backend called ``name``; SolverError when there is none or it is not installed."""
    for module in BACKENDS:
        if name == module.NAME:
            if not module.available():
                raise SolverError(f"the {name} backend is not installed")
            return module
    raise SolverError(f"no backend is called {name!r}; there are {', '.join(m.NAME for m in BACKENDS)}")


__all__ = ["BACKENDS", "Backend", "Outcome", "backend", "solve"]
