"""Error bands: a log-sigma by kind of prediction, architecture, engine and GPU type, from errors out of sample.

Errors are log-normal. Stage errors of one step count as fully correlated, the safe side: the quantile of a
sum is then the sum of the quantiles, so a step's confident seconds compose like its seconds.

A band is the known error of dense models or of mixtures of experts, times what the engine and the GPU type were
seen to deviate. What was never measured takes the error of leaving it out instead, where that is wider.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from rlopt.estimates.arrays import Floats
from rlopt.facts.calibration import Calibration
from rlopt.words import StageKind

KIND_OF_STAGE = {
    StageKind.SAMPLE: "generation",
    StageKind.SCORE: "training",
    StageKind.TRAIN: "training",
    "save": "transfer",
}
"""Stage kinds that share another's band."""
EIGHTY = NormalDist().inv_cdf(0.9)
"""Half of an 80 % band in sigmas."""


def sigma_of(
    kind: str, device: str, engine: str, moe: bool, calibration: Calibration, known_model: bool = True
) -> float:
    """One log-sigma of a prediction; an empty ``device`` or ``engine`` counts as known.

    ``kind`` is training, generation, rl, memory, transfer or environment, or a stage kind.
    """
    table: Mapping[str, Any] = calibration.bands[KIND_OF_STAGE.get(kind, kind)]
    rows = table["moe" if moe else "dense"]
    found = float(rows["known"])
    found *= float(table.get("engine", {}).get(engine, 1.0)) * float(table.get("device", {}).get(device, 1.0))
    if device and device not in table.get("devices", (device,)):
        found = max(found, float(rows["new_device"]))
    if engine and engine not in table.get("engines", (engine,)):
        found = max(found, float(rows["new_engine"]))
    return found if known_model else max(found, float(rows["new_model"]))


def planned_sigma(
    kind: str, device: str, moe: bool, calibration: Calibration, loop: bool, framework: str = ""
) -> float:
    """One log-sigma of a planned stage's seconds: training or generation, alone or inside a sampling loop.

    Inside a loop stages take the error of whole measured steps, wider than that of training runs and of served
    engines, and of the ``framework`` that is planned with. A GPU type that loops were not measured on, but its stage
    was, counts as known. A user's own calibration states the band of the GPU types that it was fitted on; on others it
    leaves what is not known of the stack, ``others``, beside the band of a known one.
    """
    own = calibration.bands["own"][KIND_OF_STAGE.get(kind, kind)]
    if device in own:
        return float(own[device])
    found = _shipped_sigma(kind, device, moe, calibration, loop, framework)
    if "others" not in own:
        return found
    known = _shipped_sigma(kind, device, moe, calibration, loop, "")
    return min(found, math.hypot(known, float(own["others"])))


def _shipped_sigma(kind: str, device: str, moe: bool, calibration: Calibration, loop: bool, framework: str) -> float:
    if not loop:
        return sigma_of(kind, device, "", moe, calibration)
    unseen = device not in measured_devices("rl", calibration)
    elsewhere = unseen and device in measured_devices(kind, calibration)
    return sigma_of("rl", "" if elsewhere else device, framework, moe, calibration)


def is_measured(kind: str, device: str, calibration: Calibration, loop: bool) -> bool:
    """Whether a planned stage rests on measurements of its GPU type, the user's own included."""
    if device in calibration.bands["own"][KIND_OF_STAGE.get(kind, kind)]:
        return True
    kinds = (kind, "rl") if loop else (kind,)
    return any(device in measured_devices(name, calibration) for name in kinds)


def measured_devices(kind: str, calibration: Calibration) -> tuple[str, ...]:
    """GPU types with measurements of a kind."""
    return tuple(calibration.bands[KIND_OF_STAGE.get(kind, kind)].get("devices", ()))


def quantile(sigmas: Floats | float, confidence: float) -> Floats:
    """Factor exp(z σ) between the median and the ``confidence`` quantile."""
    return np.asarray(np.exp(NormalDist().inv_cdf(confidence) * np.asarray(sigmas)))
