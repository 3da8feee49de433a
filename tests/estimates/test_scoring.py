"""Frozen models on a pool of their own."""

from __future__ import annotations

import numpy as np
import pytest

from rlopt.estimates.training.scoring import scoring_layout
from rlopt.units import GIB
from tests.estimates.flat import forward_seconds, scoring_memory
from tests.estimates.parts import calibration, hardware, shape, tokens

CAL = calibration()
TEACHER = "Qwen3-32B"


def test_weights_are_split_over_tp_and_repeated_over_replicas() -> None:
    at = scoring_layout(np.array([1, 2, 8, 2]), np.array([1, 1, 1, 4]))
    assert at.gpus.tolist() == [1, 2, 8, 8]
    held = scoring_memory(shape(TEACHER), at, tokens(), "bf16", CAL)
    whole = 2 * shape(TEACHER).params / GIB
    assert held.weights == pytest.approx([whole, whole / 2, whole / 8, whole / 2])
    assert not np.any([held.gradients, held.optimizer, held.kv_cache])


@pytest.mark.parametrize("precision", ["fp8", "int8"])
def test_eight_bits_halve_the_weights(precision: str) -> None:
    at = scoring_layout(np.array([2]), np.array([1]))
    sixteen, eight = (scoring_memory(shape(TEACHER), at, tokens(), name, CAL).weights for name in ("bf16", precision))
    share = CAL.size_bytes(precision) / CAL.size_bytes("bf16")
    assert eight == pytest.approx(sixteen * share)
    assert 0.5 <= share < 0.56


def test_fp8_is_faster_and_weight_only_is_not() -> None:
    at = scoring_layout(np.array([2]), np.array([4]), micro_batch=4)

    def seconds(precision: str) -> float:
        return float(forward_seconds(shape(TEACHER), hardware(), at, tokens(), precision, 256.0, CAL)[0])

    assert seconds("fp8") < seconds("bf16")
    assert seconds("int8") == pytest.approx(seconds("bf16"))
    least = 2 * shape(TEACHER).active * 2048 * 256 / (8 * 989e12)
    assert seconds("bf16") > least


def test_replicas_share_the_sequences() -> None:
    card = hardware(rows=3)
    at = scoring_layout(np.full(3, 2), np.array([1, 2, 4]), micro_batch=2)
    one, two, four = forward_seconds(shape(TEACHER), card, at, tokens(), "bf16", 256.0, CAL)
    assert two == pytest.approx(one / 2)
    assert four == pytest.approx(one / 4)


def test_experts_are_spread_or_split() -> None:
    at = scoring_layout(np.array([8, 1]), np.array([1, 8]), ep=np.array([1, 8]))
    assert (at.etp.tolist(), at.ep.tolist()) == ([8, 1], [1, 8])
    moe = shape("Qwen3-235B-A22B")
    held = scoring_memory(moe, at, tokens(), "fp8", CAL).weights
    experts = moe.experts_total * CAL.size_bytes("fp8") / GIB / 8
    assert (held > experts).all()
    assert held[1] > held[0]  # each rank holds all of attention
