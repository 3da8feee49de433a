"""Several updates a step: steps, saves and batches in each launcher's own unit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlopt import api

UPDATES = 4


@pytest.mark.parametrize(
    ("launcher", "batch", "steps", "saves"),
    [
        ("verl", "data.train_batch_size", "trainer.total_training_steps", "trainer.save_freq"),
        ("trl", None, "max_steps", "save_steps"),
        ("nemo-rl", "policy.train_global_batch_size", "sft.max_num_steps", "checkpointing.save_period"),
        ("openrlhf", "train.batch_size", None, "ckpt.save_steps"),
    ],
)
def test_a_step_of_offline_training_is_an_update(
    root: Path, launcher: str, batch: str | None, steps: str | None, saves: str
) -> None:
    def exported(updates: int) -> dict[str, int]:
        request = api.load(root / "examples/sft-lora.yaml", (f"job.updates_per_step={updates}",))
        text = "\n".join(api.export(request, launcher).files.values())
        found = {
            key: re.search(rf"(?<![\w.]){re.escape(key)}[ =:]+(\d+)", text) for key in (batch, steps, saves) if key
        }
        assert all(found.values()), (launcher, found)
        return {key: int(match[1]) for key, match in found.items() if match}

    one, four = exported(1), exported(UPDATES)
    assert four[saves] == UPDATES * one[saves]
    if steps:
        assert four[steps] == UPDATES * one[steps]
    if batch:
        assert four[batch] * UPDATES == one[batch]
