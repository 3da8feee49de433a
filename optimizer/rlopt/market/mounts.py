"""Stores that are mounted while a job runs: what a size and a throughput of one cost by the hour.

USD/h = GB · price + paid MB/s · price of throughput + paid operations a second · their price

The size is the data set's, raised to the smallest that is sold and to whole steps; where throughput comes with the
size alone it is raised until the throughput is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rlopt.facts import StorageSpeed, StorageTier
from rlopt.market.services import nearest_region, standing_in
from rlopt.problem.loading import Bought, Mount
from rlopt.request import DataStore
from rlopt.units import HOURS_PER_MONTH, KILO, MEGA

KINDS: Final[Mapping[DataStore, tuple[str, ...]]] = {"filesystem": ("file",), "block": ("block", "hdd")}
"""Kinds of storage that may be mounted as each store."""


def mounts_of(
    storage: Sequence[StorageTier],
    speeds: Mapping[str, StorageSpeed],
    store: DataStore,
    place: tuple[str, str | None],
    reference: str | None,
    rate: Callable[[str], float],
) -> tuple[Mount, ...]:
    """Tiers of known price and throughput that machines of ``place`` (provider, region) can mount as ``store``.

    ``storage`` are the provider's tiers; one of another region stands in where the region lists none.
    """
    provider, region = place
    rows = [row for row in storage if row.kind in KINDS[store] and row.id in speeds]
    found = []
    for row in nearest_region(rows, region, reference):
        speed, usd = speeds[row.id], rate(row.currency) / HOURS_PER_MONTH
        found.append(
            Mount(
                name=row.id,
                usd_gb_hour=row.price_gb_month * usd,
                usd_mb_s_hour=None if speed.price_mb_s_month is None else speed.price_mb_s_month * usd,
                usd_iops_hour=(speed.price_iops_month or 0.0) * usd,
                speed=speed,
                source=row.source,
                as_of=row.as_of,
                note=standing_in("data set", row, provider, region),
            )
        )
    return tuple(found)


def node_gb_s(row: StorageTier, speed: StorageSpeed | None, most: float) -> float:
    """GB/s at which one machine saves to a tier and reads from it: ``most``, and no more than is known of the tier."""
    caps = [row.throughput_mb_s]
    caps += [] if speed is None else [speed.most_mb_s, speed.most_mb_s_per_node]
    return min([most, *(cap / KILO for cap in caps if cap is not None)])


def buy(mount: Mount, gb: float, mb_s: float, sample_bytes: float) -> Bought | None:
    """What holds ``gb`` and reads at ``mb_s``, in operations of a sample or the largest; None where it can't be had."""
    speed = mount.speed
    size = _sold(speed, gb)
    if mount.usd_mb_s_hour is None and speed.included_mb_s + speed.mb_s_per_gb * size < mb_s:
        if not speed.mb_s_per_gb:
            return None
        size = _sold(speed, (mb_s - speed.included_mb_s) / speed.mb_s_per_gb)
    if speed.most_gb is not None and size > speed.most_gb * (1.0 + 1e-9):
        return None
    if speed.most_mb_s is not None and mb_s > speed.most_mb_s:
        return None
    included = speed.included_mb_s + speed.mb_s_per_gb * size
    paid = max(mb_s - included, 0.0)
    operation = min(sample_bytes, speed.io_kb * KILO) or speed.io_kb * KILO
    held = speed.included_iops + speed.iops_per_gb * size
    wanted = mb_s * MEGA / operation if operation else 0.0
    paid_iops = max(wanted - held, 0.0) if mount.usd_iops_hour else 0.0
    reached = included if not operation else min(included, held * operation / MEGA)
    reached = max(reached if speed.most_mb_s is None else min(reached, speed.most_mb_s), mb_s)
    usd = size * mount.usd_gb_hour + paid * (mount.usd_mb_s_hour or 0.0) + paid_iops * mount.usd_iops_hour
    return Bought(mount, size, reached, paid, paid_iops, usd)


def _sold(speed: StorageSpeed, gb: float) -> float:
    """The least size that is sold and holds ``gb``."""
    if gb <= speed.least_gb:
        return speed.least_gb
    return math.ceil(gb / speed.step_gb * (1.0 - 1e-12)) * speed.step_gb if speed.step_gb else gb


def cheapest(mounts: Sequence[Mount], gb: float, mb_s: float, sample_bytes: float) -> Bought | None:
    """The cheapest of ``mounts`` for a size and a throughput, of equals the faster; None where none can be had."""
    found = [one for mount in mounts if (one := buy(mount, gb, mb_s, sample_bytes)) is not None]
    return min(found, key=lambda one: (one.usd_per_hour, -one.mb_s, one.mount.name), default=None)
