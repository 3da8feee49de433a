"""Memory and time of pool candidates: pure, vectorised, with constants from one calibration file."""

from __future__ import annotations

from rlopt.estimates.arrays import (
    GENERATIONS,
    OFFLOAD,
    RECOMPUTE,
    SHARDING,
    Hardware,
    Layout,
    Tokens,
    Training,
)
from rlopt.estimates.calibration import Calibration, load_calibration
from rlopt.estimates.failures import expected_hours, young_interval
from rlopt.estimates.generation import GenerationTime, generation_seconds
from rlopt.estimates.memory import (
    MemoryParts,
    forward_parts,
    host_gib,
    kv_gib_per_token,
    memory_margin,
    rollout_other_gib,
    rollout_weights_gib,
    training_engine,
    update_parts,
)
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.transfer import colocated_fixed_s, colocated_swap_s, disaggregated_fixed_s
from rlopt.estimates.uncertainty import sigma
from rlopt.estimates.update import forward_seconds, update_seconds

__all__ = [
    "GENERATIONS", "OFFLOAD", "RECOMPUTE", "SHARDING", "Calibration", "GenerationTime", "Hardware", "Layout",
    "MemoryParts", "ModelShape", "Tokens", "Training", "colocated_fixed_s", "colocated_swap_s",
    "disaggregated_fixed_s", "expected_hours", "forward_parts", "forward_seconds", "generation_seconds", "host_gib",
    "kv_gib_per_token", "load_calibration", "memory_margin", "rollout_other_gib", "rollout_weights_gib", "sigma",
    "training_engine", "update_parts", "update_seconds", "young_interval",
]
