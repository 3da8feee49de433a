"""Offers in play, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlopt.facts import Offer


@dataclass(frozen=True, slots=True)
class Topology:
    """What time and memory depend on: the device, how many share a node, and the links within and between nodes."""

    device: str
    gpus_per_node: int
    intra: str
    node_gbps: float | None
    cluster: bool


@dataclass(frozen=True, slots=True)
class Market:
    """Offers in play, column by column. Shapes: (offers,) for arrays, one row per offer in ``offers``."""

    offers: tuple[Offer, ...]
    usd_per_hour: NDArray[np.float64]
    """One node, discounts applied."""
    zone: NDArray[np.int64]
    topology: NDArray[np.int64]
    gpus: NDArray[np.int64]
    spot: NDArray[np.bool_]
    host_memory_gib: NDArray[np.float64]
    """Per node; 0 where unknown, so nothing can be offloaded there."""
    max_nodes: NDArray[np.int64]
    term_hours: NDArray[np.float64]
    """Hours that a reserved offer bills at least and in multiples of; 0 elsewhere."""
    local_disk_gib: NDArray[np.float64]
    """Per node; 0 where there is none or none is stated."""
    zones: tuple[tuple[str, str | None], ...]
    """(provider, region) by zone number: pools of one plan stand in one of them.

    Where a request names zones there is one for each, so that no traffic crosses between them.
    """
    topologies: tuple[Topology, ...]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    boot_disk_gib: NDArray[np.float64] | None = None
    """Volume that each node boots from, whatever its own disks; 0 where the provider lists none. None: 0 everywhere."""
