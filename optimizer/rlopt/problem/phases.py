"""Work that is done before the job starts, on machines of its own: solved apart, billed with the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase and its cheapest plan.

    Parameters
    ----------
    name
        What the bill calls it.
    option
        Name of the model whose choice asks for it; ``None`` where every plan of the job does.
    usd
        The phase's whole bill, USD; ``None`` where no plan of it keeps its limits.
    hours, confident_hours
        Expected hours of one run of it, and those that the request's confidence asks for.
    runs
        Runs of jobs that share its result; this job carries ``usd / runs``.
    machines
        What it runs on, in words.
    says
        What a signer has to know of it.
    prices
        Prices that its bill rests on, as documents.
    """

    name: str
    option: str | None
    usd: float | None
    hours: float
    confident_hours: float
    runs: int
    machines: str
    says: tuple[str, ...] = ()
    prices: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    @property
    def carried_usd(self) -> float:
        """What this job pays of it, USD; 0 where it cannot be done, which a rule refuses."""
        return 0.0 if self.usd is None else self.usd / self.runs
