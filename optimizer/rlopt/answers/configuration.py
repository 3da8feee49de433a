"""A configuration that somebody already has, as far as it was stated: what `rlopt evaluate` reads.

None is not stated, and free. Keys are those of a plan's pools and decisions.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from rlopt.errors import InputError
from rlopt.strict import Strict
from rlopt.words import Link, Offload, Placement, PoolRole, Precision, PricingKind, Recompute, Sharding

Degree = Annotated[int, Field(ge=1, le=100_000, strict=True)]
Amount = Annotated[float, Field(ge=0.0, le=1e9, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class LayoutGiven(Strict):
    """Parallel layout of a pool."""

    tp: Degree | None = None
    pp: Degree | None = None
    vp: Degree | None = None
    dp: Degree | None = None
    cp: Degree | None = None
    ep: Degree | None = None
    etp: Degree | None = None
    sharding: Sharding | None = None
    micro_batch: Degree | None = None
    recompute: Recompute | None = None
    offload: Offload | None = None
    rollout_tp: Degree | None = None
    rollout_ep: Degree | None = None
    sequence_parallel: bool | None = None
    """Goes with tensor parallelism wherever there is any."""


class PoolGiven(Strict):
    """Machines of one kind that do the same work."""

    name: Text | None = None
    role: PoolRole | None = None
    """train (and sample, where it is the only one), rollout or score; told by the name where it begins so."""
    gpu: Text | None = None
    gpus: Degree | None = None
    nodes: Degree | None = None
    gpus_per_node: Degree | None = None
    instance_type: Text | None = None
    offer: Text | None = None
    provider: Text | None = None
    region: Text | None = None
    zone: Text | None = None
    pricing: PricingKind | None = None
    usd_per_hour: Amount | None = None
    """Price of the whole pool."""
    usd_per_node_hour: Amount | None = None
    usd_per_gpu_hour: Amount | None = None
    host_memory_gib: Amount | None = None
    """Of one machine of your own; where it is not stated, the least of those rented with as many of the GPUs."""
    link: Link | None = None
    """Between the GPUs of one machine of your own."""
    node_gbps: Amount | None = None
    """Network of one machine of your own, Gb/s."""
    precision: Precision | None = None
    layout: LayoutGiven = LayoutGiven()

    @property
    def has_user_price(self) -> bool:
        """Whether the price is stated here."""
        prices = (self.usd_per_hour, self.usd_per_node_hour, self.usd_per_gpu_hour)
        return any(price is not None for price in prices)


class PrecisionGiven(Strict):
    """Number formats by kind of work."""

    rollout: Precision | None = None
    score: Precision | None = None
    update: Precision | None = None


class DecisionsGiven(Strict):
    """What was decided beside the pools."""

    placement: Placement | None = None
    group_size: Degree | None = None
    precision: PrecisionGiven = PrecisionGiven()
    staleness: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    interval_steps: Degree | None = None
    """Steps between two saves."""
    tier: Text | None = None
    """Storage tier of the recent checkpoints."""
    compressed: bool | None = None
    """Whether checkpoints are compressed."""
    spare_nodes: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    rollouts_every: Annotated[int, Field(ge=0, strict=True)] | None = None
    """Tokens between two copies of an unfinished response; 0 for none."""
    instances: Degree | None = None
    """Copies of the environment."""
    ways: dict[str, Any] = Field(default_factory=dict)
    """models, kernels, data, scoring and action_head, as a plan has them."""
    load: dict[str, Any] | None = None
    """store and vcpus, as a plan has them."""


class Configuration(Strict):
    """Pools and decisions, as far as they are stated."""

    pools: tuple[PoolGiven, ...]
    decisions: DecisionsGiven = DecisionsGiven()
    paths: tuple[str, ...] = ()
    """Where each pool stands in the file, as a dotted key; empty where its keys stand at the top."""
    file: str | None = None
    lines: dict[str, int | None] = Field(default_factory=dict)
    """Line of each dotted key."""
    ignored: tuple[str, ...] = ()
    """Keys of a launcher's file that are not held: of the job, or without a part in the model."""
    notes: tuple[str, ...] = ()
    """What was read between the lines of it."""

    def pool(self, role: PoolRole) -> tuple[PoolGiven, ...]:
        """The pools of one role."""
        return tuple(pool for pool in self.pools if pool.role == role)

    def wrong(self, pool: PoolGiven | None, key: str, message: str, allowed: str, fix: str) -> InputError:
        """The error that a key of a pool, or of the decisions where there is none, cannot stand as it does."""
        path = "decisions"
        if pool is not None and pool in self.pools:
            at = self.pools.index(pool)
            path = self.paths[at] if at < len(self.paths) else f"pools[{at}]"
        tried = [".".join(part for part in (path, *between, key) if part) for between in ((), ("layout",))]
        tried += [key, f"layout.{key}"]
        where = next((one for one in tried if one in self.lines), tried[0])
        return InputError.of(where, message, file=self.file, line=self.lines.get(where), allowed=allowed, fix=fix)
