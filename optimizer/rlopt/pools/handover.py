"""New weights between separate pools: what a machine's own link adds to the seconds that software takes anyway.

extra = bytes / min(transport's rate, link) - bytes / transport's rate        by machine kind, of each pool of a step

A pool on machines without a known network sends or receives at the rate that the catalogs assume for such a machine.
Each pool counts its own end: where both ends are slow the step waits for one after the other, as it does for weights
that are first written out and then read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rlopt.estimates import colocated_fixed_s, disaggregated_fixed_s, sync_seconds
from rlopt.estimates.loop.transfer import WEIGHT_BYTES
from rlopt.pools.context import Context
from rlopt.problem import Floats
from rlopt.units import gbps_to_gb_s
from rlopt.words import Placement
from rlopt.workloads.variants import Variant

Seconds = tuple[float, float, float]


def hand_over(ways: Mapping[int, Context], variants: Sequence[Variant]) -> tuple[Seconds, tuple[Seconds, ...]]:
    """Seconds that every step's new weights and fixed overheads take: the least of all ways, and the rest by variant.

    ``ways`` gives the context of each variant that has pools; ways differ in what is sent where they differ in what
    acts or screens. Three numbers each, by placement; no rest where all take the same.
    """
    taken = np.full((len(variants), 2), np.inf)
    for number, here in ways.items():
        if not here.in_loop:
            taken[number] = 0.0
            continue
        if variants[number].runs(Placement.COLOCATED):
            taken[number, 0] = colocated_fixed_s(here.moved, here.calibration)
        if variants[number].runs_apart:
            taken[number, 1] = disaggregated_fixed_s(here.sent, here.calibration)
    least = taken.min(axis=0)
    least[np.isinf(least)] = 0.0
    rest = np.where(np.isinf(taken), 0.0, taken - least)
    sync, *later = ((float(inside), float(between), float(between)) for inside, between in (least, *rest))
    return sync, tuple(later) if rest.any() else ()


def link_gb_s(context: Context) -> Floats:
    """Rate of one machine's link in GB/s, shape (topologies,); assumed where no network is known."""
    known = context.hardware.node_gb_s * context.hardware.gpus_per_node
    return np.asarray(np.where(known > 0.0, known, gbps_to_gb_s(context.catalog.nodes.machine_network_gbps)))


def handover_seconds(context: Context) -> Floats:
    """Seconds per step beyond the transport's own until a machine has sent or received the weights; (topologies,)."""
    moved = WEIGHT_BYTES * float(context.sent.params)
    slower = sync_seconds(moved, Placement.DISAGGREGATED, context.calibration, link_gb_s(context))
    return np.asarray(slower - sync_seconds(moved, Placement.DISAGGREGATED, context.calibration))
