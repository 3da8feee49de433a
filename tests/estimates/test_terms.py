"""Single terms by hand: what each adds, in exact seconds or GiB."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates import Training, forward_parts, generation_seconds, optimizer_seconds, update_parts
from rlopt.estimates.activations import activation_gib, layer_gib
from rlopt.estimates.communication import expert_parallel_s
from rlopt.estimates.compute import stage_compute_s
from rlopt.estimates.decode import decode_step, prefill_seconds
from rlopt.estimates.states import training_states
from rlopt.estimates.update import _gather_s
from rlopt.units import GIB
from tests.estimates.parts import FULL, calibration, hardware, layout, shape, tokens

CAL = calibration()
H100 = hardware()
NVLINK, NIC, HBM = 0.78 * 450e9, 0.70 * 50e9, H100.hbm_gb_s[0] * 1e9
MEGATRON = np.zeros(1, dtype=np.int64)


def test_a_scoring_pass_of_a_dense_model_is_the_sum_of_its_terms() -> None:
    qwen, count = shape("Qwen3-8B"), 2048.0
    gemm = 0.72 * 989e12 * 4096 / (4096 + 330) * count / (count + 250)
    attention = 0.51 * 989e12 * count / (count + 450)
    layers = 36 * (2 * qwen.dense / 36 / gemm + 4 * count / 2 * 32 * 128 / attention + 98 / 3 * 4096 / (0.8 * HBM))
    head = 2 * 151936 * 4096 / gemm + 14 / 3 * 151936 / (0.8 * HBM)
    found = stage_compute_s(qwen, None, H100, layout(), tokens(), np.array([count]), "bf16", MEGATRON, CAL)
    assert found[0] == pytest.approx(count * (layers + head))


def test_memory_traffic_runs_back_and_forth_whatever_is_frozen() -> None:
    def traffic(training: Training | None, recompute: int = 0) -> float:
        slow = replace(H100, hbm_gb_s=H100.hbm_gb_s / 2)
        args = (layout(recompute=recompute), tokens(), np.array([2048.0]), "bf16", MEGATRON, CAL)
        seconds = [stage_compute_s(shape("Qwen3-8B"), training, machine, *args)[0] for machine in (H100, slow)]
        head = {None: 1.0, "full": 3.0, "lora": 2.0}[training.kind if training else None]
        logits = 2048 * 14 / 3 * 151936 * head / (0.8 * HBM)
        return float((seconds[1] - seconds[0] - logits) / (2048 * 36 * 98 / 3 * 4096 / (0.8 * HBM)))

    assert traffic(None) == pytest.approx(1.0)
    assert traffic(FULL) == pytest.approx(3.0)
    assert traffic(Training("lora", 8)) == pytest.approx(3.0)
    assert traffic(FULL, 2) == pytest.approx(4.0)


def test_experts_saturate_with_the_tokens_their_group_brings() -> None:
    """Tokens per local expert: those of etp · ep ranks, spread over the experts that ep leaves."""

    def seconds(**degrees: int) -> float:
        args = (tokens(), np.array([4096.0]), "bf16", MEGATRON, CAL)
        return float(stage_compute_s(shape("Qwen3-30B-A3B"), None, H100, layout(**degrees), *args)[0])

    moe = shape("Qwen3-30B-A3B")

    def grouped(ep: int) -> float:
        per_expert = 4096 * ep * 8 / 128
        rate = 0.72 * 989e12 * 0.96 * per_expert / (per_expert + 1210) * 768 / (768 + 330)
        return 4096 * 2 * moe.experts_active / rate

    copies = 4096 * 8 * 2048 * 2 / NVLINK
    dispatch = 48 * 2 * (0.42 * 7 / 8 * copies + 4.8e-5)
    assert seconds(dp=8) - seconds(dp=8, ep=8) == pytest.approx(grouped(1) - grouped(8) - dispatch)
    split = 4096 * 2 * moe.experts_active / (0.72 * 989e12 * 0.96)
    per_expert = 4096 / 2 * 2 * 8 / 128
    inner = split / 2 / (per_expert / (per_expert + 1210)) / (384 / (384 + 330))
    plain = split / 2 / ((per_expert / 2) / (per_expert / 2 + 1210)) / (768 / (768 + 330))
    assert seconds(tp=2, etp=1) - seconds(tp=2, etp=2) == pytest.approx(plain - inner)


def test_a_token_sends_no_more_copies_than_it_visits_experts() -> None:
    found = expert_parallel_s(H100, layout(ep=64), 1024, 2, np.array([1000.0]), 1.0, CAL)[0]
    copies, leaving = 63 / 64 * 1000 * 2 * 2048 / NVLINK, 2 * 7 / 8 * 1000 * 2048 / NIC
    assert found == pytest.approx(0.42 * (copies + leaving) + 4.8e-5)


@pytest.mark.parametrize(("sharding", "per_param"), [(3, 2 * 2 + 2), (2, 2), (1, 0)])
def test_full_sharding_gathers_twice_and_scatters_once_a_micro_batch(sharding: int, per_param: float) -> None:
    params = shape("Qwen3-8B").dense + shape("Qwen3-8B").tables
    found = _gather_s(shape("Qwen3-8B"), FULL, H100, layout(dp=8, sharding=sharding), CAL)[0]
    assert found == pytest.approx(per_param * params * 7 / 8 / NVLINK)
    scoring = _gather_s(shape("Qwen3-8B"), None, H100, layout(dp=8, sharding=sharding), CAL)[0]
    assert scoring == pytest.approx((2 if sharding == 3 else 0) * params * 7 / 8 / NVLINK)


def test_gradients_are_reduced_once_an_update_and_half_of_it_shows() -> None:
    params = shape("Qwen3-8B").dense + shape("Qwen3-8B").tables
    found = optimizer_seconds(shape("Qwen3-8B"), FULL, H100, layout(dp=8, sharding=1), CAL)[0]
    adam = 30 * params / 8 / (0.8 * HBM)
    assert found == pytest.approx(0.51 * 4 * params * 7 / 8 / NVLINK + adam)


def test_one_gpu_needs_no_communicator_and_sharded_adapters_little() -> None:
    scored = forward_parts(shape("Qwen3-8B"), None, layout(dp=[1, 2]), tokens(), "bf16", CAL)
    assert scored.buffers[1] - scored.buffers[0] == pytest.approx(0.8)
    lora = training_states(shape("Qwen3-8B"), Training("lora", 8), layout(dp=4, sharding=[1, 2]), CAL)
    assert lora.gradients[0] == pytest.approx(4 * lora.gradients[1])


def test_gathered_experts_are_those_of_their_expert_parallel_share() -> None:
    moe = shape("Qwen3-30B-A3B")
    rows = layout(dp=8, ep=[1, 8], sharding=3)
    found = forward_parts(moe, None, rows, tokens(), "bf16", CAL)
    less = 2 * 2 * moe.layer_experts * 7 / 8 / GIB  # two layers of 2-byte weights
    body = found.weights + found.activations + found.logits
    gathered = (found.buffers - 0.8 - 0.06 * body) / 1.06
    assert gathered[0] - gathered[1] == pytest.approx(less)


def test_the_peak_is_the_first_stage_or_the_last_with_its_logits() -> None:
    long = activation_gib(shape("Qwen3-8B"), FULL, layout(pp=4), tokens(), MEGATRON, CAL, False)
    layer = layer_gib(shape("Qwen3-8B"), layout(), np.array([2048.0]), MEGATRON, CAL)[0]
    assert long[0][0] == pytest.approx(9 * 4 * layer)  # four micro-batches of nine layers
    assert long[1][0] == 0.0
    short = activation_gib(shape("Qwen3-8B"), FULL, layout(pp=2, recompute=2), tokens(), MEGATRON, CAL, False)
    assert short[0][0] == pytest.approx(18 * 2048 * 2 * 4096 / GIB + 0.69 * layer)
    assert short[1][0] == pytest.approx(6.8 * 2048 * 151936 / GIB)


def test_a_decode_step_reads_layers_and_head_and_launches_its_kernels() -> None:
    llama = shape("Meta-Llama-3.1-8B")
    step = decode_step(llama, H100, np.array([1]), "bf16", CAL)
    read = 2 * (llama.dense + 128256 * 4096) / (HBM * 0.662 / 0.969)
    assert step.fixed[0] == pytest.approx(read + 3.26e-4 + 32 * 3.80e-5)
    compute = 2 * (llama.dense + 128256 * 4096) / (989e12 * 0.438 / 0.969)
    assert step.slope[0] == pytest.approx(compute + 48 * 32 * 4096 / (HBM * 0.92) + 2.31e-5)
    assert step.cache[0] == pytest.approx(131072 / (HBM * 0.92))  # the engine's factor passes the cap


def test_dispatched_tokens_are_those_of_one_attention_group() -> None:
    deepseek = shape("DeepSeek-V3")
    narrow, wide = (decode_step(deepseek, H100, np.array([1]), "bf16", CAL, ep=ep).slope[0] for ep in (8, 16))
    link = min(450e9 * 0.795 * 0.2, 8 * NIC)
    inside, across = (58 * 3.69 * 8 * 7168 * 3 / ep / rate for ep, rate in ((8, 450e9 * 0.795), (16, link)))
    rest = 2.31e-5
    assert wide - across - rest == pytest.approx((narrow - inside - rest) / 2)


def test_samples_of_one_prompt_share_its_reading() -> None:
    def seconds(group: int) -> float:
        one = np.array([1])
        found = generation_seconds(
            shape("Qwen3-8B"), H100, one, "bf16", np.array([60.0]), (1000.0, 1000.0), (100.0, 100.0),
            np.array([16.0]), 16.0, group, True, CAL,
        )  # fmt: skip
        return float(found.seconds[0])

    reading = prefill_seconds(shape("Qwen3-8B"), H100, np.array([1]), "bf16", 1000.0, CAL)[0]
    assert seconds(1) - seconds(4) == pytest.approx(1.02 * 12 * reading)
    assert seconds(8) == seconds(16)  # sharing ends at eight


def test_reading_a_prompt_attends_causally_at_half_the_rate() -> None:
    qwen = shape("Qwen3-8B")
    rate = 989e12 * 0.438 / 0.945
    found = prefill_seconds(qwen, H100, np.array([1]), "bf16", 1000.0, CAL)[0]
    attention = 4 * 36 * 1000 / 2 * 32 * 128 * 1000 / 0.5
    traffic = 48 * 36 * 4096 * 1000 / HBM
    assert found == pytest.approx((2 * qwen.dense * 1000 + attention) / rate + traffic)


def test_the_optimizer_step_of_a_rank_covers_its_own_share() -> None:
    found = update_parts(shape("Qwen3-8B"), FULL, None, layout(dp=4, sharding=1), tokens(16.0), "bf16", CAL)
    body = found.weights + found.gradients + found.optimizer
    step = (found.buffers - 0.8 - 0.06 * body) / 1.06
    assert step[0] * GIB == pytest.approx(4 * shape("Qwen3-8B").params / 4)
