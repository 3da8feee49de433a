"""Reasons and warnings as a reader meets them."""

from __future__ import annotations

import pytest

from rlopt.reports import words
from rlopt.reports.reasons import LEFT_OUT, left_out, said_once


def test_a_key_is_read_as_a_reason() -> None:
    assert left_out("choices.gpus", 1912) == "1,912: offers of other GPUs (choices.gpus)"
    assert left_out("bounded by a known plan", 3) == "3: plans that cannot beat one already found"
    assert left_out("limits.quotas[0]", 7) == "7: plans with more GPUs than a quota allows (limits.quotas[0])"
    assert left_out("choices.colour", 7) == "7: plans outside choices.colour"
    assert left_out("no failure rate is known", 2) == "2: no failure rate is known"
    assert all("." not in reason for reason in LEFT_OUT.values())


def test_the_same_warning_is_said_once() -> None:
    texts = [f"a/{n}: price of low confidence" for n in range(5)] + ["x/1: old", "x/2: old", "note: kept", "note: kept"]
    assert said_once(texts) == [
        "price of low confidence: a/0 and 4 more, each named in the plan's JSON",
        "old: x/1 and x/2",
        "note: kept",
    ]


@pytest.mark.parametrize(
    ("before", "after", "unit", "text"),
    [
        (12.0, 2344.31, "h", "2,345 h"),
        (2000.0, 17213.4512, "USD", "$17,213.46"),
        (0.9, 0.61239, "share", "61%"),
        (8, 32, "GPUs", "32 GPUs"),
        ("L4", "any", "", "any"),
        (2.0, 1.0, "rank", "fp8"),
    ],
)
def test_a_limit_moves_far_enough_as_written(before: object, after: object, unit: str, text: str) -> None:
    assert words.reached(before, after, unit) == text
