"""How long a run takes, and each stage of a step."""

from __future__ import annotations

from rlopt.strict import Strict


class StageTime(Strict):
    """Seconds one stage takes in one step, and how busy its pool is meanwhile."""

    stage: str
    pool: str
    seconds: float
    utilization: float | None = None
    model: str | None = None
    """Which model the stage runs (policy, reference, ...)."""
    hidden_seconds: float = 0.0
    """Part that passes beside other stages and makes no step longer: samples loaded during the step before."""
    limited_by: str | None = None
    """What, twice as fast, would shorten the stage most: compute, memory bandwidth, communication, copies to host
    memory, launches and latencies, environment, longest responses, reading samples or preparing samples; null where
    that was not looked at."""


class Time(Strict):
    """When the run is done."""

    expected_hours: float
    """Median prediction of one run, failures included."""
    confidence: float
    confident_hours: float
    """The ``confidence`` quantile of the prediction: what the deadline is held against."""
    deadline_hours: float | None
    step_seconds: float
    """One step, everything in it; on average over the run where lengths change, as the seconds of its stages are."""
    steps: int
    stages: list[StageTime]
    failure_free_hours: float
    """Hours of one run if nothing failed: what the compute lines bill.

    startup_hours + once_hours + steps x step_seconds / 3600 + saving_hours
    """
    startup_hours: float
    """Part of the hours before the first step and after the last."""
    once_hours: float = 0.0
    """Part that is passes over the data, once before the first step."""
    saving_hours: float = 0.0
    """Part in which steps stand still for checkpoints."""
    divergence_hours: float = 0.0
    """Part of the expected hours that collapses of the training cost: steps done again and restarts."""
    waiting_hours: float = 0.0
    """From the request to the last of the machines."""
    waiting_counts: bool = False
    """Whether that wait is part of the confident hours: it is where the deadline starts with the request."""
    pilot_hours: float = 0.0
    """Part of the confident hours that pilots take, where they count within the deadline."""
    first_step_seconds: float | None = None
    """The first step, where responses change in length over the run (`job.response_tokens.mean_end`); else null."""
    last_step_seconds: float | None = None
    """The last step; else null."""
