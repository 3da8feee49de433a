"""One step of a sampling loop, put together from its stages.

    step = update + score + sample + sync + overhead                         colocated, disaggregated
         = max(update + score, sample) + exposed · min(...) + sync + overhead    asynchronous

Asynchronous sampling is steady only as far as its lag allows: a share tail^lag of what the longest responses cost
a synchronous step stays, all of it without a lag.

Stages are those of the estimates for training runs and served engines; loops run both slower, by factors of
their framework, of experts and of the GPU generation. What stands around the stages is the framework's: how
weights travel (`transfer`), sleep and wake of a colocated engine, the driver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlopt.estimates.arrays import Floats, Ints, Words
from rlopt.estimates.codes import Flags, Values
from rlopt.estimates.loop.transfer import (
    framework_names,
    of_framework,
    planned_framework,
    step_seconds,
    swap_seconds,
    transport_seconds,
)
from rlopt.facts.calibration import Calibration
from rlopt.units import GIB
from rlopt.words import Placement


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
    lag
        Steps that samples may lag behind, where asynchronous.
    quantised
        Whether the engine holds the new weights in less than 16 bits, to which they are brought on the way.
    expert_width
        Inner width of an expert on one GPU of the engine; infinite without experts.
    """

    framework: Ints | int
    placement: str | Words
    generation: Ints
    moe: Flags
    images: Flags
    gpus: Floats
    memory_gib: Floats
    params: Values
    lag: Values = 1.0
    expert_width: Values = np.inf
    quantised: Flags = False


@dataclass(frozen=True, slots=True)
class Stages:
    """Seconds of a step's stages outside any loop, shape (n,).

    ``update`` over all trained models, ``score`` over all scoring passes, ``sample`` that waits for its longest
    response, ``asynchronous`` sampling with the sequences of 1 + lag steps in flight.
    """

    update: Floats
    score: Floats
    sample: Floats
    asynchronous: Floats


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds of one step and of its parts, shape (n,).

    ``sync`` transfer of weights, ``switch`` between training and sampling on the same GPUs, ``overhead`` driver,
    reward and data.
    """

    update: Floats
    score: Floats
    sample: Floats
    sync: Floats
    switch: Floats
    overhead: Floats
    step: Floats


def train_factor(framework: Ints | int, generation: Ints, moe: Flags, calibration: Calibration) -> Floats:
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


def sample_factor(
    framework: Ints | int, generation: Ints, calibration: Calibration, expert_width: Values = np.inf
) -> Floats:
    """Sampling inside a loop against `generation_seconds` (which knows experts); shapes broadcast.

    Slices of experts narrower than a kernel's tile waste it: engines inside loops split experts over tensor
    parallelism where served ones spread them whole.
    """
    slower = calibration.by_generation("rl", "generation_sample", generation)
    narrow = 1.0 + calibration.value("rl", "narrow_expert") / np.asarray(expert_width, dtype=np.float64)
    return np.asarray(of_framework("sample", framework, calibration) * slower * narrow)


def quantise_seconds(framework: Ints | int, params: Values, colocated: Flags, calibration: Calibration) -> Floats:
    """What weights take longer to reach an engine that holds them in less than 16 bits; shapes broadcast."""
    longer = calibration.value("rl", "quantised_sync") - 1.0
    return longer * transport_seconds(framework, params, colocated, calibration)


def lagging_sample(
    sample: Floats, asynchronous: Floats, lag: Values, framework: Ints | int, calibration: Calibration
) -> Floats:
    """Seconds of asynchronous sampling, between waiting for nothing and for the longest response; shapes broadcast."""
    waits = of_framework("tail", framework, calibration) ** np.asarray(lag, dtype=np.float64)
    finite = np.isfinite(sample) & np.isfinite(asynchronous)  # what does not fit at all stays infinite
    longer = np.subtract(sample, asynchronous, out=np.zeros(np.shape(finite)), where=finite)
    return np.asarray(asynchronous + waits * np.maximum(longer, 0.0))


def pressure_factor(loop: Loop, calibration: Calibration) -> Floats:
    """What little room beside the training state costs sampling: smaller batches, shape (n,)."""
    state = calibration.value("rl", "state_bytes") * np.asarray(loop.params) / (loop.gpus * loop.memory_gib * GIB)
    return np.asarray(1.0 + of_framework("pressure", loop.framework, calibration) * state)


def loop_seconds(stages: Stages, loop: Loop, calibration: Calibration) -> StepTime:
    """Seconds of a step and of its parts."""
    slower = loop_factors(loop.framework, loop.generation, loop.moe, calibration)
    update, score = slower[0] * stages.update, slower[1] * stages.score
    apart = lagging_sample(stages.sample, stages.asynchronous, loop.lag, loop.framework, calibration)
    sample = np.where(loop.placement == Placement.ASYNC, apart, stages.sample)
    sample = sample_factor(loop.framework, loop.generation, calibration, loop.expert_width) * sample
    sample = sample * pressure_factor(loop, calibration)
    colocated = loop.placement == Placement.COLOCATED
    sync = transport_seconds(loop.framework, loop.params, colocated, calibration)
    sync = sync + np.where(loop.quantised, quantise_seconds(loop.framework, loop.params, colocated, calibration), 0.0)
    overhead = of_framework("step_s", loop.framework, calibration)
    overhead = overhead + np.where(loop.images, of_framework("images_s", loop.framework, calibration), 0.0)
    swap = of_framework("swap", loop.framework, calibration) * swap_seconds(loop.params, loop.gpus, calibration)
    switch = np.where(colocated, of_framework("switch_s", loop.framework, calibration) + swap, 0.0)
    train = update + score
    exposed = calibration.value("rl", "exposed_share")
    step = step_seconds(train, sample, sync + switch + overhead, loop.placement == Placement.ASYNC, exposed)
    return StepTime(update, score, sample, sync, switch, overhead, step)


__all__ = [
    "Loop",
    "Stages",
    "StepTime",
    "framework_names",
    "lagging_sample",
    "loop_factors",
    "loop_seconds",
    "planned_framework",
    "pressure_factor",
    "quantise_seconds",
    "sample_factor",
    "train_factor",
]
