"""What a model says about one measured quantity, and the 80 % band around it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rlopt.estimates import Calibration
from rlopt.estimates.uncertainty import EIGHTY, sigma_of

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


NOT_KNOWN = ("", "-", "not stated")


def band_factor(kind: str, labels: Mapping[str, str], calibration: Calibration, known_model: bool = True) -> float:
    """Predicted × this and ÷ this enclose 80 % of measured values."""
    device, engine = (labels.get(name, "") for name in ("device", "engine"))
    device, engine = ("" if label in NOT_KNOWN else label for label in (device, engine))
    moe = labels.get("architecture") == "moe"
    return math.exp(EIGHTY * sigma_of(kind, device, engine, moe, calibration, known_model))


def with_band(outcome: RowOutcome, kind: str, calibration: Calibration) -> RowOutcome:
    """The outcome with the ends of its band, where it predicts a number and has none."""
    predicted = outcome.predicted
    if not isinstance(predicted, float) or outcome.low is not None:
        return outcome
    factor = band_factor(kind, outcome.labels, calibration)
    return replace(outcome, low=predicted / factor, high=predicted * factor)
