"""What no plan takes into account yet is refused by its key; the rest passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlopt.errors import NotSupportedError
from rlopt.reading.keys import field_of
from rlopt.reading.not_yet import KEYS, refuse_what_waits

Load = Callable[..., Any]
COUNTED = {
    "job.evaluation": "{every: 10, samples: 5}",
    "job.metrics": "{scalars: 60}",
    "job.text_log": "{debug_steps: 3}",
    "job.cache": "{replay: 1 GiB}",
    "job.data.versions": "{count: 2}",
    "job.data.shared_by": "2",
    "job.data.stands_in": "{provider: aws, region: us-east-1}",
    "limits.budget.storage": "5 USD",
    "floors.data_precision": "jpeg90",
    "costs.keep_for.full_text": "1h",
    "costs.idle": "{volumes: 1h}",
}
"""Keys that were on the list once."""


def test_a_key_that_waits_is_refused_by_name(bases: dict[str, str], load: Load, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("id\n", encoding="utf-8")
    key = "choices.offers"
    with pytest.raises(NotSupportedError) as caught:
        refuse_what_waits(load(bases["grpo"], f"{key}={tmp_path / 'prices.csv'}"))
    assert key in KEYS
    assert caught.value.key == key


def test_every_key_that_waits_exists_and_a_plain_request_passes(bases: dict[str, str], load: Load) -> None:
    assert [key for key in KEYS if field_of(key) is None] == []
    for base in ("grpo", "sft"):
        refuse_what_waits(load(bases[base]))


@pytest.mark.parametrize("key", COUNTED)
def test_what_plans_count_by_now_passes(key: str, bases: dict[str, str], load: Load) -> None:
    refuse_what_waits(load(bases["grpo"], f"{key}={COUNTED[key]}"))
