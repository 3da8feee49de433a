"""Single terms of training time by hand: what each adds, in exact seconds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlopt.estimates import Layout, ModelShape, Stack, Training
from rlopt.estimates.communication import expert_parallel_s
from rlopt.estimates.training.compute import attention_s, gemm_ceiling, gemm_rate
from rlopt.estimates.training.experts import experts_s
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.update import _gather_s
from tests.estimates.flat import micro_batch_seconds, optimizer_seconds, stage_compute_s, update_seconds, worker
from tests.estimates.parts import FULL, hardware, layout, shape, tokens
from tests.estimates.training_constants import constants

CAL = constants()
H100 = hardware()
NVLINK, NIC, HBM = 0.78 * 450e9, 0.70 * 50e9, H100.hbm_gb_s[0] * 1e9
MEGATRON = np.zeros(1, dtype=np.int64)
STACK = Stack(MEGATRON)


def test_a_scoring_pass_of_a_dense_model_is_the_sum_of_its_terms() -> None:
    qwen, count = shape("Qwen3-8B"), 2048.0
    gemm = 0.72 * 989e12 * 4096 / (4096 + 330) * count / (count + 250)
    attention = 0.51 * 989e12 * count / (count + 450)
    layers = 36 * (2 * qwen.dense / 36 / gemm + 4 * count / 2 * 32 * 128 / attention + 98 / 3 * 4096 / (0.8 * HBM))
    head = 2 * 151936 * 4096 / gemm + 14 / 3 * 151936 / (0.8 * HBM)
    found = stage_compute_s(qwen, None, H100, layout(), tokens(), np.array([count]), "bf16", STACK, CAL)
    assert found[0] == pytest.approx(count * (layers + head))


def test_memory_traffic_runs_back_and_forth_whatever_is_frozen() -> None:
    def traffic(training: Training | None, recompute: int = 0) -> float:
        slow = replace(H100, hbm_gb_s=H100.hbm_gb_s / 2)
        args = (layout(recompute=recompute), tokens(), np.array([2048.0]), "bf16", STACK, CAL)
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
        args = (tokens(), np.array([4096.0]), "bf16", STACK, CAL)
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
    assert found == pytest.approx(0.42 * copies + 0.84 * leaving + 4.8e-5)


@pytest.mark.parametrize(("sharding", "per_param"), [(3, 2 * 2 + 2), (2, 2), (1, 0)])
def test_full_sharding_gathers_twice_and_scatters_once_a_micro_batch(sharding: int, per_param: float) -> None:
    params = shape("Qwen3-8B").dense + shape("Qwen3-8B").tables
    found = _gather_s(worker(shape("Qwen3-8B"), FULL, layout(dp=8, sharding=sharding), "bf16", CAL), H100)[0]
    assert found == pytest.approx(per_param * params * 7 / 8 / NVLINK)
    scoring = _gather_s(worker(shape("Qwen3-8B"), None, layout(dp=8, sharding=sharding), "bf16", CAL), H100)[0]
    assert scoring == pytest.approx((2 if sharding == 3 else 0) * params * 7 / 8 / NVLINK)


def test_gradients_are_reduced_once_an_update_and_half_of_it_shows() -> None:
    params = shape("Qwen3-8B").dense + shape("Qwen3-8B").tables
    found = optimizer_seconds(shape("Qwen3-8B"), FULL, H100, layout(dp=8, sharding=1), CAL)[0]
    adam = 30 * params / 8 / (0.8 * HBM)
    assert found == pytest.approx(0.51 * 4 * params * 7 / 8 / NVLINK + adam)


def test_unfused_attention_moves_its_scores_and_computes_all_pairs() -> None:
    qwen, local = shape("Qwen3-8B"), np.array([512.0])
    fused, plain = (
        attention_s(qwen, H100, tokens(), local, Stack(MEGATRON, fused_attention=f), CAL)[0] for f in (True, False)
    )
    assert plain == pytest.approx(2 * fused + 512 * 10 * 32 * 2048 / (0.8 * HBM))


def test_kernels_skip_what_a_window_leaves_out() -> None:
    gemma, local = shape("Gemma-3-27b-it"), np.array([1024.0])
    none, all_ = (
        attention_s(gemma, H100, tokens(8192.0), local, STACK, CAL.replaced({("training", "window_skipped"): w}))[0]
        for w in (0.0, 1.0)
    )
    full = gemma.attention_layers + gemma.window_layers
    attended = gemma.attention_layers * 4096 + gemma.window_layers * min(4096, gemma.window)
    assert all_ / none == pytest.approx(attended / (full * 4096))


def test_a_width_that_leaves_a_remainder_runs_slower() -> None:
    ceiling, count = gemm_ceiling(H100, "bf16", CAL), np.array([4096.0])
    even, ragged = (gemm_rate(ceiling, np.array([w]), 1, count, CAL)[0] for w in (1792.0, 1800.0))
    assert ragged / even == pytest.approx(0.8 * (1800 / 2130) / (1792 / 2122))


def test_a_split_matrix_keeps_one_whole_side() -> None:
    ceiling, count = gemm_ceiling(H100, "bf16", CAL), np.array([4096.0])
    assert gemm_rate(ceiling, 8192, 4, count, CAL) == gemm_rate(ceiling, 4096, 1, count, CAL)


def test_fp4_counts_for_no_more_than_twice_fp8() -> None:
    gb300, gb200 = (gemm_ceiling(hardware(name, 4, "nvl72"), "fp4", CAL)[0] for name in ("GB300", "GB200"))
    assert gb300 == gb200  # nameplates 15 and 10 PFLOP/s


def test_rows_of_many_precisions_are_those_of_each() -> None:
    names = np.array(["bf16", "fp8", "bf16"])
    rates, later = gemm_ceiling(hardware(rows=3), names, CAL)
    for row, name in enumerate(names):
        rate, one = gemm_ceiling(H100, str(name), CAL)
        assert (rates[row], np.asarray(later)[row]) == (rate[0], one)


def test_adapters_move_their_inputs_and_the_host_launches_them() -> None:
    def seconds(**changed: float) -> float:
        cal = CAL.replaced({("training", key): value for key, value in changed.items()})
        lora = Training("lora", 8)
        return float(
            micro_batch_seconds(shape("Qwen3-8B"), lora, H100, layout(), tokens(), np.array([2048.0]), "bf16", cal)[0]
        )

    moved = 2048 * 36 * 3.0 / 3.0 * 3.0 * shape("Qwen3-8B").activation_units / (0.8 * HBM)
    assert seconds(adapter_bytes=3.0) - seconds() == pytest.approx(moved, rel=1e-3)
    assert seconds(adapter_launches=3.0) > seconds()


def test_a_linear_layer_scans_where_others_attend() -> None:
    qwen = shape("Qwen3-8B")
    scanning = replace(qwen, attention_layers=qwen.layers / 4)
    args = (None, H100, layout(), tokens(), np.array([2048.0]), "bf16", STACK)
    slow, fast = (
        stage_compute_s(scanning, *args, CAL.replaced({("training", "state_space_bytes"): b}))[0] for b in (540.0, 0.0)
    )
    assert slow - fast == pytest.approx(2048 * 27 * 540 / 3 * 4096 / (0.8 * HBM))


def test_weights_kept_by_the_host_are_copied_for_each_pass() -> None:
    offloaded = Stack(np.array([CAL.engine("deepspeed-offload")]))
    rows = layout(dp=4, sharding=3)

    def seconds(passes: float) -> float:
        cal = CAL.replaced({("training", "streamed_passes", "deepspeed-offload"): passes,
                            ("training", "host_s", "hf"): 0.0})  # fmt: skip
        args = (H100, rows, tokens(), np.array([2048.0]), "bf16", cal)
        return float(micro_batch_seconds(shape("Qwen3-8B"), FULL, *args, stack=offloaded)[0])

    params = shape("Qwen3-8B").dense + shape("Qwen3-8B").tables
    assert seconds(3.0) - seconds(1.0) == pytest.approx(2 * 2 * params / 4 / (0.8 * 63e9))


def test_launches_of_experts_hide_until_they_take_as_long_as_the_device() -> None:
    def seconds(host: float) -> float:
        cal = CAL.replaced({("training", "moe_host_s", name): host for name in CAL.training["moe_host_s"]})
        rows = np.array([4096.0])
        return float(micro_batch_seconds(shape("Qwen3-30B-A3B"), FULL, H100, layout(), tokens(), rows, "bf16", cal)[0])

    assert seconds(1e-5) == pytest.approx(seconds(0.0), rel=1e-3)
    assert seconds(1.0) == pytest.approx(48 * 3 * 1.0, rel=1e-2)


def test_the_loop_around_a_step_costs_its_time_once_an_update() -> None:
    def seconds(loop: float, updates: int) -> float:
        cal = CAL.replaced({("training", "step_s", "megatron"): loop})
        return float(
            update_seconds(shape("Qwen3-8B"), FULL, H100, layout(), tokens(), "bf16", 64.0, updates, 1, cal)[0]
        )

    assert seconds(0.5, 4) - seconds(0.0, 4) == pytest.approx(2.0)


def test_dense_models_have_no_experts_in_a_stack_of_models() -> None:
    both = ModelShape.stack([shape("Qwen3-8B"), shape("Qwen3-30B-A3B")], [0, 1])
    rows, machine, count = layout(dp=[8, 8], ep=[1, 8]), hardware(rows=2), np.full(2, 4096.0)
    stack, ceiling = Stack(np.zeros(2, dtype=np.int64)), gemm_ceiling(machine, "bf16", CAL)
    passes = Passes.of(FULL, rows)
    found = experts_s(
        worker(both, FULL, rows, "bf16", CAL, stack), machine, passes, count, ceiling, 0.8 * machine.hbm_gb_s * 1e9
    )
    assert found[0] == 0.0
    assert found[1] > 0.0


def test_a_stack_of_models_takes_what_each_takes_alone() -> None:
    names, kinds = ("Qwen3-8B", "Qwen3-30B-A3B", "gpt-oss-20b"), ("full", "lora", "lora")
    both = ModelShape.stack([shape(name) for name in names], [0, 1, 2])
    ones = [layout(dp=8, sharding=3), layout(dp=4, tp=2, ep=8, recompute=2), layout(dp=8)]
    rows = Layout(*(np.concatenate([getattr(one, f) for one in ones]) for f in Layout.__slots__))
    base = np.array([2.0, 0.55, 2.0])
    ranks, optimizers = np.array([0, 16, 16]), np.array(["adamw"] * 3)
    many = Training(np.array(kinds), ranks, base, optimizers, np.ones(3), np.zeros(3, bool))
    engine, precision = np.array([1, 0, 2]), np.array(["bf16", "fp8", "bf16"])
    fused = np.array([True, True, False])
    found = update_seconds(both, many, hardware(rows=3), rows, tokens(), precision, 64.0, 1, 1, CAL,
                           stack=Stack(engine, fused_attention=fused))  # fmt: skip
    for row, name in enumerate(names):
        one = Training(kinds[row], int(ranks[row]), float(base[row]))
        stack = Stack(engine[row : row + 1], fused_attention=bool(fused[row]))
        alone = update_seconds(shape(name), one, H100, ones[row], tokens(), str(precision[row]), 64.0, 1, 1, CAL,
                               stack=stack)  # fmt: skip
        assert found[row] == pytest.approx(alone[0], rel=1e-12)
