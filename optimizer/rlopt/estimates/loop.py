"""One step of a sampling loop, put together from its stages.

    step = update + score + sample + sync + overhead                         colocated, disaggregated
         = max(update + score, sample) + exposed · min(...) + sync + overhead    asynchronous

Stages are those of the estimates for training runs and served engines; loops run both slower, by factors of
their framework, of experts and of the GPU generation. What stands around the stages is the framework's: how
weights travel (`transfer`), sleep and wake of a colocated engine, the driver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Ints, Words
from rlopt.estimates.calibration import Calibration
from rlopt.estimates.codes import Flags, Values
from rlopt.estimates.transfer import (
    ASYNC,
    COLOCATED,
    framework_names,
    of_framework,
    planned_framework,
    swap_seconds,
    transport_seconds,
)
from rlopt.units import GIB


@dataclass(frozen=True, slots=True)
class Loop:
    """How a loop runs; each field one value, or one a row, shape (n,).

    Parameters
    ----------
    framework
        Index into the calibration's frameworks (`framework_names`).
    placement
        colocated | disaggregated | async.
    generation
        Index into GENERATIONS of the GPUs that train.
    moe, images
        Whether the policy routes to experts; whether prompts hold images.
    gpus, memory_gib
        GPUs that train, and the memory of one.
    params
        Trained parameters, all of which travel to the engine in 16 bits.
    """

    framework: Ints | int
    placement: str | Words
    generation: Ints
    moe: Flags
    images: Flags
    gpus: Floats
    memory_gib: Floats
    params: Values


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds of a step's stages outside any loop, shape (n,).

    ``update`` over all trained models, ``score`` over all scoring passes, ``sample`` with its tail or, where
    asynchronous, steady.
    """

    update: Floats
    score: Floats
    sample: Floats


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of one step and of its parts, shape (n,); ``overhead`` without the transfer of weights."""

    update: Floats
    score: Floats
    sample: Floats
    sync: Floats
    overhead: Floats
    step: Floats


def train_factor(
    framework: Ints | int, generation: Ints, moe: Flags, calibration: Calibration
) -> Floats:
    """Updates and scoring inside a loop against training runs on the same GPUs; shapes broadcast."""
    experts = np.where(
        moe,
        calibration.value("rl", "moe_train") * calibration.by_generation("rl", "generation_moe_train", generation),
        1.0,
    )
    slower = calibration.by_generation("rl", "generation_train", generation)
    return np.asarray(of_framework("train", framework, calibration) * slower * experts)


def loop_factors(
    framework: Ints | int, generation: Ints, moe: Flags, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Factors of updates and of scoring passes; shapes broadcast."""
    update = train_factor(framework, generation, moe, calibration)
    return update, update * calibration.value("rl", "score_train")


def sample_factor(framework: Ints | int, generation: Ints, calibration: Calibration) -> Floats:
    """Sampling inside a loop against `generation_seconds` (which knows experts); shapes broadcast."""
    slower = calibration.by_generation("rl", "generation_sample", generation)
    return np.asarray(of_framework("sample", framework, calibration) * slower)


def pressure_factor(loop: Loop, calibration: Calibration) -> Floats:
    """What little room beside the training state costs: smaller batches and offload, shape (n,)."""
    state = calibration.value("rl", "state_bytes") * np.asarray(loop.params) / (loop.gpus * loop.memory_gib * GIB)
    return np.asarray(1.0 + of_framework("pressure", loop.framework, calibration) * state)


def loop_seconds(stages: Stages, loop: Loop, calibration: Calibration) -> StepTime:
    """Seconds of a step and of its parts."""
    pressure = pressure_factor(loop, calibration)
    slower = loop_factors(loop.framework, loop.generation, loop.moe, calibration)
    update, score = slower[0] * pressure * stages.update, slower[1] * pressure * stages.score
    sample = sample_factor(loop.framework, loop.generation, calibration) * pressure * stages.sample
    colocated = loop.placement == COLOCATED
    sync = transport_seconds(loop.framework, loop.params, colocated, calibration)
    overhead = of_framework("step_s", loop.framework, calibration)
    overhead = overhead + np.where(loop.images, of_framework("images_s", loop.framework, calibration), 0.0)
    swap = of_framework("swap", loop.framework, calibration) * swap_seconds(loop.params, loop.gpus, calibration)
    overhead = overhead + np.where(colocated, of_framework("switch_s", loop.framework, calibration) + swap, 0.0)
    train = update + score
    exposed = calibration.value("rl", "exposed_share") * np.minimum(train, sample)
    overlapped = np.maximum(train, sample) + exposed
    step = np.where(loop.placement == ASYNC, overlapped, train + sample) + sync + overhead
    return StepTime(update, score, sample, sync, overhead, step)


__all__ = [
    "Loop",
    "Stages",
    "StepTime",
    "framework_names",
    "loop_seconds",
    "planned_framework",
    "pressure_factor",
    "sample_factor",
    "train_factor",
]
