"""Join candidates with prices: every estimate row with every offer of its machine kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlopt.errors import MissingFactError
from rlopt.facts import Catalog
from rlopt.pools.node.host import has_room, node_memory_gib
from rlopt.problem import Floats, Ints, Market, Pools
from rlopt.table import Bools, Table, each, groups
from rlopt.units import GIB, bytes_to_gb

NO_HOST_MEMORY = "needs more host memory than the machine has"


def interruption_rates(market: Market, catalog: Catalog, reclaims: bool = True) -> Floats:
    """Interruptions per hour and node of each offer: failures, and reclaims with ``reclaims``. NaN where unknown."""
    known: dict[tuple[str, str, str, str], float] = {}

    def rate(kind: str, provider: str, device: str, pricing: str, gpus: int) -> float:
        key = (kind, provider, device, pricing)
        if key not in known:
            try:
                found = catalog.failure_rate(kind, provider, device, pricing)
                known[key] = found.per_hour(1, 1) if found.per_gpu_hour is not None else -found.per_hour(1, 1)
            except MissingFactError:
                known[key] = np.nan
        value = known[key]
        return value * gpus if not value < 0 else -value

    total = []
    for offer in market.offers:
        shape = offer.shape
        found = rate("failure", offer.provider, shape.device, offer.pricing, shape.gpus)
        if offer.pricing == "spot" and reclaims:
            found += rate("reclaim", offer.provider, shape.device, offer.pricing, shape.gpus)
        total.append(found)
    return np.array(total, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Needs(Table):
    """What candidates take, shape (rows,) each: nodes of one machine kind, and GiB of each node beside its GPUs."""

    topology: Ints
    nodes: Ints
    host_gib: Floats
    """Host memory, everything in it."""
    disk_gib: Floats
    offload_gib: Floats
    """Part of ``host_gib`` that was moved off the GPUs by choice."""

    @staticmethod
    def of(
        topology: Ints,
        nodes: Ints,
        host_gib: Floats | float = 0.0,
        disk_gib: Floats | float = 0.0,
        offload_gib: Floats | float = 0.0,
    ) -> Needs:
        """Memory and disk as one number for all rows, or one a row."""
        gib = (host_gib, disk_gib, offload_gib)
        return Needs(
            topology, nodes, *(np.broadcast_to(np.asarray(one, dtype=np.float64), (len(nodes),)) for one in gib)
        )


def unloaded(rows: int) -> dict[str, np.ndarray]:
    """Fields of `Pools` that speak of loading, for pools that no way to load is joined to yet."""
    floats = ("load_seconds", "stall_seconds", "load_usd_per_hour", "load_disk_gb", "mount_usd_per_hour")
    return {"load": spread(0, rows), **{name: spread(0.0, rows) for name in floats}}


def spread(values: np.ndarray | float, rows: int) -> np.ndarray:
    """An array of shape (rows,), read-only; one number for all rows takes no memory."""
    return np.broadcast_to(values, (rows,))


def is_one(values: np.ndarray) -> bool:
    """Whether an array is one number for all rows, as `spread` makes it."""
    return len(values) > 0 and values.strides == (0,)


def price_rows(
    market: Market,
    interruptions: Floats,
    environments: Floats,
    needs: Needs,
    fields: Mapping[str, np.ndarray | Table],
    left_out: Counter[str] | None = None,
) -> Pools:
    """Pools of every (row, offer) pair that the offer allows: node count and host memory.

    ``fields`` carries the other fields of `Pools`, shape (rows,) each. ``interruptions`` are those of a node per hour,
    by offer; ``environments`` is USD per hour by zone and option, shape (zones, options). Pairs that lack host memory
    are counted in ``left_out``. Disks are rented for what exceeds a machine's own, and at least for the volume that it
    boots from.
    """
    row, offer, short = _with_room(market, ~np.isnan(interruptions), needs)
    if short and left_out is not None:
        left_out[NO_HOST_MEMORY] += short
    count, zone = needs.nodes[row], market.zone[offer]
    boot = 0.0 if market.boot_disk_gib is None else market.boot_disk_gib[offer]
    rented = np.maximum(needs.disk_gib[row] - market.local_disk_gib[offer], boot)
    every: dict[str, Any] = {"nodes_per_replica": spread(1, len(needs)), **unloaded(len(needs)), **fields}

    def at(values: np.ndarray) -> np.ndarray:
        return spread(values[0], len(row)) if is_one(values) else values[row]

    world = environments[zone, every["environment"][row]] if environments.any() else spread(0.0, len(row))
    return Pools(
        offer=offer,
        nodes=count,
        gpus=count * market.gpus[offer],
        zone=zone,
        usd_per_hour=count * market.usd_per_hour[offer],
        failures_per_hour=count * interruptions[offer],
        spot=market.spot[offer],
        term_hours=market.term_hours[offer],
        environment_usd_per_hour=world,
        disk_gb=count * (bytes_to_gb(GIB) * rented),
        disk_gib=at(needs.disk_gib),
        host_gib=at(needs.host_gib),
        **each(every, at),
    )


def _with_room(market: Market, known: Bools, needs: Needs) -> tuple[Ints, Ints, int]:
    """Rows with every offer of their machine kind that is ``known`` and has room, and how many lack host memory."""
    rows, offers, short = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], 0
    capacity = node_memory_gib(market)
    for (kind,), mine in groups(needs.topology).items():
        here = np.flatnonzero(market.topology == kind)
        left, right = np.repeat(mine, len(here)), np.tile(here, len(mine))
        fine = (needs.nodes[left] <= market.max_nodes[right]) & known[right]
        room = has_room(market, capacity, right, needs.host_gib[left], needs.offload_gib[left])
        short += int((fine & ~room).sum())
        fine &= room
        rows.append(left[fine])
        offers.append(right[fine])
    return np.concatenate(rows), np.concatenate(offers), short
