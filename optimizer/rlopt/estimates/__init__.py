"""Memory and time of pool candidates: pure, vectorised, with constants from one calibration file."""

from __future__ import annotations

from rlopt.estimates.arrays import Hardware, Layout, Stack, Training
from rlopt.estimates.codes import GENERATIONS
from rlopt.estimates.lengths import CutLognormal, Tokens
from rlopt.estimates.loop.failures import daly_interval, expected_hours, working_hours, young_interval
from rlopt.estimates.loop.step import (
    Loop,
    Stages,
    StepTime,
    framework_names,
    lagging_sample,
    loop_factors,
    loop_seconds,
    planned_framework,
    quantise_seconds,
    sample_factor,
)
from rlopt.estimates.loop.transfer import (
    colocated_fixed_s,
    colocated_swap_s,
    disaggregated_fixed_s,
    serving_engine,
    step_overhead_seconds,
    step_seconds,
    switch_seconds,
    sync_seconds,
)
from rlopt.estimates.sampling.memory import kv_gib_per_token, kv_room_gib, rollout_other_gib, rollout_weights_gib
from rlopt.estimates.sampling.responses import GenerationTime, generation_seconds
from rlopt.estimates.shape import ModelShape
from rlopt.estimates.training.memory import MemoryParts, forward_parts, memory_margin, update_parts
from rlopt.estimates.training.states import host_gib, planned_stack, resident_gib, training_engine
from rlopt.estimates.training.update import forward_seconds, optimizer_seconds, update_seconds
from rlopt.estimates.uncertainty import quantile
from rlopt.facts.calibration import Calibration

__all__ = [
    "GENERATIONS",
    "Calibration",
    "CutLognormal",
    "GenerationTime",
    "Hardware",
    "Layout",
    "Loop",
    "MemoryParts",
    "ModelShape",
    "Stack",
    "Stages",
    "StepTime",
    "Tokens",
    "Training",
    "colocated_fixed_s",
    "colocated_swap_s",
    "daly_interval",
    "disaggregated_fixed_s",
    "expected_hours",
    "forward_parts",
    "forward_seconds",
    "framework_names",
    "generation_seconds",
    "host_gib",
    "kv_gib_per_token",
    "kv_room_gib",
    "lagging_sample",
    "loop_factors",
    "loop_seconds",
    "memory_margin",
    "optimizer_seconds",
    "planned_framework",
    "planned_stack",
    "quantile",
    "quantise_seconds",
    "resident_gib",
    "rollout_other_gib",
    "rollout_weights_gib",
    "sample_factor",
    "serving_engine",
    "step_overhead_seconds",
    "step_seconds",
    "switch_seconds",
    "sync_seconds",
    "training_engine",
    "update_parts",
    "update_seconds",
    "working_hours",
    "young_interval",
]
