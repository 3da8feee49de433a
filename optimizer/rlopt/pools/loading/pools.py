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

from rlopt.problem import Floats, Market, Pools, Seconds, Times
from rlopt.problem.loading import LoadTable
from rlopt.units import GIB, GIGA, bytes_to_gb

NO_LOADING = "no store or no processors are known from which samples could be loaded"
Bools = NDArray[np.bool_]
BLOCK = 4096
"""Pools that are compared at a time, so that their options fit into memory."""


def read_gb_s(table: LoadTable, pools: Pools, read: int) -> Floats:
    """GB/s at which each pool reads from one store, shape (pools,); NaN where the store can't be had."""
    link = table.link_gb_s[pools.offer] * pools.nodes
    return np.asarray(np.minimum(table.rate_gb_s[read, pools.zone, pools.nodes], link))


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


def load_seconds(table: LoadTable, pools: Pools, rate: Floats, preparation: int, samples: Floats) -> Floats:
    """Seconds to read ``samples`` at ``rate`` GB/s and to prepare them, side by side; shape (pools,)."""
    reading = samples * table.sample_bytes / GIGA / rate
    return np.maximum(reading, prepare_seconds(table, pools, preparation, samples))


def with_option(table: LoadTable, pools: Pools, market: Market, option: int) -> Pools:
    """The pools as they load by one option, shape as ``pools``; NaN prices where it can't be had."""
    read, preparation = table.split(option)
    step, once = samples_of(table, pools)
    rate = read_gb_s(table, pools, read)
    cpu, boot = machines(table, pools, preparation)

    load, first = (load_seconds(table, pools, rate, preparation, samples) for samples in (step, once))
    own = pools.times.in_step
    stall = np.maximum(load - own.median, 0.0)
    band = own.confident / own.median  # what is waited for is as uncertain as what it is waited beside

    def waiting(seconds: Seconds, wait: Floats) -> Seconds:
        return Seconds(seconds.median + wait, seconds.confident + wait * band)

    disk, disk_gib = pools.disk_gb, pools.disk_gib
    if table.reads[read].store != "object":
        disk, disk_gib = without_data_gb(table, pools, market)
    return replace(
        pools,
        times=Times(waiting(own, stall), waiting(pools.times.asynchronous, stall), pools.times.growth),
        once=waiting(pools.once, np.maximum(first - pools.once.median, 0.0)),
        disk_gb=disk,
        disk_gib=disk_gib,
        load=np.full(len(pools), option, dtype=np.int64),
        load_seconds=load,
        stall_seconds=stall,
        load_usd_per_hour=cpu,
        load_disk_gb=boot,
        mount_usd_per_hour=table.mount_usd_per_hour[read, pools.zone, pools.nodes],
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
    every, found = range(len(table)), []
    for start in range(0, len(pools), BLOCK):
        part = pools.take(slice(start, start + BLOCK))
        attributes = np.stack([_attributes(with_option(table, part, market, option)) for option in every], axis=1)
        fine: Bools = np.asarray(np.isfinite(attributes).all(axis=0), dtype=np.bool_)
        left_out[NO_LOADING] += int((~fine.any(axis=0)).sum())
        if prune:
            fine &= ~_beaten(fine, attributes, len(table.vcpus))
        found += [with_option(table, part.take(fine[option]), market, option) for option in every if fine[option].any()]
    return Pools.join(found) if found else pools.take(slice(0, 0))


def _attributes(pools: Pools) -> Floats:
    """What decides between two options of one pool, less is better; shape (6, pools)."""
    usd, gb = (pools.load_usd_per_hour, pools.mount_usd_per_hour), (pools.disk_gb, pools.load_disk_gb)
    return np.stack([pools.times.in_step.median, pools.once.median, *usd, *gb])


def _beaten(fine: Bools, attributes: Floats, width: int) -> Bools:
    """Options that another one of their pool beats, of equals all but the first; shapes ([6,] options, pools).

    Only those that share a preparation or a read are compared: seconds are the longer of reading and preparing, and
    all else adds up. What is beaten by an option with another read and another preparation is therefore beaten by
    that read with its own preparation too.
    """
    numbers = np.arange(len(fine)).reshape(-1, width)
    beaten = np.zeros_like(fine)
    attributes = attributes[[bool((one != one[0]).any()) for one in attributes]]
    for same in (*numbers, *numbers.T):
        for place, option in enumerate(same):
            mine, better = attributes[:, option], fine[same]
            equal = np.ones_like(better)
            for theirs, own in zip(attributes[:, same], mine, strict=True):
                better &= theirs <= own
                equal &= theirs == own
            better[place:] &= ~equal[place:]
            beaten[option] |= better.any(axis=0)
    return beaten
