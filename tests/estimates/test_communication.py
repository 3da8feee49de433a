"""Collectives: bytes of rings and all-to-alls, and which link they cross."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates.communication import (
    context_parallel_s,
    expert_parallel_s,
    group_bytes_s,
    inside_bytes_s,
    outside_bytes_s,
    over,
    sharded_bytes_s,
    stage_boundary_s,
    tensor_parallel_s,
)
from tests.estimates.parts import hardware, layout
from tests.estimates.training_constants import constants

CAL = constants()
MEGATRON = np.zeros(1, dtype=np.int64)
H100 = hardware()
ONE = np.array([1.0])
NVLINK, NIC = 0.78 * 450e9, 0.70 * 50e9


def test_links_are_the_nominal_ones_times_their_share() -> None:
    assert inside_bytes_s(H100, CAL)[0] == pytest.approx(NVLINK)
    assert outside_bytes_s(H100, CAL)[0] == pytest.approx(NIC)  # 3200 Gb/s over eight GPUs
    assert inside_bytes_s(hardware("L40S", intra="pcie"), CAL)[0] == pytest.approx(0.25 * 31.5e9)
    assert hardware("H100-SXM").island[0] == 8
    assert hardware("GB200", 4, "nvl72").island[0] == 72


def test_nothing_moved_takes_no_time_even_without_a_link() -> None:
    assert list(over(np.array([0.0, 1.0, 4.0]), np.array([0.0, 0.0, 2.0]))) == [0.0, np.inf, 2.0]


def test_a_ring_leaves_the_node_once() -> None:
    size, stride = np.array([8.0, 16.0, 16.0, 2.0]), np.array([1.0, 1.0, 8.0, 8.0])
    found = group_bytes_s(hardware(rows=4), size, stride, CAL)
    assert found == pytest.approx([NVLINK, min(NVLINK, 8 * NIC), NIC, NIC])


def test_tensor_parallel_pairs_move_two_rings_of_the_width() -> None:
    """All-gather and reduce-scatter of count · hidden · 2 bytes: 2 (t - 1) / t of it (Korthikanti et al., 2022)."""
    found = tensor_parallel_s(hardware(rows=2), layout(tp=[1, 8]), 4096, np.array([1000.0] * 2), 4.0, MEGATRON, CAL)
    moved = 2 * 7 / 8 * 1000 * 4096 * 2
    assert found[0] == 0.0
    assert found[1] == pytest.approx(4 * (0.22 * moved / NVLINK + 2.1e-5))


def test_slots_expose_all_of_it() -> None:
    slots = hardware("L40S", intra="pcie")
    found = tensor_parallel_s(slots, layout(tp=2), 4096, np.array([1000.0]), 1.0, MEGATRON, CAL)[0]
    assert found == pytest.approx(1000 * 4096 * 2 / (0.25 * 31.5e9) + 2.1e-5)


def test_experts_inside_a_node_move_every_copy_and_beyond_it_one_per_node() -> None:
    inside = expert_parallel_s(H100, layout(ep=8), 1024, 8, np.array([1000.0]), 2.0, CAL)[0]
    copies = 7 / 8 * 1000 * 8 * 2048 / NVLINK
    assert inside == pytest.approx(2 * (0.42 * copies + 4.8e-5))
    beyond = expert_parallel_s(H100, layout(ep=32), 1024, 8, np.array([1000.0]), 2.0, CAL)[0]
    copies, leaving = 31 / 32 * 1000 * 8 * 2048 / NVLINK, 4 * 3 / 4 * 1000 * 2048 / NIC
    assert beyond == pytest.approx(2 * (0.42 * copies + 0.84 * leaving + 4.8e-5))
    assert expert_parallel_s(H100, layout(), 1024, 8, ONE, 2.0, CAL)[0] == 0.0


def test_data_parallel_rings_stand_tp_and_ep_apart() -> None:
    dense, experts = sharded_bytes_s(H100, layout(tp=8, dp=4, ep=8), CAL)
    assert dense[0] == pytest.approx(3 / 4 / NIC)
    assert experts[0] == pytest.approx(3 / 4 / NIC)  # 4 · 8 / 8 ranks, 8 GPUs apart
    none, nothing = sharded_bytes_s(H100, layout(tp=2, dp=4, ep=8), CAL)
    assert none[0] == pytest.approx(3 / 4 / NVLINK)
    assert nothing[0] == 0.0


def test_stages_hand_over_their_rows() -> None:
    found = stage_boundary_s(hardware(rows=3), layout(pp=[1, 2, 16]), 4096, np.array([1000.0] * 3), 2.0, CAL)
    assert found == pytest.approx([0.0, 2 * 1000 * 8192 / NVLINK, 2 * 1000 * 8192 / NIC])
    split = stage_boundary_s(H100, layout(pp=2, vp=2), 4096, np.array([1000.0]), 2.0, CAL)
    assert split[0] == pytest.approx(2 * found[1])


def test_context_parallel_rings_pass_keys_and_values() -> None:
    found = context_parallel_s(hardware(rows=2), layout(cp=[1, 4]), 2048.0, np.array([1000.0] * 2), 3.0, CAL)
    assert found == pytest.approx([0.0, 3 * 0.5 * 3 * 1000 * 2048 * 2 / NVLINK])
