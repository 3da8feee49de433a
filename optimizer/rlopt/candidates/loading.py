"""Pools that train, each with the ways to bring it its samples: what a step waits for and what that costs.

load  = max(bytes / rate of the store, vCPU seconds / vCPUs)          read and prepared side by side
stall = max(load - the pool's own seconds, 0)                         the next step's samples load during this one

Machines that train and machines that only prepare share the samples out by their virtual CPUs. A store reads at what
it is provisioned for, and at no more than the network of all machines that train.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlopt.candidates.load_table import LoadTable
from rlopt.candidates.market import Market
from rlopt.problem import Floats, Pools
from rlopt.units import GIB, GIGA, KILO, bytes_to_gb

NO_LOADING = "no store or no processors are known from which samples could be loaded"
Bools = NDArray[np.bool_]


def read_gb_s(table: LoadTable, pools: Pools, read: int) -> Floats:
    """GB/s at which each pool reads from one store, shape (pools,); NaN where the store can't be had."""
    link = table.link_gb_s[pools.offer] * pools.nodes
    if table.reads[read].store == "object":
        return np.asarray(table.object_gb_s[pools.zone] * pools.nodes)
    keys = np.column_stack([pools.zone, pools.nodes])
    found = np.full(len(pools), np.nan)
    for zone, nodes in np.unique(keys, axis=0):
        units = table.units(read, int(nodes))
        bought = table.bought[int(zone), read, units]
        if bought is None:
            continue
        here = (keys == (zone, nodes)).all(axis=1)
        client = bought.mount.speed.most_mb_s_per_node
        rate = bought.mb_s * max(units, 1)
        found[here] = min(rate, np.inf if client is None else client * nodes) / KILO
    return np.asarray(np.minimum(found, link))


def mount_usd(table: LoadTable, pools: Pools, read: int) -> Floats:
    """USD per hour of what is mounted, shape (pools,); 0 from object storage, NaN where it can't be had."""
    found = np.full(len(pools), 0.0 if table.reads[read].store == "object" else np.nan)
    if table.reads[read].store == "object":
        return found
    keys = np.column_stack([pools.zone, pools.nodes])
    for zone, nodes in np.unique(keys, axis=0):
        units = table.units(read, int(nodes))
        bought = table.bought[int(zone), read, units]
        if bought is not None:
            found[(keys == (zone, nodes)).all(axis=1)] = bought.usd_per_hour * max(units, 1)
    return found


def machines(table: LoadTable, pools: Pools, preparation: int) -> tuple[Floats, Floats]:
    """USD per hour and GB to boot from of the preparation machines, shape (pools,); NaN where no price is known."""
    if not table.vcpus[preparation]:
        return np.zeros(len(pools)), np.zeros(len(pools))
    rented = [zone[preparation] for zone in table.preparation]
    usd = np.array([np.nan if one is None else one.usd_per_hour for one in rented])
    boot = np.array([0.0 if one is None else one.boot_gb for one in rented])
    return usd[pools.zone], boot[pools.zone]


def prepare_seconds(table: LoadTable, pools: Pools, preparation: int, samples: Floats) -> Floats:
    """Seconds to decode and shuffle ``samples``, shape (pools,); infinite where nothing does."""
    work = samples * table.vcpu_seconds
    workers = table.host_vcpus[pools.offer] * pools.nodes + table.vcpus[preparation]
    return np.where(work > 0.0, np.divide(work, workers, out=np.full(len(pools), np.inf), where=workers > 0.0), 0.0)


def samples_of(table: LoadTable, pools: Pools) -> tuple[Floats, Floats]:
    """Samples that are read in one step, and once before the first, shape (pools,) each."""
    step = np.zeros(len(pools))
    for size, count in table.samples.items():
        step[pools.group_size == size] = count
    return step, np.array(table.once_samples)[pools.variant]


def without_data_gb(table: LoadTable, pools: Pools, market: Market) -> tuple[Floats, Floats]:
    """Disk rented, GB of all nodes, and GiB that a node needs where the data set stands on what is mounted."""
    need = pools.disk_gib - table.data_gib / pools.nodes
    boot = 0.0 if market.boot_disk_gib is None else market.boot_disk_gib[pools.offer]
    rented = np.maximum(need - market.local_disk_gib[pools.offer], boot)
    return np.asarray(pools.nodes * (bytes_to_gb(GIB) * rented)), np.asarray(need)


def with_option(table: LoadTable, pools: Pools, market: Market, option: int) -> Pools:
    """The pools as they load by one option, shape as ``pools``; NaN prices where it can't be had."""
    read, preparation = table.split(option)
    step, once = samples_of(table, pools)
    rate = read_gb_s(table, pools, read)
    cpu, boot = machines(table, pools, preparation)

    def seconds(samples: Floats) -> Floats:
        reading = samples * table.sample_bytes / GIGA / rate
        return np.maximum(reading, prepare_seconds(table, pools, preparation, samples))

    load, first = seconds(step), seconds(once)
    stall = np.maximum(load - pools.seconds, 0.0)
    wait = np.maximum(first - pools.once_seconds, 0.0)
    late = pools.confident_seconds / pools.seconds  # what is waited for is as uncertain as what it is waited beside
    disk, disk_gib = pools.disk_gb, pools.disk_gib
    if table.reads[read].store != "object":
        disk, disk_gib = without_data_gb(table, pools, market)
    return replace(
        pools,
        seconds=pools.seconds + stall,
        confident_seconds=pools.confident_seconds + stall * late,
        steady_seconds=pools.steady_seconds + stall,
        confident_steady_seconds=pools.confident_steady_seconds + stall * late,
        once_seconds=pools.once_seconds + wait,
        confident_once_seconds=pools.confident_once_seconds + wait * late,
        disk_gb=disk,
        disk_gib=disk_gib,
        load=np.full(len(pools), option, dtype=np.int64),
        load_seconds=load,
        stall_seconds=stall,
        load_usd_per_hour=cpu,
        load_disk_gb=boot,
        mount_usd_per_hour=mount_usd(table, pools, read),
    )


def with_loading(
    table: LoadTable | None, pools: Pools, market: Market, left_out: Counter[str], prune: bool = True
) -> Pools:
    """Every pool with every option that could be the best for it; with all that can be had where not ``prune``.

    An option goes only where another of the same pool is no slower and no dearer in machines, mounted stores and
    disks: bills and hours rise with each of them, so the optimum never changes.
    """
    if table is None or not len(pools):
        return pools
    every = range(len(table))
    attributes = np.stack([_attributes(with_option(table, pools, market, option)) for option in every], axis=1)
    fine: Bools = np.asarray(np.isfinite(attributes).all(axis=2), dtype=np.bool_)
    left_out[NO_LOADING] += int((~fine.any(axis=1)).sum())
    if prune:
        fine = _undominated(fine, attributes, len(table.vcpus))
    return Pools.join([with_option(table, pools.take(fine[:, option]), market, option) for option in every])


def _attributes(pools: Pools) -> Floats:
    """What decides between two options of one pool, less is better; shape (pools, 6)."""
    usd, gb = (pools.load_usd_per_hour, pools.mount_usd_per_hour), (pools.disk_gb, pools.load_disk_gb)
    return np.column_stack([pools.seconds, pools.once_seconds, *usd, *gb])


def _undominated(fine: Bools, attributes: Floats, width: int) -> Bools:
    """Options that no other option of their pool beats, of equals the first; shapes (pools, options[, attributes]).

    Neighbours are compared first, fewer virtual CPUs and less throughput; few options are then left to compare in
    pairs.
    """
    known, fine, count = fine, fine.copy(), fine.shape[1]
    for step in (1, width):
        for option in range(step, count):
            if step == 1 and option % width == 0:
                continue
            beaten = (attributes[:, option - step] <= attributes[:, option]).all(axis=1)
            fine[:, option] &= ~(known[:, option - step] & beaten)
    for one in range(count):
        for other in range(count):
            rows = np.flatnonzero(fine[:, one] & fine[:, other])
            if one == other or not len(rows):
                continue
            a, b = attributes[rows, one], attributes[rows, other]
            beaten = (a <= b).all(axis=1) & ((a < b).any(axis=1) | (one < other))
            fine[rows[beaten], other] = False
    return fine
