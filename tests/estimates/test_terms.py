"""Single terms by hand: what each adds, in exact seconds or GiB."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import Stack, Training
from rlopt.estimates.training.activations import layer_gib
from rlopt.estimates.training.states import training_states
from rlopt.units import GIB
from tests.estimates.flat import activation_gib, forward_parts, update_parts
from tests.estimates.parts import FULL, calibration, hardware, layout, shape, tokens

CAL = calibration()
H100 = hardware()
NVLINK, NIC, HBM = 0.78 * 450e9, 0.70 * 50e9, H100.hbm_gb_s[0] * 1e9
MEGATRON = np.zeros(1, dtype=np.int64)


def test_one_gpu_needs_no_communicator_and_sharded_adapters_little() -> None:
    scored = forward_parts(shape("Qwen3-8B"), None, layout(dp=[1, 2]), tokens(), "bf16", CAL)
    assert scored.buffers[1] - scored.buffers[0] == pytest.approx(CAL.value("memory", "nccl_gib"))
    lora = training_states(shape("Qwen3-8B"), Training("lora", 8), layout(dp=4, sharding=[1, 2]), CAL)
    assert lora.gradients[0] == pytest.approx(4 * lora.gradients[1])


def test_gathered_experts_are_those_of_their_expert_parallel_share() -> None:
    moe = shape("Qwen3-30B-A3B")
    rows = layout(dp=8, ep=[1, 8], sharding=3)
    found = forward_parts(moe, None, rows, tokens(), "bf16", CAL)
    less = 2 * 2 * moe.layer_experts * 7 / 8 / GIB  # two layers of 2-byte weights
    body = found.weights + found.activations + found.logits
    gathered = (found.buffers - CAL.value("memory", "nccl_gib") - 0.06 * body) / 1.06
    assert gathered[0] - gathered[1] == pytest.approx(less)


def test_the_peak_is_the_first_stage_or_the_last_with_its_logits() -> None:
    stack = Stack(MEGATRON)
    long = activation_gib(shape("Qwen3-8B"), FULL, layout(pp=4), tokens(), stack, CAL)
    layer = layer_gib(shape("Qwen3-8B"), layout(), np.array([2048.0]), stack, CAL)[0]
    assert long[0][0] == pytest.approx(9 * 4 * layer)  # four micro-batches of nine layers
    assert long[1][0] == 0.0
    short = activation_gib(shape("Qwen3-8B"), FULL, layout(pp=2, recompute=2), tokens(), stack, CAL)
    assert short[0][0] == pytest.approx(18 * 2048 * 2 * 4096 / GIB)
    assert short[1][0] == pytest.approx(CAL.at(("memory", "logits_bytes", "megatron")) * 2048 * 151936 / GIB)


def test_the_optimizer_step_of_a_rank_covers_its_own_share() -> None:
    found = update_parts(shape("Qwen3-8B"), FULL, None, layout(dp=4, sharding=3), tokens(16.0), "bf16", CAL)
    body = found.weights + found.gradients + found.optimizer
    step = (found.buffers - CAL.value("memory", "nccl_gib") - 0.06 * body) / 1.06
    per_param = CAL.at(("memory", "optimizer_step_bytes", "fsdp"))
    assert step[0] * GIB == pytest.approx(per_param * shape("Qwen3-8B").params / 4)
