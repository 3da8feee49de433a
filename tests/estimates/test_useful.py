"""Useful FLOPs against the passes that seconds are counted with, and gradient traffic by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates import Training
from rlopt.estimates.training.gradients import gradient_bytes
from rlopt.estimates.training.passes import Passes
from rlopt.estimates.training.useful import forward_flops, update_flops
from tests.estimates.parts import FULL, hardware, layout, shape

DENSE, EXPERTS = "Qwen2.5-7B", "Qwen3-30B-A3B"
LORA = Training("lora", lora_rank=16)
FROZEN = (
    Training("frozen-part", trainable_share=0.3, gemm_share=0.0, head_share=1.0, backward=False),
    Training("frozen-part", trainable_share=0.9, gemm_share=0.8, head_share=0.0),
)


@pytest.mark.parametrize("training", [FULL, LORA, *FROZEN])
@pytest.mark.parametrize("name", [DENSE, EXPERTS])
def test_useful_work_is_that_of_a_layout_that_recomputes_nothing(name: str, training: Training) -> None:
    model, passes = shape(name), Passes.of(training, layout(recompute=0))
    body = 2.0 * (model.dense_active + model.experts_active) * float(np.ravel(passes.gemm)[0])
    head = 2.0 * model.head * float(np.ravel(passes.head)[0])
    assert update_flops(model, training) == pytest.approx(body + head)


def test_a_full_update_is_six_and_adapters_are_four() -> None:
    model = shape(DENSE)
    assert update_flops(model, FULL) == pytest.approx(6.0 * model.active)
    assert update_flops(model, LORA) == pytest.approx(4.0 * model.active)
    assert forward_flops(model) == pytest.approx(2.0 * model.active)


def _gb(count: float = 1.0, training: Training = FULL, gpus: int = 8, **degrees: int) -> tuple[float, float]:
    sent, leaving = gradient_bytes(shape(DENSE), training, hardware(gpus=gpus), layout(**degrees), np.array([count]))
    return float(sent[0]) / 1e9, float(leaving[0]) / 1e9


def test_a_ring_on_one_node_by_hand() -> None:
    weights = 7615616512.0
    scattered = 8 * 2 * weights * 7 / 8 / 1e9
    assert _gb(dp=8, sharding=1) == (pytest.approx(scattered), 0.0)
    assert _gb(dp=8, sharding=0) == (pytest.approx(2 * scattered), 0.0)
    assert _gb(4.0, dp=8, sharding=1)[0] == pytest.approx(scattered)
    assert _gb(4.0, dp=8, sharding=3)[0] == pytest.approx(4 * scattered)
    assert _gb(dp=1, sharding=0) == (0.0, 0.0)


def test_one_of_a_node_sends_to_the_next() -> None:
    """16 ranks on two nodes: each GPU sends 15/16 of 2 bytes a weight, and one GPU in eight across."""
    sent, leaving = _gb(dp=16, sharding=1)
    each = 2 * 7615616512.0 * 15 / 16 / 1e9
    assert sent == pytest.approx(8 * each)
    assert leaving == pytest.approx(each)
    # tensor parallel over the node: eight rings of two ranks, all of which cross
    sent, leaving = _gb(tp=8, dp=2, sharding=1)
    assert leaving == pytest.approx(sent)


def test_adapters_alone_are_sent() -> None:
    model = shape(DENSE)
    sent, _ = _gb(training=LORA, dp=8, sharding=0)
    assert sent == pytest.approx(8 * 4 * float(model.lora_params(16)) * 7 / 8 / 1e9)
