"""The 80 % band around a prediction, from what is known of its kind, engine and GPU type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from rlopt.estimates import Calibration
from rlopt.estimates.uncertainty import EIGHTY, sigma_of
from rlopt.measured.outcome import RowOutcome

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
