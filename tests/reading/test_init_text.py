"""The request that ``rlopt init`` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import InputError
from rlopt.reading.init_text import init_text
from rlopt.request import ROLES


@pytest.mark.parametrize("algorithm", ROLES)
def test_it_loads_as_it_is(algorithm: str, load: Callable[..., Any]) -> None:
    text = init_text(algorithm, "Qwen/Qwen2.5-7B-Instruct")
    assert len(text.splitlines()) < 60
    assert max(map(len, text.splitlines())) <= 110
    assert text.count("#") > 15
    request = load(text)
    assert request.job.algorithm == algorithm
    assert request.job.models.policy.name == "Qwen/Qwen2.5-7B-Instruct"
    assert algorithm in request.presets
    assert request.reasons == ()


@pytest.mark.parametrize("algorithm", ROLES)
def test_a_model_that_suits_the_algorithm_stands_in(algorithm: str, load: Callable[..., Any]) -> None:
    text = init_text(algorithm)
    assert len(text.splitlines()) < 60
    assert max(map(len, text.splitlines())) <= 110
    policy = load(text).job.models.policy
    if algorithm == "vla":
        assert policy.inline.params == policy.inline.vlm_params + policy.inline.action_params
    else:
        assert policy.name == "Qwen/Qwen2.5-7B-Instruct"


@pytest.mark.parametrize(
    ("algorithm", "line"),
    [
        ("grpo", "group_size: [8, 16]"),
        ("grpo", "fallback: {share_of_steps"),
        ("sft", "remedial_share: 0.1"),
        ("dpo", "log_probs: [stored]"),
        ("rm", "versions: {count: 3"),
        ("opd", "scoring: [own]"),
        ("ppo", "text_log: {"),
        ("vla", "value_bins: [201, 255]"),
        ("vla", "offline: {samples: 500"),
        ("sft", "evaluation: {every: 20"),
        ("rm", "on_call_hours_per_day: 1"),
        *((name, "# target: {metric: ") for name in ROLES),
    ],
)
def test_the_comments_that_show_other_ways_are_right_too(algorithm: str, line: str, load: Callable[..., Any]) -> None:
    text = init_text(algorithm, "some/model")
    assert line in text
    commented = [row for row in text.splitlines() if row.strip().startswith("# ") and ":" in row and row[0] == " "]
    assert len(commented) >= 6
    for row in commented:
        load(text.replace(row, row.replace("# ", "", 1)))


@pytest.mark.parametrize("model", ["a: b", "1.5", "true", "über/modell", "a 'b' \"c\"", "- x", "#1", "models/x#y"])
def test_odd_model_names_survive(model: str, load: Callable[..., Any]) -> None:
    assert load(init_text("sft", model)).job.models.policy.name == model


@pytest.mark.parametrize(("algorithm", "model"), [("pgo", "x"), ("sft", " "), ("sft", "none"), ("sft", "a\nb")])
def test_what_cannot_be_written_is_refused(algorithm: str, model: str) -> None:
    with pytest.raises(InputError):
        init_text(algorithm, model)
