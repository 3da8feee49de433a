"""What a model says about one measured quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FITS = "fits"
OOM = "oom"


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """One prediction, or the reason why there is none.

    Parameters
    ----------
    predicted
        In the unit of the measured cell; `FITS` or `OOM` where the cell says one of these; ``None``: unsupported.
    reason
        Why there is no prediction, in one short plain sentence; empty where there is one.
    labels
        What errors are grouped by: model, device, engine, source, method (full | lora | qlora | -), architecture
        (dense | moe), config (a key that rows of one printed configuration share). Any may be missing.
    low, high
        Ends of the 80 % band, in the unit of ``predicted``; ``None`` where no band is known.
    note
        Defaults that were assumed for blank cells.
    needed, limit
        Memory only, GiB: what a plan counts with, and that × (1 + margin), which a measured peak should not exceed.
    """

    predicted: float | str | None
    reason: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    note: str = ""
    needed: float | None = None
    limit: float | None = None

    @classmethod
    def unsupported(cls, reason: str, labels: Mapping[str, str] | None = None) -> RowOutcome:
        """No prediction, for this reason."""
        return cls(None, reason, labels or {})

    def because(self, reason: str) -> RowOutcome:
        """The same case without its prediction, for this reason."""
        return replace(self, predicted=None, reason=reason, low=None, high=None)
