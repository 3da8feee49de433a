"""Seconds of a step outside its stages: weight transfer, sleep and wake of a colocated engine, driver overheads."""

from __future__ import annotations

from rlopt.estimates.arrays import Floats
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.shape import ModelShape


def colocated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Sleep, wake, refit and driver of a pool that trains and samples in turn, the part that does not scale."""
    rl = calibration.rl
    return float(rl["step_s"] + rl["colocated_s"] + 2.0 * shape.params / (rl["colocated_sync_gb_s"] * 1e9))


def colocated_swap_s(shape: ModelShape, gpus: Floats, calibration: Calibration) -> Floats:
    """Training state moved off the GPUs and back, per step; shape of ``gpus``."""
    rl = calibration.rl
    return rl["swap_bytes"] * shape.params / gpus / (rl["swap_gb_s"] * 1e9)


def disaggregated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Weights broadcast to the rollout pool, and the driver."""
    rl = calibration.rl
    return float(rl["step_s"] + rl["disaggregated_s"] + 2.0 * shape.params / (rl["disaggregated_sync_gb_s"] * 1e9))
