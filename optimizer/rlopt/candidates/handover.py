"""New weights between separate pools: what a machine's own link adds to the seconds that software takes anyway.

extra = bytes / min(transport's rate, link) - bytes / transport's rate        by machine kind, of each pool of a step

A pool on machines without a known network sends or receives at the rate that the catalogs assume for such a machine.
Each pool counts its own end: where both ends are slow the step waits for one after the other, as it does for weights
that are first written out and then read.
"""

from __future__ import annotations

import numpy as np

from rlopt.candidates.context import Context
from rlopt.candidates.nodes import load_nodes
from rlopt.estimates import sync_seconds
from rlopt.estimates.transfer import DISAGGREGATED, WEIGHT_BYTES
from rlopt.problem import Floats
from rlopt.units import gbps_to_gb_s


def link_gb_s(context: Context) -> Floats:
    """Rate of one machine's link in GB/s, shape (topologies,); assumed where no network is known."""
    known = context.hardware.node_gb_s * context.hardware.gpus_per_node
    return np.asarray(np.where(known > 0.0, known, gbps_to_gb_s(load_nodes().machine_network_gbps)))


def handover_seconds(context: Context) -> Floats:
    """Seconds per step beyond the transport's own until a machine has sent or received the weights; (topologies,)."""
    moved = WEIGHT_BYTES * float(context.moved.params)
    slower = sync_seconds(moved, DISAGGREGATED, context.calibration, link_gb_s(context))
    return np.asarray(slower - sync_seconds(moved, DISAGGREGATED, context.calibration))
