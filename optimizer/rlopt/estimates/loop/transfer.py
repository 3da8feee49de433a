"""Seconds of a step outside its stages: weights to the rollout engine, sleep and wake, saves, the driver.

Published synchronisation times are set by software and not by wires (0.16 to 800 GB/s at one nominal
bandwidth): a line of fixed seconds and a rate by implementation, and by framework the one that it uses. A
slower link between the pools lowers the rate further.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlopt.estimates.arrays import Floats, Ints
from rlopt.estimates.codes import Flags, Values
from rlopt.estimates.communication import over
from rlopt.estimates.shape import ModelShape
from rlopt.facts.calibration import Calibration
from rlopt.units import GIGA
from rlopt.words import Placement

WEIGHT_BYTES = 2.0


def framework_names(calibration: Calibration) -> tuple[str, ...]:
    """Frameworks of sampling loops, in the order of their codes."""
    return tuple(calibration.rl["frameworks"])


def planned_framework(calibration: Calibration) -> int:
    """Code of the framework that plans count with."""
    return framework_names(calibration).index(str(calibration.rl["framework"]))


def framework_cell(name: str, key: str, calibration: Calibration) -> Any:
    """A cell of a framework's row, or of the row it is like."""
    table: Mapping[str, Mapping[str, Any]] = calibration.rl["frameworks"]
    row = table[name]
    while key not in row:
        row = table[row["like"]]
    return row[key]


def serving_engine(framework: int, calibration: Calibration) -> str | None:
    """Row of the engine table that a framework samples with; ``None``: the one planned with."""
    name = framework_cell(framework_names(calibration)[framework], "serves", calibration)
    return None if name is None else str(name)


def of_framework(key: str, framework: Ints | int, calibration: Calibration) -> Floats:
    """A constant of the frameworks, shape of their codes."""
    return np.asarray(_column(key, calibration)[framework])


def _column(key: str, calibration: Calibration) -> Floats:
    return np.array([float(framework_cell(name, key, calibration)) for name in framework_names(calibration)])


def transport_seconds(
    framework: Ints | int,
    params: Values,
    colocated: Flags,
    calibration: Calibration,
    link_gb_s: Values = np.inf,
) -> Floats:
    """Seconds until the rollout engine holds ``params`` new 16-bit weights by the framework's transport; (n,)."""
    table = calibration.rl["transports"]
    rows = [
        [table[framework_cell(name, key, calibration)] for name in framework_names(calibration)]
        for key in ("apart", "colocated")
    ]
    fixed, rate = (np.array([[float(row[key]) for row in placed] for placed in rows]) for key in ("fixed_s", "gb_s"))
    which = np.asarray(colocated, dtype=np.int64)
    moved = WEIGHT_BYTES * np.asarray(params, dtype=np.float64)
    return line_seconds(moved, fixed[which, framework], np.minimum(rate[which, framework], link_gb_s))


def line_seconds(moved: Floats, fixed_s: Values, gb_s: Values) -> Floats:
    """fixed_s + bytes / rate."""
    return np.asarray(fixed_s + over(np.asarray(moved, dtype=np.float64), np.asarray(gb_s) * GIGA))


def sync_seconds(weight_bytes: Values, placement: str, calibration: Calibration, link_gb_s: Values = np.inf) -> Floats:
    """Seconds until a rollout engine holds the new weights; shape of ``weight_bytes`` and ``link_gb_s``.

    ``link_gb_s`` is the rate of the slowest cut between the two pools (0 = none: inf), ``weight_bytes`` all
    weights. By the transport of the framework planned with.
    """
    params = np.asarray(weight_bytes, dtype=np.float64) / WEIGHT_BYTES
    framework = planned_framework(calibration)
    return transport_seconds(framework, params, placement == Placement.COLOCATED, calibration, link_gb_s)


def switch_seconds(placement: str, calibration: Calibration) -> float:
    """Seconds of sleep, wake and refit of an engine that shares the trainer's GPUs, once per step."""
    if placement != Placement.COLOCATED:
        return 0.0
    return float(of_framework("switch_s", planned_framework(calibration), calibration))


def step_overhead_seconds(calibration: Calibration) -> float:
    """Driver, reward function and data handling of every step of a sampling loop."""
    return float(of_framework("step_s", planned_framework(calibration), calibration))


def colocated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Sleep, wake, refit and driver of a pool that trains and samples in turn: what does not scale."""
    sync = sync_seconds(WEIGHT_BYTES * np.asarray(shape.params), Placement.COLOCATED, calibration)
    return step_overhead_seconds(calibration) + switch_seconds(Placement.COLOCATED, calibration) + float(sync)


def colocated_swap_s(shape: ModelShape, gpus: Floats, calibration: Calibration) -> Floats:
    """Training state moved off the GPUs and back, per step; shape of ``gpus``."""
    return swap_seconds(shape.params, gpus, calibration)


def swap_seconds(params: Values, gpus: Values, calibration: Calibration) -> Floats:
    """Training state of ``params`` moved off ``gpus`` GPUs and back; shapes broadcast."""
    moved = calibration.value("rl", "swap_bytes") * np.asarray(params) / np.asarray(gpus, dtype=np.float64)
    return np.asarray(moved / (calibration.value("rl", "swap_gb_s") * GIGA))


def disaggregated_fixed_s(shape: ModelShape, calibration: Calibration) -> float:
    """Weights broadcast to the rollout pool, and the driver."""
    sync = sync_seconds(WEIGHT_BYTES * np.asarray(shape.params), Placement.DISAGGREGATED, calibration)
    return step_overhead_seconds(calibration) + float(sync)


def step_seconds(train: Values, sample: Values, overhead: Values, overlapped: Flags, exposed_share: float) -> Floats:
    """One step from its halves; shapes broadcast.

    Their sum, or where they are ``overlapped`` the longer and an exposed share of the shorter.
    """
    if overlapped is False:
        return np.asarray(train + sample + overhead)
    longer = np.maximum(train, sample) + exposed_share * np.minimum(train, sample)
    return np.asarray((longer if overlapped is True else np.where(overlapped, longer, train + sample)) + overhead)
