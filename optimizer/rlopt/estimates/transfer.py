"""Seconds of a step outside its stages: weights to the rollout engine, sleep and wake, saves, the driver.

Published synchronisation times are set by software and not by wires (0.16 to 800 GB/s at one nominal
bandwidth), so rates come from a table by placement; a slower link between the pools lowers them further.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Ints
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.communication import over
from rlopt.estimates.shape import ModelShape
from rlopt.units import GIGA

WEIGHT_BYTES = 2.0
COLOCATED, DISAGGREGATED, ASYNC = "colocated", "disaggregated", "async"
PLACEMENTS = (COLOCATED, DISAGGREGATED, ASYNC)


def sync_seconds(
    weight_bytes: Floats | float, placement: str, calibration: Calibration, link_gb_s: Floats | float = np.inf
) -> Floats:
    """Seconds until a rollout engine holds the new weights; shape of ``weight_bytes`` and ``link_gb_s``.

    ``link_gb_s`` is the rate of the slowest cut between the two pools (0 = none: inf), ``weight_bytes`` all
    weights.
    """
    apart = placement != COLOCATED
    rate = calibration.value("rl", "disaggregated_sync_gb_s" if apart else "colocated_sync_gb_s")
    fixed = calibration.value("rl", "disaggregated_s") if apart else 0.0
    return fixed + over(np.asarray(weight_bytes, dtype=np.float64), np.minimum(rate, link_gb_s) * GIGA)


def switch_seconds(placement: str, calibration: Calibration) -> float:
    """Seconds of sleep, wake and refit of an engine that shares the trainer's GPUs, once per step."""
    return calibration.value("rl", "colocated_s") if placement == COLOCATED else 0.0


def step_overhead_seconds(calibration: Calibration) -> float:
    """Driver, reward function and data handling of every step of a sampling loop."""
    return calibration.value("rl", "step_s")


def colocated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Sleep, wake, refit and driver of a pool that trains and samples in turn: what does not scale."""
    sync = sync_seconds(WEIGHT_BYTES * shape.params, COLOCATED, calibration)
    return step_overhead_seconds(calibration) + switch_seconds(COLOCATED, calibration) + float(sync)


def colocated_swap_s(shape: ModelShape, gpus: Floats, calibration: Calibration) -> Floats:
    """Training state moved off the GPUs and back, per step; shape of ``gpus``."""
    moved = calibration.value("rl", "swap_bytes") * shape.params / np.asarray(gpus, dtype=np.float64)
    return np.asarray(moved / (calibration.value("rl", "swap_gb_s") * GIGA))


def disaggregated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Weights broadcast to the rollout pool, and the driver."""
    sync = sync_seconds(WEIGHT_BYTES * shape.params, DISAGGREGATED, calibration)
    return step_overhead_seconds(calibration) + float(sync)


def step_seconds(
    placement: str,
    train: Floats | float,
    sample: Floats | float,
    overhead: Floats | float,
    calibration: Calibration,
) -> Floats:
    """One step from its halves.

    Their sum, or when asynchronous the longer and an exposed share of the shorter.
    """
    train, sample = np.asarray(train, dtype=np.float64), np.asarray(sample, dtype=np.float64)
    if placement != ASYNC:
        return np.asarray(train + sample + overhead)
    exposed = calibration.value("rl", "exposed_share") * np.minimum(train, sample)
    return np.asarray(np.maximum(train, sample) + exposed + overhead)


def checkpoint_seconds(state_bytes: Floats | float, storage_gb_s: Floats | float) -> Floats:
    """Seconds to write or read a checkpoint at the pool's aggregate storage rate; inf without one."""
    return over(np.asarray(state_bytes, dtype=np.float64), np.asarray(storage_gb_s, dtype=np.float64) * GIGA)


def loop_factor(generation: Ints, calibration: Calibration) -> Floats:
    """Updates and scoring inside a sampling loop against training runs on the same GPUs; shape of ``generation``.

    Training stacks inside such loops lag behind the newest GPUs' own records.
    """
    return calibration.by_generation("rl", "generation_factor", generation)
