"""Collectives by the alpha-beta model: bytes over the slowest link they cross, plus a latency each.

A ring leaves the node once, so a group that spans nodes moves at the network rate of its members inside one node
together, capped by the link inside.
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Layout
from rlopt.estimates.calibration import Calibration


def inside_bytes_s(hardware: Hardware, calibration: Calibration) -> Floats:
    """Achieved bytes/s of a GPU inside its node."""
    constants = calibration.training
    share = np.where(hardware.nvlink, constants["link_share"], constants["pcie_share"])
    return hardware.link_gb_s * share * 1e9


def group_bytes_s(hardware: Hardware, size: Floats, neighbours: Floats, calibration: Calibration) -> Floats:
    """Achieved bytes/s of a group of ``size`` ranks of which ``neighbours`` share a node."""
    inside = inside_bytes_s(hardware, calibration)
    together = np.minimum(size, np.maximum(neighbours, 1.0))
    outside = hardware.node_gb_s * float(calibration.training["nic_share"]) * 1e9 * together
    return np.where(size > neighbours, np.minimum(inside, np.maximum(outside, 1.0)), inside)


def tensor_parallel_s(hardware: Hardware, layout: Layout, hidden: int, tokens: Floats, calls: Floats,
                      calibration: Calibration) -> Floats:
    """Exposed seconds of ``calls`` all-gather and reduce-scatter pairs of ``tokens`` rows. Zero for tp = 1."""
    constants = calibration.training
    tp = layout.tp
    exposed = np.where(hardware.nvlink, constants["tp_exposed"], constants["tp_exposed_pcie"])
    moved = 2.0 * (tp - 1) / tp * tokens * hidden * 2.0
    seconds = calls * (moved / inside_bytes_s(hardware, calibration) * exposed + float(constants["tp_latency_s"]))
    return np.where(tp > 1, seconds, 0.0)


def expert_parallel_s(hardware: Hardware, layout: Layout, hidden: int, active_experts: int, tokens: Floats,
                      calls: Floats, calibration: Calibration) -> Floats:
    """Exposed seconds of ``calls`` all-to-alls; at most one copy of a token goes to each other node."""
    constants = calibration.training
    ep, per_node = layout.ep, np.maximum(hardware.gpus_per_node / layout.tp, 1.0)
    nodes = np.maximum(ep / per_node, 1.0)
    copies = tokens * active_experts * hidden * 2.0 * (ep - 1) / ep
    leaving = tokens * np.minimum(active_experts, nodes - 1.0) * hidden * 2.0
    outside = np.maximum(hardware.node_gb_s * float(constants["nic_share"]) * 1e9, 1.0)
    seconds = copies / inside_bytes_s(hardware, calibration) + np.where(nodes > 1, leaving / outside, 0.0)
    return np.where(ep > 1, calls * (seconds * float(constants["ep_exposed"]) + float(constants["ep_latency_s"])), 0.0)


def fully_sharded_s(hardware: Hardware, layout: Layout, params: float, gathers: Floats, scatters: Floats,
                    calibration: Calibration) -> Floats:
    """Seconds of the parameter gathers and gradient scatters of one micro-batch under ZeRO-3, 2 B a parameter."""
    ranks = (layout.dp * layout.cp).astype(np.float64)
    neighbours = np.maximum(hardware.gpus_per_node / (layout.tp * layout.pp), 1.0)
    moved = (gathers + scatters) * 2.0 * params / layout.tp * (ranks - 1.0) / ranks
    return moved / group_bytes_s(hardware, ranks, neighbours, calibration)


def data_parallel_s(hardware: Hardware, layout: Layout, params: Floats, calibration: Calibration) -> Floats:
    """Exposed seconds of gradient reduction and parameter gathering of one optimizer step, 4 B a parameter."""
    ranks = (layout.dp * layout.cp).astype(np.float64)
    neighbours = np.maximum(hardware.gpus_per_node / (layout.tp * layout.pp), 1.0)
    moved = 4.0 * params * (ranks - 1.0) / ranks
    rate = group_bytes_s(hardware, ranks, neighbours, calibration)
    return np.where(ranks > 1, float(calibration.training["dp_exposed"]) * moved / rate, 0.0)


def context_parallel_s(hardware: Hardware, layout: Layout, kv_values: float, tokens: Floats, passes: Floats,
                       calibration: Calibration) -> Floats:
    """Seconds of passing keys and values round the ring, half hidden behind attention (Liu et al., 2023)."""
    cp = layout.cp
    neighbours = np.maximum(hardware.gpus_per_node / layout.tp, 1.0)
    rate = group_bytes_s(hardware, cp.astype(np.float64), neighbours, calibration)
    moved = (cp - 1.0) * tokens * kv_values * 2.0 / layout.tp / layout.pp
    return np.where(cp > 1, 0.5 * passes * moved / rate, 0.0)
