"""What a plan decides beside its machines."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rlopt.strict import Strict


class TierUse(Strict):
    """Checkpoint copies kept in one storage tier, at their peak."""

    tier: str
    copies: int
    gib: float
    usd: float
    roles: list[str] = Field(default_factory=list)
    """recent, best, history."""


class Move(Strict):
    """Copies of one role that move to another tier once they are old enough."""

    role: str
    """recent: those kept after the run, and their age counts from its end | best."""
    to: str
    """The tier."""
    after_hours: float
    """Age, whole days."""


class CheckpointDecision(Strict):
    """How often the run saves and where the copies stand."""

    interval_steps: int
    tiers: list[TierUse]
    recovery_minutes: float
    compressed: bool = False
    """Whether copies are compressed before they are uploaded."""
    moves: list[Move] = Field(default_factory=list)
    """What changes its tier when it is old."""


class Kept(Strict):
    """One kind of bytes beside the checkpoints, where it stands and where it moves to."""

    item: str
    """As on the bill: dataset, trajectories, ..."""
    tier: str
    gib: float
    """At its peak."""
    hours: float
    """Held on average, all runs and the time after them."""
    to: str | None = None
    """The tier that it moves to."""
    after_hours: float | None = None
    """Age at which it does, whole days."""
    compressed: bool = False
    """Whether it is compressed before it is stored."""


class LoggingDecision(Strict):
    """How much text of the samples is kept."""

    text_log_rate: float
    kept_in: str = "service"
    """service: a logging service. store: files in an object store."""


class PrecisionDecision(Strict):
    """Number formats by kind of work; null where the job has no such work."""

    rollout: str | None
    score: str | None
    update: str


class LoadDecision(Strict):
    """How samples of the data set reach the pool that trains."""

    store: str
    """object | filesystem | block."""
    vcpus: int
    """Of the machines that do nothing but prepare samples; 0 where those that train do it beside."""
    nodes: int
    """Machines that do nothing but prepare samples."""
    stall_seconds: float
    """Seconds of each step that the GPUs wait for samples."""
    mounted: str | None = None
    """The file system or kind of volume, null from object storage."""
    units: int = 0
    """How many of it: one file system, or a volume of each machine."""
    gb: float = 0.0
    """Size of each as it is provisioned."""
    mb_s: float = 0.0
    """Throughput of each."""
    paid_mb_s: float = 0.0
    """Part of that which is billed beside the size."""
    paid_iops: float = 0.0
    """Operations a second that are billed beside the size."""


class Decisions(Strict):
    """Everything else that was open."""

    placement: str
    group_size: int | None
    precision: PrecisionDecision
    staleness: int
    checkpoint: CheckpointDecision
    logging: LoggingDecision
    data: dict[str, Any] | None = None
    models: dict[str, str] | None = None
    """Role to the model chosen; null where every model was given plainly."""
    kernels: dict[str, str] | None = None
    """Kernels of the training stack that the plan counts with, chosen or as the request states them."""
    scoring: dict[str, Any] | None = None
    """on: cpu, processes: how many score there; null where GPUs score."""
    environment: dict[str, Any] | None = None
    storage: list[Kept] = Field(default_factory=list)
    """Every kind of bytes beside the checkpoints, each in the way that costs least."""
    load: LoadDecision | None = None
    """Null where no step reads samples of a data set."""
    operations: dict[str, Any] | None = None
    """release: how machines are given back after a run, by hand or automatic; null where nothing was to decide."""
    action_head: str | None = None
    """How the policy acts: flow, one_step or tokens; null where no choice of heads was given."""
    screening: dict[str, Any] | None = None
    """Samples screened by their value before they are stored: seconds of a step that this takes, beside what it saves
    (stored_gb and traffic_gb of a step, seconds of updates); null where nothing is screened."""
    recovery: dict[str, Any] | None = None
    """spare_nodes: nodes that stand ready; rollouts_every: tokens between two copies of an unfinished response, null
    where none are made; elastic: whether a lost rollout machine leaves the run going. Null where nothing was asked."""
