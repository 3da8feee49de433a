"""New weights between separate pools: what a machine's own link adds to the seconds that software takes anyway.

extra = bytes / min(transport's rate, link) - bytes / transport's rate        by machine kind, of each pool of a step

A pool on machines without a known network sends or receives at the rate that the catalogs assume for such a machine.
Each pool counts its own end: where both ends are slow the step waits for one after the other, as it does for weights
that are first written out and then read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rlopt.candidates.context import Context
from rlopt.candidates.nodes import load_nodes
from rlopt.estimates import colocated_fixed_s, disaggregated_fixed_s, sync_seconds
from rlopt.estimates.transfer import DISAGGREGATED, WEIGHT_BYTES
from rlopt.problem import Floats
from rlopt.units import gbps_to_gb_s
from rlopt.workloads.variants import Variant

T = TypeVar("T")


def with_hand_over(
    found: Sequence[tuple[Context, T]], ways: Mapping[int, Variant]
) -> tuple[tuple[float, float], list[tuple[Context, T]]]:
    """Seconds that every step's new weights take at the least, inside a pool and between two; contexts with the rest.

    Ways to run a job differ in what is sent where they differ in what acts or screens: the rest is counted with the
    pool that trains. ``ways`` gives one of the ways that each of ``found`` serves.
    """
    seconds = {
        number: (
            colocated_fixed_s(here.moved, here.calibration) if here.in_loop and ways[number].runs("colocated") else 0.0,
            disaggregated_fixed_s(here.sent, here.calibration) if ways[number].runs_apart else 0.0,
        )
        for number, (here, _) in enumerate(found)
    }
    inside, between = (min((s[n] for s in seconds.values() if s[n]), default=0.0) for n in (0, 1))
    later = [(max(s[0] - inside, 0.0), max(s[1] - between, 0.0)) for s in seconds.values()]
    moved = [(replace(here, later_s=more), table) for (here, table), more in zip(found, later, strict=True)]
    return (inside, between), moved


def link_gb_s(context: Context) -> Floats:
    """Rate of one machine's link in GB/s, shape (topologies,); assumed where no network is known."""
    known = context.hardware.node_gb_s * context.hardware.gpus_per_node
    return np.asarray(np.where(known > 0.0, known, gbps_to_gb_s(load_nodes().machine_network_gbps)))


def handover_seconds(context: Context) -> Floats:
    """Seconds per step beyond the transport's own until a machine has sent or received the weights; (topologies,)."""
    moved = WEIGHT_BYTES * float(context.sent.params)
    slower = sync_seconds(moved, DISAGGREGATED, context.calibration, link_gb_s(context))
    return np.asarray(slower - sync_seconds(moved, DISAGGREGATED, context.calibration))
