"""A short trial that proves memory: every prompt and response at its longest, few steps, no checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from rlopt.launchers.exports.batches import StepBatches
from rlopt.launchers.exports.run import Run
from rlopt.units import SECONDS_PER_HOUR
from rlopt.words import StageKind

STEPS: Final = 3
"""Optimizer states come into being at the end of the first step, so the peak stands from the second on."""
MICRO_BATCHES: Final = 2
"""Micro-batches of each rank, so that gradients add up once."""


@dataclass(frozen=True, slots=True)
class Smoke:
    """The trial: its batch, and how long it takes by the plan."""

    steps: int
    prompts: int
    seconds: float


def smoke_of(run: Run, batch: StepBatches) -> Smoke:
    """Few prompts, each at full length.

    seconds = start-up + steps · (g · max(1, s · max / (S · mean)) + w · s · longest / (S · mean of both) + t)

    g seconds of generation, w of passes and updates, t of transfers in a planned step with S samples; s samples here.
    Generation is never taken to be shorter than planned: a step waits for its longest response either way.
    """
    unit = batch.ranks * batch.micro_batch
    every = unit // math.gcd(unit, run.group)
    prompts = min(batch.prompts, every * math.ceil(MICRO_BATCHES * unit / run.group / every))
    share, job = prompts / run.prompts, run.request.job
    longer = job.response_tokens.max / max(job.response_tokens.mean, 1.0)
    mean = job.prompt_tokens.mean + job.response_tokens.mean
    fuller = run.sequence_tokens / max(mean, 1.0) if job.packing else 1.0
    sampling = run.stage_seconds(StageKind.SAMPLE, StageKind.ENVIRONMENT) * max(1.0, share * longer)
    passes = run.stage_seconds(StageKind.SCORE, StageKind.TRAIN) * share * fuller
    step = sampling + passes + run.stage_seconds("transfer")
    return Smoke(STEPS, prompts, run.time.startup_hours * SECONDS_PER_HOUR + STEPS * step)
