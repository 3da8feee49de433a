"""The options of loading that a request leaves open, up to those that no pool would have to wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rlopt.facts.operations import Operations
from rlopt.market.cpu_machines import booting
from rlopt.market.mounts import cheapest, mounts_of
from rlopt.market.price_book import TariffBook
from rlopt.market.stores import admitted
from rlopt.market.volumes import trajectory_bytes, version_bytes
from rlopt.problem import Floats, Market, Pools
from rlopt.problem.loading import PREPARATION, SHARED, Bought, LoadTable, Mount, Read
from rlopt.problem.tariff import CpuPool, Tariff
from rlopt.request import SEQUENCES_PER_SAMPLE, DataStore, Request
from rlopt.units import KILO, MEGA, bytes_to_gb, bytes_to_gib
from rlopt.workloads import Workload
from rlopt.workloads.variants import Variant

LEAST_MB_S = 64.0
"""The least throughput that is asked of a mounted store; others are powers of two times it."""


def sample_bytes(request: Request, workload: Workload, operations: Operations) -> float:
    """One sample as it is read, bytes: a trajectory's stored images, else its part of the data set, compressed.

    Duplicates that are not stored make a data set smaller, and no sample.
    """
    if workload.acting is not None:
        return trajectory_bytes(request, workload, operations)
    raw = request.job.sample_bytes(request.costs.bytes_per_token)
    return raw * request.job.data.compression_ratio


def load_table(
    book: TariffBook,
    market: Market,
    tariffs: Sequence[Tariff],
    variants: Sequence[Variant],
    link_gb_s: Floats,
    pools: Sequence[Pools],
) -> LoadTable | None:
    """Options for the pools that train, ``pools``; None where no step reads samples.

    ``link_gb_s`` is a node's network by topology. The grids end where the quickest pool would not wait: throughput
    and virtual CPUs in powers of two.
    """
    request, workload = book.request, variants[0].workload
    stage = workload.loads
    if stage is None:
        return None
    size = sample_bytes(request, workload, book.operations)
    prepare = request.job.data.prepare
    samples = {group: workload.sequences(stage, group) for group in workload.group_sizes}
    once = tuple(_once_samples(request, variant) for variant in variants)
    pace = _pace(pools, samples, once)
    vcpus = (0, *_powers(1.0, pace * prepare.vcpu_seconds_per_sample))
    reads = [Read("object", 0.0)] if "object" in request.choices.data_store else []
    for store in request.choices.data_store:
        if store != "object":
            reads += [Read(store, LEAST_MB_S * power) for power in _powers(1.0, pace * size / MEGA / LEAST_MB_S, 1)]
    nodes = sorted({int(count) for one in pools for count in np.unique(one.nodes)})
    bought = _bought(book, tariffs, reads, nodes, size)
    object_gb_s = np.array([_object_gb_s(tariff) for tariff in tariffs], dtype=np.float64)
    rate, usd = _by_nodes(reads, bought, object_gb_s, max(nodes, default=0))
    share = book.catalog.nodes.loading_host_share if prepare.host_share is None else prepare.host_share
    return LoadTable(
        reads=tuple(reads),
        vcpus=tuple(int(count) for count in vcpus),
        preparation=tuple(_machines(book, tariff, vcpus) for tariff in tariffs),
        bought=bought,
        sample_bytes=size,
        vcpu_seconds=prepare.vcpu_seconds_per_sample,
        samples=samples,
        once_samples=once,
        object_gb_s=object_gb_s,
        rate_gb_s=rate,
        mount_usd_per_hour=usd,
        host_vcpus=np.array([share * (offer.shape.vcpus or 0.0) for offer in market.offers], dtype=np.float64),
        link_gb_s=link_gb_s[market.topology],
        data_gib=bytes_to_gib(version_bytes(request)),
    )


def _once_samples(request: Request, variant: Variant) -> float:
    """Samples that are read before the first step: those that a value model learns from, else those passed over."""
    if request.job.offline is not None:
        return float(request.job.offline.samples * request.job.offline.epochs) if variant.once else 0.0
    return variant.once_sequences / SEQUENCES_PER_SAMPLE.get(request.job.algorithm, 1)


def _pace(pools: Sequence[Pools], samples: Mapping[int, float], once: Sequence[float]) -> float:
    """Most samples a second that any pool could train on, in steps or before the first."""
    most = 0.0
    for one in pools:
        ways = [(count, one.times.in_step.median[one.group_size == group]) for group, count in samples.items()]
        ways += [(count, one.once.median[one.variant == variant]) for variant, count in enumerate(once)]
        for count, seconds in ways:
            taken = seconds[seconds > 0.0]
            most = max(most, count / float(taken.min())) if len(taken) else most
    return most


def _powers(least: float, wanted: float, fewest: int = 0) -> list[float]:
    """``least`` and its doubles up to the first that is ``wanted`` or more; ``fewest`` at the least."""
    found: list[float] = []
    while len(found) < fewest or (wanted > 0.0 and (not found or found[-1] < wanted)):
        found.append(least * 2.0 ** len(found))
    return found


def _by_nodes(
    reads: Sequence[Read], bought: Mapping[tuple[int, int, int], Bought | None], object_gb_s: Floats, most: int
) -> tuple[Floats, Floats]:
    """GB/s and USD per hour of all nodes of a pool, shape (reads, zones, most + 1) each; NaN where there is nothing."""
    rate, usd = (np.full((len(reads), len(object_gb_s), most + 1), np.nan) for _ in range(2))
    count = np.arange(most + 1, dtype=np.float64)
    for number, read in enumerate(reads):
        if read.store == "object":
            rate[number], usd[number] = object_gb_s[:, None] * count, 0.0
    for (zone, number, nodes), one in bought.items():
        if one is None:
            continue
        client = one.mount.speed.most_mb_s_per_node or np.inf
        at = nodes or slice(1, None)  # one file system serves any number of nodes
        rate[number, zone, at] = np.minimum(one.mb_s * max(nodes, 1), client * count[at]) / KILO
        usd[number, zone, at] = one.usd_per_hour * max(nodes, 1)
    return rate, usd


def _object_gb_s(tariff: Tariff) -> float:
    """The slowest store that the data set may stand in: where it stands is chosen by its price."""
    ready = [tier for tier in tariff.tiers if tier.ready] or list(tariff.tiers)
    return min(tier.gb_s_per_node for tier in ready)


def _machines(book: TariffBook, tariff: Tariff, vcpus: Sequence[float]) -> tuple[CpuPool | None, ...]:
    """The cheapest machines that hold each number of virtual CPUs; None for none, and where no price is known."""
    memory = bytes_to_gib(book.request.job.data.prepare.memory_per_vcpu or 0.0)
    found: list[CpuPool | None] = []
    for count in vcpus:
        machines = None
        if count:
            machines = book.machines.cpu(PREPARATION, 1.0, memory, int(count), tariff.provider, tariff.region)[0]
        found.append(booting(machines, tariff.disk, book.catalog.nodes))
    return tuple(found)


def _mounts(book: TariffBook, store: DataStore, tariff: Tariff) -> tuple[Mount, ...]:
    """What machines of a zone can mount as a store; none where the provider lists none of known throughput."""
    rows, reference = book.storage.get(tariff.provider, []), book.catalog.reference_regions.get(tariff.provider)
    rows = admitted(book.request, book.catalog, rows, tariff.provider, tariff.region)
    return mounts_of(rows, book.catalog.speeds, store, (tariff.provider, tariff.region), reference, book.rate)


def _bought(
    book: TariffBook, tariffs: Sequence[Tariff], reads: Sequence[Read], nodes: Sequence[int], size: float
) -> dict[tuple[int, int, int], Bought | None]:
    """What each zone mounts for each read, as one file system or as a volume of each of some nodes."""
    found: dict[tuple[int, int, int], Bought | None] = {}
    free = book.request.floors.free_storage or 0.0
    data = bytes_to_gb(version_bytes(book.request)) / (1.0 - free)
    once: dict[tuple[object, ...], Bought | None] = {}
    for zone, tariff in enumerate(tariffs):
        for number, read in enumerate(reads):
            if read.store == "object":
                continue
            mounts = _mounts(book, read.store, tariff)
            for count in (0,) if read.store == SHARED else nodes:
                key = (tuple(mount.name for mount in mounts), read, count)
                if key not in once:
                    once[key] = cheapest(mounts, data / max(count, 1), read.mb_s, size)
                bought = once[key]
                note = {mount.name: mount for mount in mounts}
                found[zone, number, count] = bought and replace(bought, mount=note[bought.mount.name])
    return found
