"""How far a pool's times may be off."""

from __future__ import annotations

import math
from typing import TypedDict

from rlopt.estimates import Hardware, framework_names
from rlopt.estimates.uncertainty import EIGHTY, is_measured, planned_sigma
from rlopt.pools.context import Context


class Band(TypedDict):
    """The fields of `PoolDetail` that say how far its times may be off."""

    measured: bool
    band: float


def band_of(context: Context, kind: str, hardware: Hardware) -> Band:
    """Whether this GPU type was measured at what it does here, and the error band of its times; one row."""
    loop = context.workload.generates
    name = hardware.names[int(hardware.kind[0])] if hardware.kind is not None else ""
    framework = framework_names(context.calibration)[context.framework]
    half = EIGHTY * planned_sigma(kind, name, context.moe, context.calibration, loop, framework)
    return {
        "measured": is_measured(kind, name, context.calibration, loop),
        "band": math.exp(half) - 1.0,
    }
