"""Ways to bring samples of a data set to the machines that train: from which store, and prepared on how many CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rlopt.facts import StorageSpeed
from rlopt.problem.tariff import CpuPool
from rlopt.request import DataStore
from rlopt.table import Floats

PREPARATION = "data preparation"
"""Name of the pool of machines that decode and shuffle."""
SHARED: Final = "filesystem"
"""The store that all machines mount together; a volume belongs to one of them."""


@dataclass(frozen=True, slots=True)
class Mount:
    """One tier that may be mounted in a zone. Prices in USD by the hour."""

    name: str
    usd_gb_hour: float
    usd_mb_s_hour: float | None
    """One MB/s beyond what is included; None where it comes with size alone."""
    usd_iops_hour: float
    """One operation a second beyond what is included; 0 where none is charged."""
    speed: StorageSpeed
    source: str
    as_of: str
    note: str = ""
    """Whose price stands in for the pool's region."""


@dataclass(frozen=True, slots=True)
class Bought:
    """One file system or volume as it is provisioned."""

    mount: Mount
    gb: float
    mb_s: float
    """Throughput that it reads at."""
    paid_mb_s: float
    """Part of it that is billed beside the size."""
    paid_iops: float
    usd_per_hour: float


@dataclass(frozen=True, slots=True)
class Read:
    """One store at one throughput: MB/s of a file system, or of each machine's volume; 0 from object storage."""

    store: DataStore
    mb_s: float


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Options of loading and their prices. Option number = read · len(vcpus) + preparation.

    ``preparation`` holds the machines by zone and number of virtual CPUs, ``bought`` what is mounted by zone, read and
    nodes; None where there is nothing to rent, or none to be had.
    """

    reads: tuple[Read, ...]
    vcpus: tuple[int, ...]
    """Virtual CPUs of preparation machines to choose from, 0 first."""
    preparation: tuple[tuple[CpuPool | None, ...], ...]
    bought: Mapping[tuple[int, int, int], Bought | None]
    """By zone, read and nodes; a file system stands under 0 nodes, for it is one for all of them."""
    sample_bytes: float
    """Of one sample as it is stored, compressed."""
    vcpu_seconds: float
    """Of one sample."""
    samples: Mapping[int, float]
    """Of one step, by group size."""
    once_samples: tuple[float, ...]
    """Read once before the first step, by variant."""
    object_gb_s: Floats
    """Of one node from object storage, shape (zones,)."""
    rate_gb_s: Floats
    """At which all nodes of a pool read, their own network apart; shape (reads, zones, nodes + 1), NaN for none."""
    mount_usd_per_hour: Floats
    """Of what they mount, shape as above; 0 from object storage."""
    host_vcpus: Floats
    """Of one node that prepare samples, shape (offers,); 0 where unknown."""
    link_gb_s: Floats
    """Of one node's network, shape (offers,)."""
    data_gib: float
    """The data set as it stands on the disks of the nodes that train, all of them together."""

    def __len__(self) -> int:
        return len(self.reads) * len(self.vcpus)

    def split(self, option: int) -> tuple[int, int]:
        """Read and preparation of an option."""
        return divmod(option, len(self.vcpus))

    def machines(self, zone: int, option: int) -> CpuPool | None:
        """Preparation machines of an option; None where it has none."""
        return self.preparation[zone][self.split(option)[1]]

    def mounted(self, zone: int, option: int, nodes: int) -> Bought | None:
        """What each machine mounts, or all of them together; None where data come from object storage."""
        read = self.split(option)[0]
        return self.bought.get((zone, read, self.units(read, nodes)))

    def units(self, read: int, nodes: int) -> int:
        """Key of ``bought``: the nodes where each has a volume of its own, else 0."""
        return 0 if self.reads[read].store == SHARED else nodes
