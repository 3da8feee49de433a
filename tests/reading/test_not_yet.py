"""What no plan takes into account yet is refused by its key; the rest passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlopt.errors import NotSupportedError
from rlopt.reading.keys import field_of
from rlopt.reading.not_yet import KEYS, refuse_what_waits

Load = Callable[..., Any]
CHANGES = {
    "job.evaluation": "{every: 10, samples: 5}",
    "job.metrics": "{scalars: 60}",
    "job.text_log": "{debug_steps: 3}",
    "job.cache": "{replay: 1 GiB}",
    "job.remedial_share": "0.1",
    "job.fallback": "{share_of_steps: 0.1}",
    "job.data.label_price": "1 USD",
    "job.data.clean_price": "1 USD",
    "job.data.compression_ratio": "0.5",
    "job.data.duplicate_share": "0.5",
    "job.data.precision": "bf16",
    "job.data.versions": "{count: 2}",
    "job.data.shared_by": "2",
    "job.data.stands_in": "{provider: aws, region: us-east-1}",
    "choices.log_probs": "[stored]",
    "choices.scoring": "[shared]",
    "choices.mixed_pools": "false",
    "floors.value_bins": "201",
    "floors.replay_buffer": "10",
    "floors.simulator_bandwidth": "1 Gbps",
    "costs.keep_for.full_text": "1h",
    "costs.idle": "{volumes: 1h}",
}


@pytest.mark.parametrize("key", [key for key in KEYS if key in CHANGES])
def test_a_key_that_waits_is_refused_by_name(key: str, bases: dict[str, str], load: Load) -> None:
    base = "sft" if key == "job.remedial_share" else "grpo"
    with pytest.raises(NotSupportedError) as caught:
        refuse_what_waits(load(bases[base], f"{key}={CHANGES[key]}"))
    assert caught.value.key == key


def test_every_key_that_waits_exists_and_a_plain_request_passes(bases: dict[str, str], load: Load) -> None:
    assert [key for key in KEYS if field_of(key) is None] == []
    for base in ("grpo", "sft"):
        refuse_what_waits(load(bases[base]))


def test_budgets_by_dimension_wait(bases: dict[str, str], load: Load) -> None:
    with pytest.raises(NotSupportedError, match=r"limits\.budget\.storage"):
        refuse_what_waits(load(bases["grpo"], "limits.budget.storage=5 USD"))
