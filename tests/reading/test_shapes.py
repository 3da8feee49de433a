"""Inline shapes against the sizes that they state."""

from __future__ import annotations

from typing import Any

import pytest

from rlopt.reading.model_facts import inline_model, shape_warnings
from rlopt.request import InlineModel

SHAPE: dict[str, Any] = {
    "layers": 34, "hidden": 2560, "heads": 8, "kv_heads": 4, "head_dim": 256, "ffn": 10240, "vocab": 262144,
    "tie_embeddings": True,
}  # fmt: skip
"""Gemma 3 4B's language model: 3.88 billion weights."""


@pytest.mark.parametrize(
    ("sizes", "warned"),
    [
        ({}, False),
        ({"params": 3.88e9}, False),
        ({"params": 4.74e9, "vlm_params": 3.88e9, "action_params": 0.86e9}, False),
        ({"params": 4.74e9}, True),
        ({"params": 3.0e9, "action_params": 0.86e9}, True),
    ],
)
def test_an_action_expert_stands_beside_the_shape(sizes: dict[str, float], warned: bool) -> None:
    model = inline_model(InlineModel.model_validate({**SHAPE, **sizes}))
    assert len(shape_warnings({"policy": model})) == warned
