"""What a run moves and writes down about itself: the metric it is for, series of numbers, and text of samples."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from rlopt.request.job.records import Traces
from rlopt.request.values.kinds import LARGEST, Name, Number, Share, Whole, WholeOrZero, refuse, show
from rlopt.request.values.quantities import Duration
from rlopt.strict import Strict
from rlopt.units import SECONDS_PER_MINUTE

DEFAULT_SCALARS: Final = 25
"""21 that TRL's GRPO trainer documents, counted with one reward function (github.com/huggingface/trl
docs/source/grpo_trainer.md@010dd23f91, Logged metrics), and loss, grad_norm, learning_rate and epoch of the
transformers Trainer below it."""
DEFAULT_HARDWARE: Final = 2
"""Utilisation and memory of each GPU (github.com/NVIDIA-NeMo/RL nemo_rl/utils/logger.py@0275e75840, GPU monitor)."""
DEFAULT_HARDWARE_EVERY: Final = SECONDS_PER_MINUTE
"""How often Prometheus reads when it is not told otherwise (prometheus.io, configuration, scrape_interval)."""


class Metrics(Strict):
    """Time series of a run; the defaults are what common tools write on their own."""

    scalars: WholeOrZero = DEFAULT_SCALARS
    """Series that the trainer writes; 25 when left out, as TRL's GRPO trainer does with one reward."""
    histograms: WholeOrZero = 0
    """Series of distributions, such as advantages or rewards."""
    every: Whole = 1
    """Steps between two points of a series."""
    thin_after: Share = 1.0
    """Share of the run after which fewer points are written."""
    thin_to: Share = 1.0
    """Share of the points that is written from then on."""
    hardware: WholeOrZero = DEFAULT_HARDWARE
    """Series of each GPU; 2 when left out: utilisation and memory, as NeMo-RL's GPU monitor writes them."""
    hardware_every: Duration = DEFAULT_HARDWARE_EVERY
    """Time between two points of a hardware series, in seconds; 60 s when left out."""
    intermediates: WholeOrZero = 0
    """Series of intermediate variables; off when left out."""
    traces: Traces = Traces()
    """Spans of requests, tools and links; none when left out."""

    @model_validator(mode="after")
    def _fits(self) -> Metrics:
        if (self.thin_after < 1.0) != (self.thin_to < 1.0):
            given, other = ("thin_after", "thin_to: 0.1") if self.thin_after < 1.0 else ("thin_to", "thin_after: 0.2")
            message = f"{given} {getattr(self, given):g} thins nothing on its own"
            raise refuse(message, "thin_after and thin_to, both below 1", f"add {other}")
        return self

    @property
    def longest_gap_steps(self) -> float:
        """Most steps between two points anywhere in the run, infinite where thinning writes none."""
        if self.thin_after >= 1.0:
            return float(self.every)
        return self.every / self.thin_to if self.thin_to > 0.0 else math.inf


class TextLog(Strict):
    """Text of samples beyond the share that floors.text_log_rate asks for."""

    abnormal_share: Share = 0.0
    """Share of samples that are marked abnormal."""
    anomalies: Share = 1.0
    """Share of the abnormal samples that is kept in full."""
    debug_steps: WholeOrZero = 0
    """Steps of a run that are logged for debugging."""
    debug_rate: Share = 1.0
    """Share of samples that such a step logs in full."""
    kept_in: Literal["service", "store"] = "service"
    """service: a logging service takes the texts in and keeps them. store: they are files in an object store, one of
    each kind a step, in the tier that costs least, compressed where that pays; spans of traces go to the service."""


LEAST: Final = 1e-9
"""A smaller change of a metric is a slip of the keyboard."""
Reading = Annotated[float, Number(-LARGEST, example="55")]


class Target(Strict):
    """A metric that the job moves, up or down; the plan says what one point of it costs."""

    metric: Name
    """Its name, for example success_rate or loss."""
    from_: Reading = Field(alias="from")
    """Before the job."""
    to: Reading
    """After it. A point is 1 of the metric as it is written here: from 55 to 80 are 25 points, 0.55 to 0.8 are 0.25."""

    model_config = {**Strict.model_config, "populate_by_name": True}

    @model_validator(mode="after")
    def _moves(self) -> Target:
        if self.points < LEAST:
            message = f"the target moves {self.metric} from {show(self.from_)} to {show(self.to)}"
            raise refuse(message, "to differs from from", "write where the metric is to stand, for example to: 80")
        return self

    @property
    def points(self) -> float:
        """Points that are gained: |to - from|; a loss may fall."""
        return abs(self.to - self.from_)
