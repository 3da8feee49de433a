"""What a zone charges beside its GPUs: storage tiers, traffic, logging and CPU machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

VOLUMES = ("block", "hdd")
"""Kinds of storage that one machine has for itself."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One storage tier as a zone's pools see it. Prices in USD."""

    name: str
    kind: str
    usd_gb_hour: float
    min_hours: float
    retrieval_per_gb: float
    restore_hours: float
    gb_s_per_node: float
    upload_per_gb: float
    """Egress of the pool's provider where the store stands elsewhere."""
    source: str
    as_of: str
    put_usd: float = 0.0
    """One request that writes an object; 0 where the store charges none or none is known."""
    get_usd: float = 0.0
    """One request that reads an object."""
    download_per_gb: float = 0.0
    """Egress of the store's own provider where it is not the pool's, beside what the store asks for retrieval."""
    note: str = ""
    """Whose price stands in for the pool's region; empty where it is that region's own."""
    unpriced: tuple[str, ...] = ()
    """Requests whose price is not known and counts as 0: ``write``, ``read``."""

    @property
    def shared(self) -> bool:
        """Whether several machines share the store, so that its bytes outlive each of them."""
        return self.kind not in VOLUMES

    @property
    def ready(self) -> bool:
        """Whether bytes are there when asked for, in a store that several machines share."""
        return self.restore_hours == 0.0 and self.shared

    def dominates(self, other: Tier) -> bool:
        """No dearer in any way, no slower and at hand if the other is: the other can never be the better choice."""
        mine = (
            self.usd_gb_hour,
            self.min_hours,
            self.retrieval_per_gb,
            self.restore_hours,
            self.upload_per_gb,
            self.put_usd,
            self.get_usd,
            self.download_per_gb,
            -self.gb_s_per_node,
            not self.ready,
            not self.shared,
        )
        theirs = (
            other.usd_gb_hour,
            other.min_hours,
            other.retrieval_per_gb,
            other.restore_hours,
            other.upload_per_gb,
            other.put_usd,
            other.get_usd,
            other.download_per_gb,
            -other.gb_s_per_node,
            not other.ready,
            not other.shared,
        )
        return all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


@dataclass(frozen=True, slots=True)
class CpuPool:
    """CPU machines of one kind, nodes of them; USD per hour of all."""

    name: str
    offer: str
    provider: str
    region: str | None
    instance_type: str
    nodes: int
    usd_per_hour: float
    source: str
    as_of: str
    note: str = ""
    boot_gb: float = 0.0
    """Volumes that all nodes boot from; 0 where the provider lists none, or where no machine stands behind a price."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The cheapest block storage beside the machines' own disks."""

    name: str
    usd_gb_hour: float
    source: str
    as_of: str
    note: str = ""
    """Whose price stands in for the pool's region."""


@dataclass(frozen=True, slots=True)
class CacheStore:
    """A fast store that holds what the job caches; USD per hour of all its nodes."""

    name: str
    gib: float
    """What it holds."""
    usd_per_hour: float
    source: str
    as_of: str
    note: str = ""
    ops_per_second: float | None = None
    """Reads and writes that all nodes carry; None where no source says."""


@dataclass(frozen=True, slots=True)
class Metering:
    """How a zone's metrics are billed: by series and hour, or by what is taken in and kept."""

    name: str
    usd_series_hour: float
    usd_per_gb: float
    usd_gb_hour: float
    free_hours: float
    """Hours that are kept without a charge."""
    point_bytes: float
    """One point of one series."""
    egress_per_gb: float
    """Traffic to a service of another provider."""
    source: str
    as_of: str
    note: str = ""
    """Whose price stands in for the pool's region."""


@dataclass(frozen=True, slots=True)
class Tariff:
    """Everything but GPUs that a run in one zone pays for."""

    provider: str
    region: str | None
    tiers: tuple[Tier, ...]
    egress_per_gb: float
    egress_source: str
    log_ingest_per_gb: float
    log_gb_hour: float
    log_free_hours: float
    log_name: str
    log_source: str
    log_as_of: str
    control: CpuPool | None
    """Head node; None where no price is known."""
    environments: tuple[CpuPool | None, ...]
    """Machines of each number of environment instances to choose from; None where none are rented."""
    warnings: tuple[str, ...]
    disk: Disk | None = None
    """Block storage; None where no price is known."""
    cache: CacheStore | None = None
    """None where the job caches nothing or no price is known."""
    metering: Metering | None = None
    """None where no price is known."""
    vcpu: CpuPool | None = None
    """What a vCPU hour of compressing is priced by; None where nothing may be compressed or no price is known."""
    log_note: str = ""
    """Whose price of logging stands in for the pool's region."""
    log_egress_per_gb: float = 0.0
    """Traffic to the logging service where it is another provider's or stands in another region."""
    log_way: str = ""
    """The way to it where the request states the service."""
    data_per_gb: float = 0.0
    """Traffic to bring the data set from where it stands."""
    data_note: str = ""
    """How that price was found; empty where the data set stands beside the pools."""
    scorers: tuple[CpuPool | None, ...] = ()
    """Machines that score without GPUs, by way to run the job; () where none may."""

    @property
    def egress_note(self) -> str:
        """How the egress price was chosen where the provider states none; empty where it states one."""
        return self.egress_source if self.egress_source.startswith("egress of ") else ""

    @property
    def cpu_usd_per_hour(self) -> float:
        """The head node."""
        return 0.0 if self.control is None else self.control.usd_per_hour

    def cpu_pools(self, environment: int, variant: int = 0) -> tuple[CpuPool, ...]:
        """Head node, the environment machines of one option and the scorers of one way to run the job."""
        every = (self.control, self.environments[environment], *self.scorers[variant : variant + 1])
        return tuple(pool for pool in every if pool is not None)

    def boot_gb(self) -> NDArray[np.float64]:
        """GB of the volumes that head node and environment machines boot from, shape (options,)."""
        head = 0.0 if self.control is None else self.control.boot_gb
        return np.array([head + (0.0 if pool is None else pool.boot_gb) for pool in self.environments or (None,)])

    def scorers_boot_gb(self, variants: int) -> NDArray[np.float64]:
        """The same of machines that score without GPUs, shape (variants,)."""
        return np.array([0.0 if pool is None else pool.boot_gb for pool in self.scorers or (None,) * variants])


def environment_rates(tariffs: Sequence[Tariff], options: int) -> NDArray[np.float64]:
    """USD per hour of the environment machines, shape (zones, options)."""
    return np.array(
        [[0.0 if pool is None else pool.usd_per_hour for pool in tariff.environments] for tariff in tariffs],
        dtype=np.float64,
    ).reshape(len(tariffs), options)


def scorer_rates(tariffs: Sequence[Tariff], variants: int) -> NDArray[np.float64]:
    """USD per hour of machines that score without GPUs, shape (zones, variants)."""
    found = np.zeros((len(tariffs), variants))
    for zone, tariff in enumerate(tariffs):
        for variant, pool in enumerate(tariff.scorers):
            found[zone, variant] = 0.0 if pool is None else pool.usd_per_hour
    return found


@dataclass(frozen=True, slots=True)
class TierTable:
    """The tiers of every zone as arrays of shape (zones, most tiers); padding has an infinite price."""

    usd_gb_hour: NDArray[np.float64]
    min_hours: NDArray[np.float64]
    retrieval_per_gb: NDArray[np.float64]
    restore_hours: NDArray[np.float64]
    gb_s_per_node: NDArray[np.float64]
    upload_per_gb: NDArray[np.float64]
    put_usd: NDArray[np.float64]
    get_usd: NDArray[np.float64]
    download_per_gb: NDArray[np.float64]
    ready: NDArray[np.bool_]
    """Object and file tiers whose bytes need no restoring: where data and base weights stand."""
    shared: NDArray[np.bool_]
    """Tiers that outlive the machines, archives too: where bytes may move to."""

    @staticmethod
    def of(tariffs: Sequence[Tariff]) -> TierTable:
        """Arrays of the tiers of ``tariffs``, zone by zone."""
        width = max((len(tariff.tiers) for tariff in tariffs), default=1)
        shape = (len(tariffs), width)
        names = (
            "usd_gb_hour",
            "min_hours",
            "retrieval_per_gb",
            "restore_hours",
            "gb_s_per_node",
            "upload_per_gb",
            "put_usd",
            "get_usd",
            "download_per_gb",
        )
        columns = {name: np.full(shape, np.inf if name == "usd_gb_hour" else 1.0) for name in names}
        ready, shared = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
        for zone, tariff in enumerate(tariffs):
            for name, values in columns.items():
                values[zone, : len(tariff.tiers)] = [getattr(tier, name) for tier in tariff.tiers]
            mine = [tier.ready for tier in tariff.tiers]
            ready[zone, : len(tariff.tiers)] = mine if any(mine) else True
            shared[zone, : len(tariff.tiers)] = [tier.shared for tier in tariff.tiers]
        return TierTable(**columns, ready=ready, shared=shared)
