"""Collectives by the alpha-beta model: bytes over the slowest link they cross, plus a latency each.

Ranks are numbered tp, then cp, then ep within dp, then pp (Megatron Core's order), so a group of `size` ranks
with stride s spans size · s GPUs. A ring leaves the node once: a group that spans nodes moves at the network
rate of its members inside one node together, capped by the link inside. Without a known network such a group
never ends (inf).
"""

from __future__ import annotations

import numpy as np

from rlopt.estimates.arrays import Floats, Hardware, Ints, Layout, Values
from rlopt.facts.calibration import Calibration
from rlopt.units import GIGA

VALUE = 2.0
"""Bytes of an activation, a gathered weight or a scattered gradient."""


def over(moved: Floats, rate: Floats) -> Floats:
    """``moved`` bytes at ``rate`` bytes/s: 0 where nothing moves, inf where there is no link."""
    moved, rate = np.broadcast_arrays(moved, rate)
    seconds = np.full(moved.shape, np.inf)
    np.divide(moved, rate, out=seconds, where=rate > 0.0)
    return np.where(moved > 0.0, seconds, 0.0)


def inside_bytes_s(hardware: Hardware, calibration: Calibration) -> Floats:
    """Achieved bytes/s of a GPU over its fast link, or over the slot where there is none."""
    share = np.where(
        hardware.nvlink, calibration.value("links", "nvlink_share"), calibration.value("links", "pcie_share")
    )
    return hardware.link_gb_s * share * GIGA


def outside_bytes_s(hardware: Hardware, calibration: Calibration) -> Floats:
    """Achieved bytes/s of a GPU over the network, 0 where it is unknown."""
    return hardware.node_gb_s * (calibration.value("links", "nic_share") * GIGA)


def group_bytes_s(hardware: Hardware, size: Floats, stride: Floats, calibration: Calibration) -> Floats:
    """Achieved bytes/s of a ring over ``size`` ranks that stand ``stride`` GPUs apart."""
    inside = inside_bytes_s(hardware, calibration)
    together = np.maximum(np.floor(hardware.island / stride), 1.0)
    outside = np.minimum(inside, outside_bytes_s(hardware, calibration) * np.minimum(size, together))
    return np.where(size * stride > hardware.island, outside, inside)


def tensor_parallel_s(
    hardware: Hardware,
    layout: Layout,
    hidden: Values,
    count: Floats,
    calls: Values,
    engine: Ints,
    calibration: Calibration,
) -> Floats:
    """Exposed seconds of ``calls`` all-gather and reduce-scatter pairs of ``count`` rows; zero for tp = 1.

    A pair moves 2 (t - 1) / t rows of the hidden width (Korthikanti et al., 2022, section 4.2.2).
    """
    tp = np.asarray(layout.tp, dtype=np.float64)
    exposed = np.where(
        hardware.nvlink,
        calibration.by_engine("training", "tp_exposed", engine),
        calibration.value("training", "tp_exposed_pcie"),
    )
    moved = (tp - 1.0) / tp * count * (2.0 * hidden * VALUE)
    seconds = over(moved, group_bytes_s(hardware, tp, np.ones_like(tp), calibration))
    return np.where(tp > 1, calls * (seconds * exposed + calibration.value("training", "tp_latency_s")), 0.0)


def expert_parallel_s(
    hardware: Hardware,
    layout: Layout,
    hidden: Values,
    active_experts: Values,
    count: Floats,
    calls: Values,
    calibration: Calibration,
) -> Floats:
    """Exposed seconds of ``calls`` all-to-alls of ``count`` tokens per GPU; zero for ep = 1.

    All copies move inside the node; at most one copy per token goes to each other node that holds its
    experts.
    """
    ep, spread = np.asarray(layout.ep, dtype=np.float64), layout.etp * layout.ep
    nodes = np.maximum(spread / hardware.island, 1.0)
    width = hidden * VALUE
    inside = (ep - 1.0) / ep * count * (active_experts * width)
    leaving = np.minimum(active_experts, nodes) * (nodes - 1.0) / nodes * count * width
    seconds = calibration.value("training", "ep_exposed") * over(inside, inside_bytes_s(hardware, calibration))
    far = calibration.value("training", "ep_exposed_far") * over(leaving, outside_bytes_s(hardware, calibration))
    return np.where(ep > 1, calls * (seconds + far + calibration.value("training", "ep_latency_s")), 0.0)


def _data_parallel(layout: Layout) -> tuple[Floats, Floats]:
    """Ranks of the data-parallel group (cp within it) and of the group that shares an expert."""
    ranks = np.asarray(layout.dp * layout.cp, dtype=np.float64)
    return ranks, np.maximum(ranks * layout.tp / (layout.ep * layout.etp), 1.0)


def sharded_bytes_s(hardware: Hardware, layout: Layout, calibration: Calibration) -> tuple[Floats, Floats]:
    """Seconds to move one byte per GPU through the data-parallel ring, for dense weights and for experts."""
    ranks, expert_ranks = _data_parallel(layout)
    dense = group_bytes_s(hardware, ranks, np.asarray(layout.tp, dtype=np.float64), calibration)
    experts = group_bytes_s(hardware, expert_ranks, np.asarray(layout.ep * layout.etp, dtype=np.float64), calibration)
    return over((ranks - 1.0) / ranks, dense), over((expert_ranks - 1.0) / expert_ranks, experts)


def stage_boundary_s(
    hardware: Hardware, layout: Layout, hidden: Values, count: Floats, calls: Values, calibration: Calibration
) -> Floats:
    """Seconds to hand ``count`` rows to the next stage, ``calls`` times per virtual stage.

    Zero for pp = 1.
    """
    rate = np.where(
        layout.gpus > hardware.island,
        outside_bytes_s(hardware, calibration),
        inside_bytes_s(hardware, calibration),
    )
    moved = np.where(layout.pp > 1, count / layout.tp * (hidden * VALUE), 0.0)
    return np.asarray(calls * layout.vp * over(moved, rate))


def context_parallel_s(
    hardware: Hardware,
    layout: Layout,
    kv_values_per_layer: Values,
    count: Floats,
    calls: Values,
    calibration: Calibration,
) -> Floats:
    """Exposed seconds of passing keys and values round the ring (Liu et al., 2023), ``calls`` rounds.

    Zero for cp = 1.
    """
    cp, tp = np.asarray(layout.cp, dtype=np.float64), np.asarray(layout.tp, dtype=np.float64)
    moved = (cp - 1.0) * count / tp * (kv_values_per_layer * VALUE)
    return (
        calls * calibration.value("training", "cp_exposed") * over(moved, group_bytes_s(hardware, cp, tp, calibration))
    )
