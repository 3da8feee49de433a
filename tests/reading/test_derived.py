"""The sentences of ``rlopt check``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlopt.reading.derived import derived

Load = Callable[..., Any]


def test_everything_that_follows(bases: dict[str, str], load: Load) -> None:
    text = (
        bases["grpo"]
        .replace("version: 1", "version: 1\nextends: [grpo]")
        .replace(
            "steps: 100",
            "epochs: 2\n  dataset_samples: 1000\n  pass_rate: 0.2\n  trials: 3",
        )
        .replace("name: small", "name: small\n  filter: {drop: 0.25}")
        .replace("update_precision: bf16", "informative_groups: 0.9\n  group_size: {value: 4, because: easy}")
        .replace("group_size: [8]", "group_size: [8, 16]")
    )
    assert derived(load(text)) == [
        "job small: grpo, all weights trained, with adamw; "
        "models: policy Qwen/Qwen2.5-0.5B, reference policy, reward rule",
        "steps: 32 (ceil(2 epochs × 1000 samples / 64 per step))",
        "3 full runs are billed; hours are those of one",
        "512 samples a step at K = 8, 384 per policy update",
        "1024 samples a step at K = 16, 768 per policy update",
        "K >= 11 by floors.informative_groups: 1 - p^K - (1-p)^K >= 0.9 at p = 0.2",
        "data set: 390.6 KiB before compression",
        "extends, in this order: base, grpo",
        "floors from preset base: checkpoints.keep_best 1, checkpoints.keep_recent 2, "
        "checkpoints.recovery_time 30min, free_storage 0.1, update_precision bf16",
        "floors from preset grpo: checkpoints.history_every 100, max_staleness 1, on_demand_share 0.25, "
        "samples_per_update 512, text_log_rate 0.01",
        "loosened or explained: floors.group_size: 4 instead of 8 (preset grpo): easy",
        "job.models.reference is not given: policy, a frozen copy that is kept and scored",
        "choices.precision is not given: rollout bf16 or fp8, scoring and training bf16",
        "limits.max_gpus is not set: the number of GPUs is bounded by offers and quotas alone",
        "costs.engineer_hour is not given: people are not on the bill",
        "kept after the run: checkpoints 30d, logs 30d, data set 30d",
    ]


def test_a_convergence_table_and_an_unreachable_floor(bases: dict[str, str], load: Load) -> None:
    text = (
        bases["grpo"]
        .replace("steps: 100", "convergence: {8: 700, 16: 600}")
        .replace("group_size: [8]", "group_size: [4, 8]")
        .replace("update_precision: bf16", "group_size: 16")
    )
    found = derived(load(text))
    assert "steps by group size: 8: 700" in found
    assert "group sizes without an entry in job.convergence are excluded: 4" in found
    assert "no group size in choices reaches the floor of 16: the request cannot be met as it stands" in found


def test_robots_and_images(bases: dict[str, str], load: Load) -> None:
    text = bases["vla"].replace("{policy: some/vla}", "{policy: some/vla, value: some/value}")
    found = derived(load(text))
    assert "256 image tokens per observation (1 × 256)" in found
    assert "one inference every 1s of robot time (50 actions)" in found
    assert "job.value_stride is not given: one score per inference (1 s)" in found
    assert not any(line.startswith("data set") for line in found)


def test_no_floors_and_no_deadline(bases: dict[str, str], load: Load) -> None:
    found = derived(load(bases["sft"]))
    assert "no floors are set: extends: [...] brings those of a preset" in found
    assert "no deadline is set: the cheapest plan may take long" in found
    assert "64 sequences a step, 64 per policy update" in found
