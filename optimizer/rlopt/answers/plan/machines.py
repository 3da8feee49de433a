"""The pools of machines of a plan, with layout and memory."""

from __future__ import annotations

from pydantic import Field

from rlopt.strict import Strict


class LayoutChoice(Strict):
    """Parallel layout of a pool; what does not apply is null."""

    tp: int | None = None
    pp: int | None = None
    vp: int | None = None
    dp: int | None = None
    cp: int | None = None
    ep: int | None = None
    etp: int | None = None
    sequence_parallel: bool | None = None
    sharding: str | None = None
    micro_batch: int | None = None
    recompute: str | None = None
    offload: str | None = None
    rollout_tp: int | None = None
    """Tensor parallel degree of the rollout engine where a pool also trains (colocated)."""
    rollout_ep: int | None = None
    """Its expert parallel degree, where attention runs data-parallel."""


class Memory(Strict):
    """Per GPU, at the pool's peak stage."""

    needed_gib: float
    capacity_gib: float
    host_gib: float | None
    """Host memory that each node needs."""
    stage: str
    parts: dict[str, float]
    """weights, gradients, optimizer, activations, logits, kv_cache, buffers, runtime."""
    frozen_gib: float = 0.0
    """Part of the weights that is held all the time and never changes: the pool's fixed share."""
    host_capacity_gib: float | None = None
    """Host memory that a plan may use of each node: the machine's within the limit; null where nothing states it."""
    stages: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Every stage by part, GiB, what is nothing left out; ``parts`` are those of the peak."""


class Pool(Strict):
    """Machines of one offer that do the same work."""

    name: str
    roles: list[str]
    serves: list[str]
    provider: str
    region: str | None
    zone: str | None
    instance_type: str
    gpu: str | None
    gpus_per_node: int
    nodes: int
    gpus: int
    pricing: str
    usd_per_hour: float
    """The whole pool, all nodes, per hour."""
    layout: LayoutChoice | None
    precision: str | None
    memory: Memory | None
    offer: str
    """Catalog id of the offer."""
    failures_per_hour: float = 0.0
    """Expected stops of the whole run per hour that this pool causes."""
    lost_per_hour: float = 0.0
    """Expected losses of its machines per hour that leave the run going."""
    faults_per_hour: float = 0.0
    """Part of both that are failures, not reclaims of spot machines."""
    term_hours: float | None = None
    """Hours that a reserved offer bills at least and in multiples of."""
    share: float | None = None
    """Part of the samples that this offer of a mixed pool takes."""
    disk_gb: float = 0.0
    """Block storage rented for all nodes: boot volumes, and what the machines' own disks do not hold."""
    disk_gib: float | None = None
    """Disk that each node needs."""
